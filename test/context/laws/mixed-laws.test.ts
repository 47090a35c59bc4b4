/**
 * All of it at once, under each policy: windows, caps, limits of media, voices, notes, pins, resets, a
 * summary and what layers tell, over conversations with media, many voices and tools. The laws hold for
 * the mixture as they do for each part, and none of the wires is told what its provider refuses.
 */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Item } from '../../../src/core/item.ts'
import { authorOf, setGatewayField } from '../../../src/core/items/author-time-and-reset-fields.ts'
import { isModelItem } from '../../../src/core/items/is-model-item.ts'
import { POLICY_NAMES, resolvePolicy } from '../../../src/core/context-policy.ts'
import { findRoundStarts } from '../../../src/core/items/rounds-and-pinned-items.ts'
import { insertLayerBlocks, type RenderedBlock } from '../../../src/memory/insert-layer-blocks.ts'
import { dropBeforeReset } from '../../../src/context/windows/drop-before-reset.ts'
import { listCoveredItems } from '../../../src/context/summaries/apply-summary.ts'
import { moveItemsAfterCompaction } from '../../../src/context/summaries/move-items-after-compaction.ts'
import {
  listAdditionTransforms,
  listTransforms,
  runTransforms,
  type PipelineResult,
} from '../../../src/context/list-and-run-transforms.ts'
import type { CompactionSupport } from '../../../src/context/summaries/can-read-compaction.ts'
import { conversation, grownWithinRound } from '../../support/conversations.ts'
import {
  expectComplete,
  expectHonest,
  expectIdempotent,
  expectLawful,
  expectPinned,
  expectPure,
  expectSteady,
} from '../../support/laws.ts'
import { encodeForWire, WIRES } from '../../support/sent-laws.ts'
import { talk } from '../../support/talk.ts'
import { anyAuthors } from '../../support/authors.ts'
import { MIXED_WISHES, type MixedWishes } from './mixed-wishes.ts'
import { pruned, waitingCalls } from './subjects.ts'
import { numberOfRuns } from '../../support/number-of-runs.ts'

const COUNTS = numberOfRuns(60)

const ALL_OF_IT = MIXED_WISHES.at(-1) ?? {}

/** Each by itself, and the last, which is nearly everything, under each policy. */
const MIXTURES: readonly MixedWishes[] = [
  ...MIXED_WISHES,
  ...POLICY_NAMES.map((policy) => ({ ...ALL_OF_IT, policy })),
  { policy: 'lean', window: { items: 12 }, media: { images: 1, bytes: 2000 } },
]

/** What may stand beside a conversation. */
interface Beside {
  readonly speak: (items: readonly Item[]) => readonly Item[]
  /** Before which round it was reset, and before which of those since a summary ends. */
  readonly reset: number | null
  readonly summed: number | null
  readonly hasLayers: boolean
}

const beside = fc.record({
  speak: fc.option(anyAuthors).map((speak) => speak ?? ((items: readonly Item[]) => items)),
  reset: fc.option(fc.nat(3), { freq: 2 }),
  summed: fc.option(fc.nat(3)),
  hasLayers: fc.boolean(),
})

const BLOCKS: readonly RenderedBlock[] = [
  { name: 'memory', band: 'stable', text: 'noted', changes: [{ round: 2, text: 'more' }] },
  { name: 'facts', band: 'volatile', text: 'Oslo is cold.', changes: [] },
]

function mixed(items: readonly Item[], { speak, reset }: Beside): readonly Item[] {
  const place = reset === null ? undefined : findRoundStarts(items)[reset]
  return speak(items).map((item, at) => (at === place ? withReset(item) : item))
}

function withReset(item: Item): Item {
  const before = item.native?.['backstory'] ?? {}
  return setGatewayField(item, { ...before, reset: true })
}

const READER: CompactionSupport = { wire: 'chat', account: 'a', compacts: false }

function planOf(
  { room = null, ...wishes }: MixedWishes,
  items: readonly Item[],
  { summed }: Beside,
  reader = READER,
) {
  const since = dropBeforeReset().run(items).items
  const border = summed === null ? 0 : (findRoundStarts(since)[summed] ?? 0)
  const covered = listCoveredItems(since, border)
  const summary = { id: 'sum_1', text: 'In short.', facts: [], covered }
  const hasNames = reader.wire === 'chat'
  const rules = { policy: resolvePolicy([wishes]), room, reader, conversation: items, hasNames }
  return listTransforms(covered.length === 0 ? rules : { ...rules, summary })
}

