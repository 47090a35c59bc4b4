import { describe, expect, test } from 'vitest'
import type { Item } from '../../../src/core/item.ts'
import { readGatewayFields } from '../../../src/core/items/gateway-fields.ts'
import { mergeMessagesOfOneAuthor } from '../../../src/context/speakers/merge-messages-of-one-author.ts'
import { show, talk } from '../../support/talk.ts'
import { ANN, authorField, withGatewayFields } from '../../support/authors.ts'

const BURST = talk`
  user: one
  user: two
  user: three
`
const merge = (items: readonly Item[]): string => show(mergeMessagesOfOneAuthor().run(items).items)

describe('consecutive messages of one author (C67)', () => {
  test('consecutive messages of one author become one message that records their ids', () => {
    const named = BURST.map((item, at) => ({ ...item, id: `msg_${at}` }))
    const step = mergeMessagesOfOneAuthor().run(
      withGatewayFields(named, { 0: ANN, 1: ANN, 2: authorField('Bob') }),
    )
    expect(show(step.items)).toBe('user: one⏎two\nuser: three')
    expect(readGatewayFields(step.items[0]!)?.['ids']).toEqual(['msg_0', 'msg_1'])
    expect(step.notes.map(({ did, at }) => `${did} ${at}`)).toEqual(['changed 0', 'dropped 1'])
  })

  test('consecutive messages without an author stay separate', () => {
    expect(mergeMessagesOfOneAuthor().run(BURST).items).toBe(BURST)
  })

  test.each([
    ['another name under one id', { 0: ANN, 1: { author: { id: 'u1', name: 'Anna' } } }],
    ['another day', { 0: { ...ANN, sent_at: 86_399 }, 1: { ...ANN, sent_at: 86_400 } }],
    ['a pin', { 0: ANN, 1: { ...ANN, pin: true } }],
    ['a reset', { 0: ANN, 1: { ...ANN, reset: true } }],
  ])('two messages of one author are not merged if the second has %s', (_, fields) => {
    const items = withGatewayFields(BURST.slice(0, 2), fields)
    expect(mergeMessagesOfOneAuthor().run(items).items).toBe(items)
  })

  test('a message with media or wire-specific fields is not merged with other messages of its author', () => {
    const [one] = withGatewayFields(BURST, { 0: ANN })
    const image: Item = {
      type: 'message',
      role: 'user',
      content: [{ type: 'input_image', image_url: 'https://x.test/a.png' }],
      native: one!.native!,
    }
    const marked: Item = { ...one!, native: { ...one!.native, chat: { $parts: [{ cache: 1 }] } } }
    const tools = talk`
      call a
      output a
    `
    const items = [one!, image, { ...one! }, marked, { ...one! }, ...tools, { ...one! }]
    expect(mergeMessagesOfOneAuthor().run(items).items).toBe(items)
  })

  test('two messages of one author are merged if they were sent on the same day', () => {
    const fields = { 0: { ...ANN, sent_at: 86_400 }, 1: { ...ANN, sent_at: 172_799 } }
    expect(merge(withGatewayFields(BURST.slice(0, 2), fields))).toBe('user: one⏎two')
  })
})
