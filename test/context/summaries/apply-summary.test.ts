import { expect, test } from 'vitest'
import type { Item } from '../../../src/core/item.ts'
import { isHistorySummary } from '../../../src/core/items/summary-message.ts'
import {
  applySummary,
  listItemsReplacedBySummary,
} from '../../../src/context/summaries/apply-summary.ts'
import { listTransforms, runTransforms } from '../../../src/context/list-and-run-transforms.ts'
import { resolvePolicy } from '../../../src/core/context-policy.ts'
import { show, talk } from '../../support/talk.ts'

const summary = (covered: readonly Item[]) =>
  applySummary({ id: 'sum_1', text: 'They met.', facts: ['port 8080'], replacedItems: covered })

const renderItems = (items: readonly Item[]) =>
  items.map((item) => (isHistorySummary(item) ? 'SUMMARY' : show([item]))).join(' | ')

const CHAT = talk`
  system: be brief
  user: 1
  thinks: hm
  call a
  output a x
  assistant: one
  hosted compaction
  user: 2
  assistant: two
  user: 3
`

test('C21, C54: the summary comes after the instructions and before the remaining rounds', () => {
  const step = summary(listItemsReplacedBySummary(CHAT, 7)).run(CHAT)
  expect(renderItems(step.items)).toBe(
    'system: be brief | SUMMARY | hosted compaction | user: 2 | assistant: two | user: 3',
  )
  expect(step.notes.map(({ did, at, why }) => `${did} ${at ?? ''} ${why}`)).toEqual([
    ...[1, 2, 3, 4, 5].map((at) => `dropped ${at} summarised`),
    'added  summary-told',
  ])
})

test('the message with a summary contains its facts word for word, and its text', () => {
  const told = summary(CHAT.slice(1, 6)).run(CHAT).items.find(isHistorySummary)
  expect(show([told as Item])).toMatch(
    /^developer: \[Summary of the earlier part .*\]⏎⏎## Facts⏎- port 8080⏎⏎They met\.$/,
  )
})

test('a summary is not applied to a list that does not begin with the summarized items', () => {
  const covered = CHAT.slice(1, 6)
  for (const other of [
    CHAT.map((item) => ({ ...item })),
    CHAT.filter((_, at) => at !== 3),
    CHAT.slice(3),
    CHAT.slice(0, 4),
    summary(covered).run(CHAT).items,
  ]) {
    expect(summary(covered).run(other).items).toBe(other)
  }
  expect(summary([]).run(CHAT).items).toBe(CHAT)
})

test('a summary is applied even if one of the summarized items comes twice in the list', () => {
  const [first, second] = talk`
    user: again
    assistant: yes
  ` as [Item, Item]
  const items = [first, second, first, second]
  const once = summary([first, second]).run(items)
  expect(renderItems(once.items)).toBe('SUMMARY | user: again | assistant: yes')
  expect(summary([first, second]).run(once.items).items).toBe(once.items)
})

test('no window drops or counts the message with a summary', () => {
  const policy = resolvePolicy([{ policy: 'replay', window: { turns: 1 } }])
  const covered = CHAT.slice(1, 6)
  const plan = listTransforms({
    policy,
    reader: null,
    summary: { id: 's', text: 'x', facts: [], replacedItems: covered },
  })
  expect(renderItems(runTransforms(CHAT, plan).items)).toBe(
    'system: be brief | SUMMARY | hosted compaction | user: 3',
  )
})