function addedTo(
  wishes: MixedWishes,
  items: readonly Item[],
  { hasLayers }: Beside,
  reader = READER,
) {
  return [
    ...listAdditionTransforms(resolvePolicy([wishes])),
    ...(hasLayers ? [insertLayerBlocks(BLOCKS, items)] : []),
    ...(reader.wire === 'anthropic' ? [moveItemsAfterCompaction()] : []),
  ]
}

function sentOf(
  wishes: MixedWishes,
  items: readonly Item[],
  what: Beside,
  reader = READER,
): PipelineResult {
  const plan = planOf(wishes, items, what, reader)
  return runTransforms(items, [...plan, ...addedTo(wishes, items, what, reader)])
}

describe.each(MIXTURES)('%j', (wishes) => {
  test('is pure, honest and complete, and leaves what is lawful', () => {
    fc.assert(
      fc.property(conversation, beside, (silent, what) => {
        const items = mixed(silent, what)
        const sent = sentOf(wishes, items, what)
        expectPure((given) => sentOf(wishes, given, what), items)
        expectHonest(items, sent, true)
        expectLawful(sent.items)
        // With a name in front, a question is whole in other words.
        if (items.every((item) => authorOf(item) === null)) expectComplete(items, sent.items)
      }),
      COUNTS,
    )
  })

  test('does nothing more to what it has cut', () => {
    fc.assert(
      fc.property(conversation, beside, (silent, before) => {
        // What is pinned outlasts a reset, but not once it is a placeholder.
        const what = { ...before, reset: null }
        const items = mixed(silent, what)
        const plan = planOf(wishes, items, what)
        expectIdempotent((given) => runTransforms(given, plan), items)
      }),
      COUNTS,
    )
  })

  test('keeps what is pinned', () => {
    fc.assert(
      fc.property(conversation, beside, (silent, what) => {
        // Who is hidden is hidden, and what was before a reset is gone, pinned or not.
        const items = pruned(mixed(silent, { ...what, speak: (all) => all }))
        expectPinned(items, sentOf(wishes, items, what))
      }),
      COUNTS,
    )
  })

  test('tells no wire what its provider refuses', () => {
    fc.assert(
      fc.property(conversation, beside, (silent, what) => {
        const items = [...mixed(silent, what), ...talk`user: so?`]
        for (const wire of WIRES) {
          const reader = { wire: wire.wire, account: wire.wire, compacts: false }
          const { path, body } = encodeForWire(wire, sentOf(wishes, items, what, reader).items)
          expect(wire.faults(path, body)).toEqual([])
        }
      }),
      COUNTS,
    )
  })
})

/** Whose borders move with what is said, and not with what tools have to say, which takes room. */
const BY_TURNS = MIXTURES.filter(
  ({ window = {}, media, room }) =>
    !('items' in window) && !('tokens' in window) && media === undefined && room === undefined,
)

test.each(BY_TURNS)('%j sends what it has sent again while tools are at work', (wishes) => {
  fc.assert(
    fc.property(grownWithinRound, beside, ([before, after], what) => {
      // What is said by somebody is a message: nobody takes the calls of a turn from its model.
      const speak = (items: readonly Item[]) =>
        what.speak(items).map((item, at) => (item.type === 'message' ? item : (items[at] ?? item)))
      const [asked, done] = [before, after].map((items) => mixed(items, { ...what, speak }))
      if (asked === undefined || done === undefined) return
      const more = done.slice(asked.length)
      const last = asked.at(-1)
      fc.pre(more.every(isWork) && waitingCalls(asked) === waitingCalls(done))
      fc.pre(last !== undefined && !isModelItem(last))
      const told = { ...wishes, media: resolvePolicy([{ policy: 'replay' }]).media }
      expectSteady(sentOf(told, asked, what).items, sentOf(told, done, what).items)
    }),
    COUNTS,
  )
})

function isWork(item: Item): boolean {
  return item.type !== 'message' && item.type !== 'opaque'
}
