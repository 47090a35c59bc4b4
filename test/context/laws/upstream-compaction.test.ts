/** Checks compactions that Anthropic makes itself: they replace everything before them. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isCompaction } from '../../../src/core/items/compaction-item.ts'
import type { Item, OpaqueItem, Origin } from '../../../src/core/item.ts'
import type { JsonObject } from '../../../src/core/json/json.ts'
import { PRESETS } from '../../../src/core/context-policy.ts'
import {
  isPinnedByClient,
  findRoundStarts,
} from '../../../src/core/items/rounds-and-pinned-items.ts'
import { isHistorySummary } from '../../../src/core/items/summary-message.ts'
import { isItemOfAnswer } from '../../../src/core/items/is-item-of-answer.ts'
import { packCompactionBlock } from '../../../src/providers/anthropic/pack-compaction-block.ts'
import { applyCompaction } from '../../../src/context/summaries/apply-compaction.ts'
import { listItemsReplacedBySummary } from '../../../src/context/summaries/apply-summary.ts'
import { moveItemsAfterCompaction } from '../../../src/context/summaries/move-items-after-compaction.ts'
import { listTransforms, runTransforms } from '../../../src/context/list-and-run-transforms.ts'
import type { CompactionReader } from '../../../src/context/summaries/can-read-compaction.ts'
import { history, tidyConversation } from '../../support/conversations.ts'
import {
  expectNotesMatchChanges,
  expectIdempotent,
  expectValidForProviders,
  expectNoPinnedItemDropped,
  expectPure,
  expectUnchangedPrefix,
} from '../../support/laws.ts'
import { show, talk } from '../../support/talk.ts'

const CLAUDE: CompactionReader = { wire: 'anthropic', account: 'claude', makesCompactions: true }
const ORIGIN: Origin = { ...CLAUDE, model: 'claude-opus-5-5', prefixHash: null }
const made = (origin: Origin = ORIGIN): OpaqueItem => ({
  ...packCompactionBlock({ type: 'compaction', content: 'So far, so good.' }),
  origin,
})
const COMPACTION = made()

const listTransformsFor = (reader: CompactionReader) => [
  applyCompaction(reader),
  moveItemsAfterCompaction(),
]
const applyFor = (items: readonly Item[], reader = CLAUDE) =>
  runTransforms(items, listTransformsFor(reader))
const shown = (items: readonly Item[], reader = CLAUDE) =>
  show(applyFor(items, reader).items.filter((item) => item !== COMPACTION))

const pinAll = (items: readonly Item[]): readonly Item[] =>
  items.map((item) => ({ ...item, native: { backstory: { pin: true } } }))

const BEFORE = talk`
  developer: be brief
  user: Rome or Oslo?
  assistant: Rome.
  user: book it
`
const AFTER = talk`
  thinks: hm
  assistant: booked
  user: thanks
`

describe("Anthropic's own compaction, sent to an upstream that can read it", () => {
  test("Anthropic's compaction replaces messages of user and assistant, but not the leading instructions", () => {
    const { items, notes } = applyFor([...BEFORE, COMPACTION, ...AFTER])
    expect(items).toEqual([BEFORE[0], COMPACTION, ...AFTER])
    expect(notes.map(({ did, at, why }) => `${did} ${at} ${why}`)).toEqual([
      'dropped 1 compacted',
      'dropped 2 compacted',
      'dropped 3 compacted',
    ])
  })

  test("pinned messages and instructions in the middle before Anthropic's compaction are moved after the answer that contains it", () => {
    const rule = talk`developer: never in June`
    const pin = pinAll(talk`user: My name is Ada.`)
    const list = [...BEFORE.slice(0, 3), ...rule, ...pin, ...BEFORE.slice(3), COMPACTION, ...AFTER]
    expect(shown(list)).toBe(
      show(talk`
        developer: be brief
        thinks: hm
        assistant: booked
        developer: never in June
        user: My name is Ada.
        user: thanks
      `),
    )
    expect(applyFor(list).items[1]).toBe(COMPACTION)
  })

  test("while tools run after Anthropic's compaction, an instruction from before it comes after the latest outputs, and stays there when the answer ends", () => {
    const rule = talk`developer: never in June`
    const loop = talk`
      thinks: hm
      call a look
      output a fog
    `
    const list = [...BEFORE, ...rule, COMPACTION, ...loop]
    const before = applyFor(list).items
    expect(show(before.slice(-1))).toBe(show(rule))
    const after = applyFor([...list, ...talk`assistant: Fog.`, ...talk`user: And now?`]).items
    expectUnchangedPrefix(before, after)
  })

  test('if Anthropic has compacted a conversation several times, only its latest compaction is applied', () => {
    const older = made()
    expect(applyFor([...BEFORE, older, ...AFTER, COMPACTION]).items).toEqual([
      BEFORE[0],
      COMPACTION,
    ])
  })
})

test.each([
  ['another account', { ...CLAUDE, account: 'claude-2' }],
  ['another wire', { ...CLAUDE, wire: 'responses' }],
  ['a model that does not compact', { ...CLAUDE, makesCompactions: false }],
])("Anthropic's compaction is not sent to %s, and replaces nothing there", (_, reader) => {
  const { items, notes } = applyFor([...BEFORE, COMPACTION, ...AFTER], reader)
  expect(items).toEqual([...BEFORE, ...AFTER])
  expect(notes.map(({ why }) => why)).toEqual(['compaction-made-elsewhere'])
})

test.each([
  { encrypted_content: 'gAAAA', status: 'incomplete' },
  { encrypted_content: 'gAAAA', status: 'in_progress' },
  { encrypted_content: '' },
  {},
])("OpenAI's compaction with incomplete fields (%j) replaces nothing", (left) => {
  const reader = { wire: 'responses', account: 'openai', makesCompactions: true }
  const origin = { ...ORIGIN, ...reader }
  const raw = { id: 'cmp_1', type: 'compaction', ...left } as JsonObject
  const broken: OpaqueItem = { type: 'opaque', raw, origin }
  const { items, notes } = applyFor([...BEFORE, broken, ...AFTER], reader)
  expect(items).toEqual([...BEFORE, ...AFTER])
  expect(notes.map(({ why }) => why)).toEqual(['compaction-unreadable'])
})

/** The indexes at which an answer begins or could begin. */
function listAnswerStarts(items: readonly Item[]): readonly number[] {
  return [...items.keys(), items.length].filter((at) => {
    const [before, after] = [items[at - 1], items[at]]
    return (
      before !== undefined &&
      !isItemOfAnswer(before) &&
      (after === undefined || isItemOfAnswer(after))
    )
  })
}

