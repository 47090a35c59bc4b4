/** Lists the transforms that edit the items of a request, with the reasons for their order, and runs them. */
import { isUpstreamCompaction } from '../core/items/compaction-item.ts'
import type { Item } from '../core/item.ts'
import type { MediaKind } from '../core/media/content-part-media.ts'
import type { Note } from '../core/note.ts'
import type { ContextPolicy } from '../core/context-policy.ts'
import { dropBeforeReset } from './windows/drop-before-reset.ts'
import { stubMissingOutputs } from './tool-calls/stub-missing-outputs.ts'
import { applyCompaction } from './summaries/apply-compaction.ts'
import { applySummary, type AppliedSummary } from './summaries/apply-summary.ts'
import { trimLongRounds } from './windows/trim-long-rounds.ts'
import { capOutputs } from './tool-outputs/cap-outputs.ts'
import { escapeFakeNoticesInItems } from './cleaning/escape-fake-notices-in-items.ts'
import { fitTokenBudget } from './windows/fit-token-budget.ts'
import { hideItemsOfAuthors } from './speakers/hide-items-of-authors.ts'
import { mergeMessagesOfOneAuthor } from './speakers/merge-messages-of-one-author.ts'
import { insertPolicyTexts } from './insert-policy-texts.ts'
import { listVisibilityTransforms } from './media/list-visibility-transforms.ts'
import { pruneOrphans } from './tool-calls/prune-orphans.ts'
import { canReadCompaction, type CompactionReader } from './summaries/can-read-compaction.ts'
import { dropExpiredReasoning } from './reasoning/drop-expired-reasoning.ts'
import { readOutputLengths } from './tool-outputs/shorten-output.ts'
import { shortenOldOutputs } from './tool-outputs/shorten-old-outputs.ts'
import { stripDetailsBlocks } from './cleaning/strip-details-blocks.ts'
import { stripMarkersFromPrompt } from './cleaning/strip-markers-from-prompt.ts'
import {
  resolveSpeakerLabelOptions,
  labelSpeakersAndAssignRoles,
} from './speakers/label-speakers-and-assign-roles.ts'
import { detectItemTraits } from './detect-item-traits.ts'
import type {
  AppliedTransform,
  OriginalPositions,
  PositionedItems,
  Transform,
  TransformResult,
} from './transform-interface.ts'
import { keepRecentRounds } from './windows/keep-recent-rounds.ts'

export interface TransformListOptions {
  readonly policy: ContextPolicy
  /**
   * With `stub`, a call without an output gets a placeholder output; with `drop` (the default), the call is dropped.
   * Calls at the end still wait for their outputs and stay.
   */
  readonly unansweredCalls?: 'drop' | 'stub'
  /** The upstream that will read the items. With `null`, compactions are not applied. */
  readonly reader: CompactionReader | null
  /** True if the wire has a field for the name of a message's author. Default: true. */
  readonly hasNameField?: boolean
  /** The summary that replaces the beginning of the conversation, if there is one. */
  readonly summary?: AppliedSummary | null
  /** The kinds of media that the model accepts. Default: all. */
  readonly acceptedMediaKinds?: ReadonlySet<MediaKind>
  /** The maximum number of tokens of all items together; `null` for no limit. */
  readonly tokenBudget?: number | null
  /** The complete conversation, if the transforms run on a part of it. Media handles are numbered over all of it. */
  readonly conversation?: readonly Item[]
}

export function listTransforms({
  policy,
  reader,
  unansweredCalls = 'drop',
  summary = null,
  hasNameField = true,
  acceptedMediaKinds,
  tokenBudget = null,
  conversation,
}: TransformListOptions): readonly Transform[] {
  const { window, outputs, reasoning, speakers } = policy
  const { turns, items, tokens } = window
  const { keepTurns: keepRounds, step, cap, expand } = outputs
  const cleaning = [
    // Items before a reset are dropped first, together with summaries and compactions of them.
    dropBeforeReset(),
    // The summary comes before transforms that change items, because it finds its items by identity.
    ...(summary === null ? [] : [applySummary(summary, createSummaryReplacementCheck(reader))]),
    // Markers and details blocks are no part of the conversation, so they are removed before anything is counted.
    stripMarkersFromPrompt(),
    stripDetailsBlocks(),
    // Fake notices are escaped before the gateway adds its own notices.
    escapeFakeNoticesInItems(),
    // Authors are hidden before pruning, which drops an output whose call was hidden.
    ...(speakers.hidden.length === 0 ? [] : [hideItemsOfAuthors(speakers.hidden)]),
    ...(reader === null ? [] : [applyCompaction(reader)]),
  ]
  const edits = [
    // Windows come before shortening, because shortening counts rounds from the first remaining one: its cutoff
    // then stays the same until a window cuts again. Windows count items at full length: shortening them first
    // would reduce the count, and a cut would move back.
    // The turn window (policies count rounds as turns) comes first: the item and token windows keep the latest answer
    // of their list, and would otherwise keep an answer that the turn window drops.
    ...(turns === null ? [] : [keepRecentRounds({ unit: 'turns', maxWeight: turns })]),
    ...(items === null ? [] : [keepRecentRounds({ unit: 'items', maxWeight: items })]),
    ...(tokens === null ? [] : [keepRecentRounds({ unit: 'tokens', maxWeight: tokens })]),
    // Long rounds are trimmed after the windows, which drop only complete rounds.
    ...(items === null ? [] : [trimLongRounds({ unit: 'items', maxWeight: 4 * items })]),
    ...(tokens === null ? [] : [trimLongRounds({ unit: 'tokens', maxWeight: 4 * tokens })]),
    // The token budget comes after the windows, which leave fewer items to fit.
    ...(tokenBudget === null
      ? []
      : [
          fitTokenBudget({
            maxTokens: tokenBudget,
            policy,
            acceptsImages: acceptedMediaKinds?.has('image') ?? true,
          }),
        ]),
    // Media are hidden after the cuts, because media limits count from the first remaining message.
    ...listVisibilityTransforms({
      rules: { ...policy.media, sendsFullOutputs: keepRounds === null },
      acceptedMediaKinds,
      conversation,
    }),
    ...(keepRounds === null
      ? []
      : [shortenOldOutputs({ keepRounds, step, ...readOutputLengths(outputs) })]),
    ...(reasoning.keep === 'conversation' ? [] : [dropExpiredReasoning(reasoning.keep)]),
  ]
  // Orphans (calls and outputs without their partner) are pruned before all cuts, so that no cut counts an orphan, and
  // so that each output follows its call before a cut could separate them.
  const pruning = [
    pruneOrphans(unansweredCalls),
    // Stubs come after pruning, because pruning completes the batch of calls after which a stub is inserted.
    ...(unansweredCalls === 'stub' ? [stubMissingOutputs()] : []),
  ]
  // Speakers are labeled after pruning, which completes groups, and before the cuts, because labeling and merging
  // change the number of rounds and messages. Merging comes first, so that a merged message has one name label.
  const speakerEdits = [
    ...(speakers.merge === 'off' ? [] : [mergeMessagesOfOneAuthor()]),
    labelSpeakersAndAssignRoles(resolveSpeakerLabelOptions(speakers, hasNameField)),
  ]
  // Outputs are capped before the windows, so that windows count a capped output by its final length.
  const caps = cap === null ? [] : [capOutputs({ maxChars: cap, offersExpandTool: expand })]
  const uncut = [...cleaning, ...pruning, ...speakerEdits, ...caps]
  // Pruning runs again, because some of the edits can separate a call from its output.
  return edits.length === 0 ? uncut : [...uncut, ...edits, pruneOrphans()]
}

