import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Item } from '../../../src/core/item.ts'
import { findRoundStarts } from '../../../src/core/items/rounds-and-pinned-items.ts'
import { hashSummaryPrefixes } from '../../../src/gateway/summaries/hash-summary-prefixes.ts'
import { conversation, tidyConversation } from '../../support/conversations.ts'
import { talk } from '../../support/talk.ts'

const bordersOf = (items: readonly Item[], hidden: readonly string[] = []) =>
  hashSummaryPrefixes({ items, hidden })

test('a beginning has the same name whatever is said behind it', () => {
  fc.assert(
    fc.property(tidyConversation, tidyConversation, (before, more) => {
      const own = bordersOf(before)
      expect(bordersOf([...before, ...more]).slice(0, own.length)).toEqual(own)
    }),
  )
})

test('there is one at each border between two turns', () => {
  fc.assert(
    fc.property(conversation, (items) => {
      const borders = bordersOf(items)
      expect(borders.map(({ at }) => at)).toEqual(findRoundStarts(items).slice(1))
      expect(borders.map(({ turns }) => turns)).toEqual(borders.map((_, at) => at + 1))
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
const namesOf = (items: readonly Item[], hidden: readonly string[] = []) =>
  bordersOf(items, hidden).map(({ hash }) => hash)

test('what was edited has another name from there on, and what stands before it has not', () => {
  const edited = CHAT.with(5, talk`assistant: TWO`[0] as Item)
  const [first, second] = namesOf(CHAT)
  const [same, other] = namesOf(edited)
  expect(same).toBe(first)
  expect(other).not.toBe(second)
})

test('instructions, ids and thoughts are no part of it, and who is hidden is', () => {
  const names = namesOf(CHAT)
  expect(namesOf(CHAT.with(0, talk`system: today is Tuesday`[0] as Item))).toEqual(names)
  expect(namesOf(CHAT.slice(1))).toEqual(names)
  expect(namesOf(CHAT.map((item, at) => ({ ...item, id: `msg_${at}` })))).toEqual(names)
  expect(namesOf(CHAT.toSpliced(2, 1))).toEqual(names)
  expect(namesOf(CHAT, ['ann', 'bob', 'ann'])).toEqual(namesOf(CHAT, ['bob', 'ann']))
  expect(namesOf(CHAT, ['ann'])).not.toEqual(names)
})
