/**
 * Checks combinations of all features under each policy: windows, caps, media limits, speakers, notes, pins,
 * resets, a summary and memory layers, with conversations that have media, several authors and tools. The laws
 * hold for combinations as for single transforms, and no wire gets a request that its provider would reject.
 */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Item } from '../../../src/core/item.ts'
import { readClientGivenAuthor, setGatewayFields } from '../../../src/core/items/gateway-fields.ts'
import { isItemOfAnswer } from '../../../src/core/items/is-item-of-answer.ts'
import { POLICY_NAMES, resolvePolicy } from '../../../src/core/context-policy.ts'
import { findRoundStarts } from '../../../src/core/items/rounds-and-pinned-items.ts'
import { insertLayerBlocks, type RenderedBlock } from '../../../src/memory/insert-layer-blocks.ts'
import { dropBeforeReset } from '../../../src/context/windows/drop-before-reset.ts'
import { listItemsReplacedBySummary } from '../../../src/context/summaries/apply-summary.ts'
import { moveItemsAfterCompaction } from '../../../src/context/summaries/move-items-after-compaction.ts'
import {
  listPolicyTextTransforms,
  listTransforms,
  runTransforms,
  type PipelineResult,
} from '../../../src/context/list-and-run-transforms.ts'
import type { CompactionReader } from '../../../src/context/summaries/can-read-compaction.ts'
import { conversation, grownWithinRound } from '../../support/conversations.ts'
import {
  expectQuestionAndInstructions,
  expectNotesMatchChanges,
  expectIdempotent,
  expectValidForProviders,
  expectNoPinnedItemDropped,
  expectPure,
  expectUnchangedPrefix,
} from '../../support/laws.ts'
import { encodeForWire, WIRES } from '../../support/sent-laws.ts'
import { talk } from '../../support/talk.ts'
import { anyAuthors } from '../../support/authors.ts'
import { MIXED_OVERRIDES, type MixedOverrides } from './mixed-policies.ts'
import { pruneCached, countWaitingCalls } from './subjects.ts'
import { numberOfRuns } from '../../support/number-of-runs.ts'
import { CUTS_AT_ANY_LENGTH } from '../../support/cuts-at-any-length.ts'

const COUNTS = numberOfRuns(60)

const NEARLY_EVERYTHING = MIXED_OVERRIDES.at(-1) ?? {}

/** Each one alone; the last one, which combines nearly everything, under each policy. */
const MIXTURES: readonly MixedOverrides[] = [
  ...MIXED_OVERRIDES,
  ...POLICY_NAMES.map((policy) => ({ ...NEARLY_EVERYTHING, policy })),
  { policy: 'lean', window: { items: 12 }, media: { images: 1, bytes: 2000 } },
]

/** A reset, a summary and memory layers of a conversation. */
interface ConversationExtras {
  readonly speak: (items: readonly Item[]) => readonly Item[]
  /** The round before which the reset comes, and the round since then before which the summary ends. */
  readonly reset: number | null
  readonly summed: number | null
  readonly hasLayers: boolean
}

const extras = fc.record({
  speak: fc.option(anyAuthors).map((speak) => speak ?? ((items: readonly Item[]) => items)),
  reset: fc.option(fc.nat(3), { freq: 2 }),
  summed: fc.option(fc.nat(3)),
  hasLayers: fc.boolean(),
})

const BLOCKS: readonly RenderedBlock[] = [
  { name: 'memory', stability: 'stable', text: 'noted', changes: [{ round: 2, text: 'more' }] },
  { name: 'facts', stability: 'volatile', text: 'Oslo is cold.', changes: [] },
]

function buildConversation(
  items: readonly Item[],
  { speak, reset }: ConversationExtras,
): readonly Item[] {
  const place = reset === null ? undefined : findRoundStarts(items)[reset]
  return speak(items).map((item, at) => (at === place ? addReset(item) : item))
}

function addReset(item: Item): Item {
  const before = item.native?.['backstory'] ?? {}
  return setGatewayFields(item, { ...before, reset: true })
}

const READER: CompactionReader = { wire: 'chat', account: 'a', makesCompactions: false }

function listPolicyTransforms(
  { tokenBudget = null, ...overrides }: MixedOverrides,
  items: readonly Item[],
  { summed }: ConversationExtras,
  reader = READER,
) {
  const since = dropBeforeReset().run(items).items
  const border = summed === null ? 0 : (findRoundStarts(since)[summed] ?? 0)
  const replacedItems = listItemsReplacedBySummary(since, border)
  const summary = { id: 'sum_1', text: 'In short.', facts: [], replacedItems }
  const hasNameField = reader.wire === 'chat'
  const rules = {
    policy: resolvePolicy([CUTS_AT_ANY_LENGTH, overrides]),
    tokenBudget: tokenBudget,
    reader,
    conversation: items,
    hasNameField,
  }
  return listTransforms(replacedItems.length === 0 ? rules : { ...rules, summary })
}

