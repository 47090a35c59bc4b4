import fc from 'fast-check'
import { expect, test } from 'vitest'
import { hasValidItemOrder } from '../../../src/context/tool-calls/has-valid-item-order.ts'
import { messyConversation, tidyConversation } from '../../support/conversations.ts'
import { expectValidForProviders } from '../../support/laws.ts'
import { talk } from '../../support/talk.ts'

test('providers accept every list with a valid item order', () => {
  fc.assert(
    fc.property(fc.oneof(tidyConversation, messyConversation), (items) => {
      if (hasValidItemOrder(items)) expectValidForProviders(items)
    }),
    { numRuns: 1000 },
  )
})

const CALLED = talk`
  user: Go.
  call a
`
const DONE = [...CALLED, ...talk`output a`]

test.each([
  { items: [...CALLED, ...talk`call b`, ...talk`output b`, ...talk`output a`] },
  { items: [...DONE, ...talk`sealed: x`, ...talk`assistant: So.`] },
  { items: [...DONE, ...DONE] },
])(
  'a list of complete batches with their reasoning has a valid item order: $items',
  ({ items }) => {
    expect(hasValidItemOrder(items)).toBe(true)
  },
)

test.each([
  { items: CALLED },
  { items: talk`output a` },
  { items: [...DONE, ...talk`sealed: x`] },
  { items: [...CALLED, ...talk`user: On.`, ...talk`output a`] },
  { items: [...DONE, ...talk`call a`, ...talk`output a`] },
  { items: [...CALLED, ...talk`call b`, ...talk`output a`, ...talk`call c`] },
])('a list that pruning may change has no valid item order: $items', ({ items }) => {
  expect(hasValidItemOrder(items)).toBe(false)
})