const withCompaction = (items: readonly Item[], at: number) => items.toSpliced(at, 0, COMPACTION)

/** Generated conversations without compactions. */
const plain = (items: readonly Item[]) => items.filter((item) => !isCompaction(item))

/** Conversations with a compaction at the beginning of an answer, and some pinned items. */
const compacted = fc
  .tuple(tidyConversation, fc.nat(), fc.nat({ max: 12 }))
  .map(([said, pick, pin]) => {
    const items = plain(said).map((item, at) => (at === pin ? (pinAll([item])[0] ?? item) : item))
    const places = listAnswerStarts(items)
    const at = places[pick % Math.max(1, places.length)] ?? items.length
    return { items: withCompaction(items, at), at }
  })

const RUNS = { numRuns: 150 }

describe("laws of the pipeline with an upstream's compaction", () => {
  const run = (items: readonly Item[]) => applyFor(items)

  test("applying Anthropic's compaction to any conversation keeps pinned items and returns a list that providers accept", () => {
    fc.assert(
      fc.property(compacted, ({ items }) => {
        expectPure(run, items)
        expectIdempotent(run, items)
        expectNotesMatchChanges(items, run(items), true)
        expectNoPinnedItemDropped(items, run(items))
        expectValidForProviders(
          runTransforms(items, listTransforms({ policy: PRESETS.replay, reader: CLAUDE })).items,
        )
        const [first = COMPACTION] = run(items).items.filter((item) => !isInstruction(item))
        expect(first).toBe(COMPACTION)
      }),
      RUNS,
    )
  })

  test("when a conversation with Anthropic's compaction grows, its earlier items are sent unchanged", () => {
    fc.assert(
      fc.property(
        history.map(([then, now]) => [plain(then), plain(now)] as const),
        fc.nat(),
        ([before, after], pick) => {
          const places = listAnswerStarts(before).filter((at) => at < before.length)
          const at = places[pick % Math.max(1, places.length)]
          // If the answer itself grows, it is a different answer.
          const next = after[before.length]
          const isGoneOnWith =
            next !== undefined && isItemOfAnswer(next) && isItemOfAnswer(before.at(-1) ?? next)
          if (at === undefined || isGoneOnWith) return
          const [then, now] = [withCompaction(before, at), withCompaction(after, at)]
          expectUnchangedPrefix(applyFor(then).items, applyFor(now).items)
        },
      ),
      RUNS,
    )
  })

  test("C57: of Anthropic's compaction and a gateway summary, only the one that replaces more items is sent", () => {
    fc.assert(
      fc.property(compacted, fc.nat(), ({ items, at }, pick) => {
        const starts = findRoundStarts(items)
        const border = starts[pick % Math.max(1, starts.length)] ?? 0
        const replacedItems = listItemsReplacedBySummary(items, border)
        const summary = { id: 's', text: 'Once upon a time.', facts: [], replacedItems }
        const plan = listTransforms({ policy: PRESETS.replay, reader: CLAUDE, summary })
        const sent = runTransforms(items, plan).items
        const isTold = sent.some(isHistorySummary)
        // The one that replaces more items is applied.
        expect(isTold).toBe(replacedItems.some((item) => items.indexOf(item) > at))
        expect(sent.includes(COMPACTION)).toBe(!isTold)
        // Items that neither replaces are sent.
        const kept = items.slice(Math.max(border, at)).filter(isQuestion)
        expect(sent.filter((item) => kept.includes(item))).toEqual(kept)
      }),
      RUNS,
    )
  })
})

function isInstruction(item: Item): boolean {
  return item.type === 'message' && (item.role === 'system' || item.role === 'developer')
}

function isQuestion(item: Item): boolean {
  return item.type === 'message' && item.role === 'user' && !isPinnedByClient(item)
}
