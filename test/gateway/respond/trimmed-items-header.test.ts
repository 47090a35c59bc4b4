import { expect, test } from 'vitest'
import { estimateItemTokens } from '../../../src/core/items/item-tokens.ts'
import { resolvePolicy } from '../../../src/core/context-policy.ts'
import { listTransforms, runTransforms } from '../../../src/context/list-and-run-transforms.ts'
import { formatTrimmedHeader } from '../../../src/gateway/respond/trimmed-items-header.ts'
import { talk } from '../../support/talk.ts'

const items = talk`
  user: one
  assistant: 1
  user: two
  assistant: 2
  call lost
  user: three
`

function formatHeader(window: object): string | null {
  const policy = resolvePolicy([{ policy: 'replay', window }])
  const { notes } = runTransforms(items, listTransforms({ policy, reader: null }))
  return formatTrimmedHeader({ notes, items })
}

test('the header x-backstory-trimmed is omitted if no window dropped an item', () => {
  expect(formatHeader({})).toBeNull()
  expect(formatHeader({ turns: 3, items: 5 })).toBeNull()
})

test('the header x-backstory-trimmed has the number of items, their tokens and the window (C36)', () => {
  const tokens = items.slice(0, 4).reduce((sum, item) => sum + estimateItemTokens(item), 0)
  expect(formatHeader({ turns: 1 })).toBe(`items=4, tokens=${tokens}, by=window-turns`)
})

test('the header x-backstory-trimmed names every window that dropped an item', () => {
  expect(formatHeader({ turns: 2, items: 1 })).toMatch(/by=window-turns/)
})
