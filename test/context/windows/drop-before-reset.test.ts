import { expect, test } from 'vitest'
import { createCompactionItem } from '../../../src/core/items/compaction-item.ts'
import { dropBeforeReset } from '../../../src/context/windows/drop-before-reset.ts'
import { show, talk } from '../../support/talk.ts'
import { withGatewayFields } from '../../support/authors.ts'

const CHAT = talk`
  system: be brief
  user: one
  call a
  output a
  assistant: 1
  user: two
  assistant: 2
`

test('a reset drops all items before it except the instructions (C71)', () => {
  const step = dropBeforeReset().run(withGatewayFields(CHAT, { 5: { reset: true } }))
  expect(show(step.items)).toBe('system: be brief\nuser: two\nassistant: 2')
  expect(step.notes.map(({ did, at, why }) => `${did} ${at} ${why}`)).toEqual(
    [1, 2, 3, 4].map((at) => `dropped ${at} before-reset`),
  )
})

test('with `reset: behind` on an item, the conversation begins with the next item', () => {
  const items = [...withGatewayFields(CHAT, { 6: { reset: 'behind' } }), ...talk`user: three`]
  expect(show(dropBeforeReset().run(items).items)).toBe('system: be brief\nuser: three')
})

test('if a list has several resets, items are dropped up to the latest reset', () => {
  const items = withGatewayFields(CHAT, { 1: { reset: true }, 6: { reset: true } })
  expect(show(dropBeforeReset().run(items).items)).toBe('system: be brief\nassistant: 2')
})

test('pinned items before a reset stay, and a pinned call stays together with its output', () => {
  const items = withGatewayFields(CHAT, { 3: { pin: true }, 5: { reset: true } })
  expect(show(dropBeforeReset().run(items).items)).toBe(
    'system: be brief\ncall a\noutput a\nuser: two\nassistant: 2',
  )
})

test('a reset drops the summary of the items before it', () => {
  const items = [...talk`user: one`, createCompactionItem('cmp_1', 'So far.'), ...talk`user: two`]
  expect(show(dropBeforeReset().run(withGatewayFields(items, { 2: { reset: true } })).items)).toBe(
    'user: two',
  )
})

test('a list without a reset stays the same', () => {
  expect(dropBeforeReset().run(CHAT).items).toBe(CHAT)
})
