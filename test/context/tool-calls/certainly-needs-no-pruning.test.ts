import fc from 'fast-check'
import { expect, test } from 'vitest'
import { certainlyNeedsNoPruning } from '../../../src/context/tool-calls/certainly-needs-no-pruning.ts'
import { messyConversation, tidyConversation } from '../../support/conversations.ts'
import { expectValidForProviders } from '../../support/laws.ts'
import { talk } from '../../support/talk.ts'

test('providers accept every list that the quick check finds to need no pruning', () => {
  fc.assert(
    fc.property(fc.oneof(tidyConversation, messyConversation), (items) => {
      if (certainlyNeedsNoPruning(items)) expectValidForProviders(items)
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
  'the quick check finds that a list of complete batches with their reasoning needs no pruning: $items',
  ({ items }) => {
    expect(certainlyNeedsNoPruning(items)).toBe(true)
  },
)

test.each([
  { items: CALLED },
  { items: talk`output a` },
  { items: [...DONE, ...talk`sealed: x`] },
  { items: [...CALLED, ...talk`user: On.`, ...talk`output a`] },
  { items: [...DONE, ...talk`call a`, ...talk`output a`] },
  { items: [...CALLED, ...talk`call b`, ...talk`output a`, ...talk`call c`] },
])('the quick check leaves a list that may need pruning to pruning: $items', ({ items }) => {
  expect(certainlyNeedsNoPruning(items)).toBe(false)
})
