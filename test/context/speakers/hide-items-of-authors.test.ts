import { expect, test } from 'vitest'
import type { Item } from '../../../src/core/item.ts'
import { hideItemsOfAuthors } from '../../../src/context/speakers/hide-items-of-authors.ts'
import { show, talk } from '../../support/talk.ts'
import { ANN, authorField, withGatewayFields } from '../../support/authors.ts'

const HIDDEN = 'user: [Gateway notice: What a hidden author said here is not shown.]'

test('one placeholder replaces consecutive messages of hidden authors (C70)', () => {
  const items = withGatewayFields(
    talk`
      user: one
      user: two
      user: three
      assistant: so
      user: four
    `,
    { 0: authorField('Bob'), 1: ANN, 2: authorField('Cyd'), 4: ANN },
  )
  const step = hideItemsOfAuthors(['u1', 'Cyd']).run(items)
  expect(show(step.items)).toBe(`user: one\n${HIDDEN}\nassistant: so\n${HIDDEN}`)
  expect(step.notes.map(({ did, at }) => `${did} ${at}`)).toEqual([
    'changed 1',
    'dropped 2',
    'changed 4',
  ])
})

test('if an author is hidden, the media in their messages are hidden, too', () => {
  const image: Item = {
    type: 'message',
    role: 'user',
    content: [{ type: 'input_image', image_url: 'https://x.test/secret.png' }],
  }
  const { items } = hideItemsOfAuthors(['Ann']).run(withGatewayFields([image], { 0: ANN }))
  expect(JSON.stringify(items)).not.toContain('secret')
})

test('a call of a hidden author is hidden together with its output and reasoning', () => {
  const items = withGatewayFields(
    talk`
      user: look
      sealed: a
      call a
      output a
      user: well?
    `,
    { 2: ANN },
  )
  expect(show(hideItemsOfAuthors(['u1']).run(items).items)).toBe(
    `user: look\n${HIDDEN}\nuser: well?`,
  )
})

test('a hidden author is recognized by the `name` of a chat message', () => {
  const items: readonly Item[] = [{ ...talk`user: hi`[0]!, native: { chat: { name: 'Ann' } } }]
  expect(show(hideItemsOfAuthors(['Ann']).run(items).items)).toBe(HIDDEN)
})

test('hiding authors returns the same list if no hidden author has written a message', () => {
  const items = withGatewayFields(talk`user: hi`, { 0: ANN })
  expect(hideItemsOfAuthors(['u2']).run(items).items).toBe(items)
})
