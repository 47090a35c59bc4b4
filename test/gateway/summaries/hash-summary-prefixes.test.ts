import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Item } from '../../../src/core/item.ts'
import { findRoundStarts } from '../../../src/core/items/rounds-and-pinned-items.ts'
import { hashSummaryPrefixes } from '../../../src/gateway/summaries/hash-summary-prefixes.ts'
import { conversation, tidyConversation } from '../../support/conversations.ts'
import { talk } from '../../support/talk.ts'

const hashPrefixes = (items: readonly Item[], hidden: readonly string[] = []) =>
  hashSummaryPrefixes({ items, hiddenAuthors: hidden })

test('hashSummaryPrefixes returns the same hash for a prefix, whatever items come after it', () => {
  fc.assert(
    fc.property(tidyConversation, tidyConversation, (before, more) => {
      const expected = hashPrefixes(before)
      expect(hashPrefixes([...before, ...more]).slice(0, expected.length)).toEqual(expected)
    }),
  )
})

test('hashSummaryPrefixes returns a prefix for each round except for the first: all items before the round', () => {
  fc.assert(
    fc.property(conversation, (items) => {
      const prefixes = hashPrefixes(items)
      expect(prefixes.map(({ endIndex }) => endIndex)).toEqual(findRoundStarts(items).slice(1))
      expect(prefixes.map(({ rounds }) => rounds)).toEqual(prefixes.map((_, at) => at + 1))
    }),
  )
})

const CHAT = talk`
  system: today is Monday
  user: 1
  thinks: hm
  assistant: one
  user: 2
  assistant: two
  user: 3
`
const listHashes = (items: readonly Item[], hidden: readonly string[] = []) =>
  hashPrefixes(items, hidden).map(({ hash }) => hash)

test('editing an item changes the hashes of the summary prefixes that include the item, but of no others', () => {
  const edited = CHAT.with(5, talk`assistant: TWO`[0] as Item)
  const [first, second] = listHashes(CHAT)
  const [same, other] = listHashes(edited)
  expect(same).toBe(first)
  expect(other).not.toBe(second)
})

test('the hash of a summary prefix depends on the hidden authors, but not on instructions, ids or reasoning', () => {
  const hashes = listHashes(CHAT)
  expect(listHashes(CHAT.with(0, talk`system: today is Tuesday`[0] as Item))).toEqual(hashes)
  expect(listHashes(CHAT.slice(1))).toEqual(hashes)
  expect(listHashes(CHAT.map((item, at) => ({ ...item, id: `msg_${at}` })))).toEqual(hashes)
  expect(listHashes(CHAT.toSpliced(2, 1))).toEqual(hashes)
  expect(listHashes(CHAT, ['ann', 'bob', 'ann'])).toEqual(listHashes(CHAT, ['bob', 'ann']))
  expect(listHashes(CHAT, ['ann'])).not.toEqual(hashes)
})