function listAdditions(
  overrides: MixedOverrides,
  items: readonly Item[],
  { hasLayers }: ConversationExtras,
  reader = READER,
) {
  return [
    ...listPolicyTextTransforms(resolvePolicy([CUTS_AT_ANY_LENGTH, overrides])),
    ...(hasLayers ? [insertLayerBlocks(BLOCKS, items)] : []),
    ...(reader.wire === 'anthropic' ? [moveItemsAfterCompaction()] : []),
  ]
}

function buildPrompt(
  overrides: MixedOverrides,
  items: readonly Item[],
  what: ConversationExtras,
  reader = READER,
): PipelineResult {
  const plan = listPolicyTransforms(overrides, items, what, reader)
  return runTransforms(items, [...plan, ...listAdditions(overrides, items, what, reader)])
}

describe.each(MIXTURES)('laws of the pipeline with the policy %j', (overrides) => {
  test('the pipeline does not modify its input, writes a note for each change, keeps the latest question, and returns a list that providers accept', () => {
    fc.assert(
      fc.property(conversation, extras, (silent, what) => {
        const items = buildConversation(silent, what)
        const sent = buildPrompt(overrides, items, what)
        expectPure((given) => buildPrompt(overrides, given, what), items)
        expectNotesMatchChanges(items, sent, true)
        expectValidForProviders(sent.items)
        // A speaker label changes the text of a question.
        if (items.every((item) => readClientGivenAuthor(item) === null))
          expectQuestionAndInstructions(items, sent.items)
      }),
      COUNTS,
    )
  })

  // Dropped reasoning leaves no trace in the result, so a second run would compute other costs of earlier requests.
  const keepsReasoning =
    resolvePolicy([CUTS_AT_ANY_LENGTH, overrides]).reasoning.keep === 'conversation'
  test.runIf(keepsReasoning)(
    'a second run of the pipeline on its own result changes nothing',
    () => {
      fc.assert(
        fc.property(conversation, extras, (silent, before) => {
          // A pinned item survives a reset, but a placeholder that replaces it does not.
          const what = { ...before, reset: null }
          const items = buildConversation(silent, what)
          const plan = listPolicyTransforms(overrides, items, what)
          expectIdempotent((given) => runTransforms(given, plan), items)
        }),
        COUNTS,
      )
    },
  )

  test('the pipeline keeps all pinned items', () => {
    fc.assert(
      fc.property(conversation, extras, (silent, what) => {
        // Hidden authors stay hidden, and items before a reset are dropped, even if they are pinned.
        const items = pruneCached(buildConversation(silent, { ...what, speak: (all) => all }))
        expectNoPinnedItemDropped(items, buildPrompt(overrides, items, what))
      }),
      COUNTS,
    )
  })

  test('the pipeline produces no request that a provider would reject', () => {
    fc.assert(
      fc.property(conversation, extras, (silent, what) => {
        const items = [...buildConversation(silent, what), ...talk`user: so?`]
        for (const wire of WIRES) {
          const reader = { wire: wire.wire, account: wire.wire, makesCompactions: false }
          const { path, body } = encodeForWire(
            wire,
            buildPrompt(overrides, items, what, reader).items,
          )
          expect(wire.faults(path, body)).toEqual([])
        }
      }),
      COUNTS,
    )
  })
})

/** Policies whose cutoffs move with messages only, not with tool outputs. */
const BY_TURNS = MIXTURES.filter(
  ({ window = {}, media, tokenBudget }) =>
    !('items' in window) &&
    !('tokens' in window) &&
    media === undefined &&
    tokenBudget === undefined,
)

test.each(BY_TURNS)('with the policy %j, tool rounds change no earlier item', (overrides) => {
  fc.assert(
    fc.property(grownWithinRound, extras, ([before, after], what) => {
      // Only messages have authors here, so that no call of the running turn is hidden.
      const speak = (items: readonly Item[]) =>
        what.speak(items).map((item, at) => (item.type === 'message' ? item : (items[at] ?? item)))
      const [asked, done] = [before, after].map((items) =>
        buildConversation(items, { ...what, speak }),
      )
      if (asked === undefined || done === undefined) return
      const more = done.slice(asked.length)
      const last = asked.at(-1)
      fc.pre(more.every(isWork) && countWaitingCalls(asked) === countWaitingCalls(done))
      fc.pre(last !== undefined && !isItemOfAnswer(last))
      const told = {
        ...overrides,
        media: resolvePolicy([CUTS_AT_ANY_LENGTH, { policy: 'replay' }]).media,
      }
      expectUnchangedPrefix(
        buildPrompt(told, asked, what).items,
        buildPrompt(told, done, what).items,
      )
    }),
    COUNTS,
  )
})

function isWork(item: Item): boolean {
  return item.type !== 'message' && item.type !== 'opaque'
}