/**
 * Returns a predicate for compactions of an upstream that `reader` can read. Such a compaction replaces the summary.
 */
function createSummaryReplacementCheck(reader: CompactionReader | null): (item: Item) => boolean {
  return (item) => reader !== null && isUpstreamCompaction(item) && canReadCompaction(item, reader)
}

/**
 * Lists the transforms that insert the texts of the policy. They run after all cuts, so that these texts are never
 * counted, cut or shortened.
 */
export function listPolicyTextTransforms({ notes }: ContextPolicy): readonly Transform[] {
  return notes.entries.length === 0 ? [] : [insertPolicyTexts(notes.entries)]
}

/**
 * Runs the transforms one after the other. Each note gets the name of its transform (`by`) and the index of its
 * item in `items` (`at`). Returns the same list if nothing changes.
 */
export function runTransforms(
  items: readonly Item[],
  transforms: readonly Transform[],
): PipelineResult {
  return continueTransforms(
    { items, notes: [], originalPositions: items.map((_, index) => index) },
    transforms,
  )
}

/** Runs transforms on the result of earlier transforms. Notes refer to the list that the earlier ones started with. */
export function continueTransforms(
  before: PositionedItems,
  transforms: readonly Transform[],
): PipelineResult {
  let { items: current, originalPositions } = before
  const notes = [...before.notes]
  const transformsSoFar: AppliedTransform[] = []
  let traits: number | null = null
  for (const transform of transforms) {
    if (transform.requiredTraits !== undefined) {
      traits ??= detectItemTraits(current)
      if ((traits & transform.requiredTraits) === 0) continue
    }
    const result = transform.run(current, originalPositions, transformsSoFar)
    transformsSoFar.push({ transform, items: current, originalPositions, notes: result.notes })
    for (const note of result.notes) {
      notes.push({ ...translateNoteIndex(note, originalPositions), by: transform.name })
    }
    if (result.items !== current) {
      originalPositions = updatePositions(result, current, originalPositions)
      // Dropping and moving items adds no trait.
      if (result.notes.some(({ did }) => did === 'changed' || did === 'added')) traits = null
    }
    current = result.items
  }
  return { items: current, notes, originalPositions, transforms: transformsSoFar }
}

export interface PipelineResult extends PositionedItems {
  readonly transforms: readonly AppliedTransform[]
}

/** Returns the note with `at` as an index in the original list, or without `at` if the item was added. */
export function translateNoteIndex({ at, ...note }: Note, positions: OriginalPositions): Note {
  const position = at === undefined ? null : (positions[at] ?? null)
  return position === null ? note : { ...note, at: position }
}

/** Returns the original positions of the items in `result`. `positions` are those of `before`. */
function updatePositions(
  { items, notes }: TransformResult,
  before: readonly Item[],
  positions: OriginalPositions,
): OriginalPositions {
  const listIndexes = (change: Note['did']) =>
    new Set(notes.flatMap(({ did, at }) => (did === change && at !== undefined ? [at] : [])))
  if (notes.every(({ did }) => did === 'changed' || did === 'dropped')) {
    if (items.length === before.length) return positions
    const dropped = listIndexes('dropped')
    return positions.filter((_, index) => !dropped.has(index))
  }
  // Items were added or moved. An unchanged item is found by identity. The other items belong to the `changed`
  // notes, in order of their indexes; any that remain were added.
  const positionByItem = new Map(before.map((item, index) => [item, positions[index] ?? null]))
  const changed = [...listIndexes('changed')].toSorted((a, b) => a - b).values()
  return items.map((item) => {
    const position = positionByItem.get(item)
    return position === undefined ? (positions[changed.next().value ?? -1] ?? null) : position
  })
}
