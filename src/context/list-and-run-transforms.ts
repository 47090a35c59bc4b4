/** Lists the transforms that edit the items of a request, with the reasons for their order, and runs them. */
import { isUpstreamCompaction } from '../core/items/compaction-item.ts'
import type { Item } from '../core/item.ts'
import type { MediaKind } from '../core/media/content-part-media.ts'
import type { Note } from '../core/note.ts'
import type { ContextPolicy } from '../core/context-policy.ts'
import { createCutFinder } from './find-cuts-by-cost.ts'
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
import { listMediaTransforms } from './media/list-media-transforms.ts'
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
   * The treatment of calls without an output, which most upstreams reject. `drop` (the default) drops them. `stub`
   * gives function and custom calls a placeholder output, and drops other calls, whose output cannot be a text. Both
   * keep calls at the end of the conversation, because the client may still be running these tools.
   */
  readonly unansweredCalls?: 'drop' | 'stub'
  /** The upstream that the items are sent to. It decides which compactions are applied; with `null`, none is. */
  readonly reader: CompactionReader | null
  /** True if the wire has a field for the name of a message's author. Default: true. */
  readonly hasNameField?: boolean
  /** The summary that replaces the beginning of the conversation, if there is one. */
  readonly summary?: AppliedSummary | null
  /** The kinds of media that the model accepts. Default: all. */
  readonly acceptedMediaKinds?: ReadonlySet<MediaKind>
  /** The maximum number of tokens of all items that are sent; `null` for no limit. */
  readonly tokenBudget?: number | null
  /**
   * The complete conversation, if the transforms run on only a part of it. Media handles, e.g. `media_3`, are numbered
   * over the complete conversation.
   */
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
  const findCuts = createCutFinder(policy, MAX_COST_RATIO)
  const cleaning = [
    // Items before a reset are dropped first, so that for all other transforms the conversation begins at the reset.
    dropBeforeReset(),
    // The summary is applied before items change, because it finds the items that it replaces by object identity, and a
    // changed item is a new object.
    ...(summary === null ? [] : [applySummary(summary, createSummaryReplacementCheck(reader))]),
    // Markers and details blocks are no part of the conversation, so they are removed before windows count items and
    // tokens.
    stripMarkersFromPrompt(),
    stripDetailsBlocks(),
    // Notices that users or tools imitate are escaped before the gateway adds its own notices.
    escapeFakeNoticesInItems(),
    // Authors are hidden before pruning: if a call is hidden without its output, pruning then drops the output.
    ...(speakers.hidden.length === 0 ? [] : [hideItemsOfAuthors(speakers.hidden)]),
    ...(reader === null ? [] : [applyCompaction(reader)]),
  ]
  const edits = [
    // Windows come before old outputs are shortened, for two reasons. Shortening counts rounds from the first round
    // that the windows have left, so that its cutoff moves only in steps or when a window cuts again. And windows count
    // outputs at full length: the count would otherwise fall whenever outputs are shortened, and a dropped round would
    // come back. The window of turns (policies count rounds as turns) comes first. The other two windows keep the
    // latest answer of the list that they get. That answer must not be one that the window of turns drops.
    ...(turns === null ? [] : [keepRecentRounds({ unit: 'turns', maxWeight: turns })]),
    ...(items === null ? [] : [keepRecentRounds({ unit: 'items', maxWeight: items })]),
    ...(tokens === null ? [] : [keepRecentRounds({ unit: 'tokens', maxWeight: tokens })]),
    // Long rounds are trimmed after the windows, because the windows drop only complete rounds.
    ...(items === null ? [] : [trimLongRounds({ unit: 'items', maxWeight: 4 * items })]),
    ...(tokens === null ? [] : [trimLongRounds({ unit: 'tokens', maxWeight: 4 * tokens })]),
    // The token budget comes after the windows, so that it drops rounds only if those that the windows leave do not
    // fit.
    ...(tokenBudget === null
      ? []
      : [
          fitTokenBudget({
            maxTokens: tokenBudget,
            policy,
            acceptsImages: acceptedMediaKinds?.has('image') ?? true,
          }),
        ]),
    // Media are hidden after the windows and the token budget, because media limits count from the first message that
    // these leave.
    ...listMediaTransforms({
      rules: policy.media,
      findOldImages: (list) => findCuts(list).images,
      acceptedMediaKinds,
      conversation,
    }),
    ...(keepRounds === null
      ? []
      : [
          shortenOldOutputs({
            keepRounds,
            step,
            ...readOutputLengths(outputs),
            findCuts: (list) => findCuts(list).texts,
          }),
        ]),
    ...(reasoning.keep === 'next_reply' ? [dropExpiredReasoning('next_reply')] : []),
    ...(reasoning.keep === 'open_turn'
      ? [dropExpiredReasoning('open_turn', (list) => findCuts(list).texts)]
      : []),
  ]
  // Orphans (calls and outputs without their partner) are pruned before the windows, so that no window counts an
  // orphan, and so that each output follows its call before a window could separate them.
  const pruning = [
    pruneOrphans(unansweredCalls),
    // Stubs come after pruning, because pruning completes the batch of calls after which a stub is inserted.
    ...(unansweredCalls === 'stub' ? [stubMissingOutputs()] : []),
  ]
  // Speakers are labeled after pruning, which moves outputs to their calls. They are labeled before the windows,
  // because merging and new roles change the number of messages and rounds. Messages are merged before they are
  // labeled, so that a merged message has one name label.
  const speakerEdits = [
    ...(speakers.merge === 'off' ? [] : [mergeMessagesOfOneAuthor()]),
    labelSpeakersAndAssignRoles(resolveSpeakerLabelOptions(speakers, hasNameField)),
  ]
  // Outputs are capped before the windows, so that windows count a capped output by its final length.
  const caps = cap === null ? [] : [capOutputs({ maxChars: cap, offersExpandTool: expand })]
  const uncut = [...cleaning, ...pruning, ...speakerEdits, ...caps]
  // Pruning runs again, because some of `edits` can separate a call from its output.
  return edits.length === 0 ? uncut : [...uncut, ...edits, pruneOrphans()]
}

/**
 * The highest permitted cost of all requests so far relative to full replay. The promised limit is 1.05, for policies
 * without windows and limits; the difference covers that sizes are estimated.
 */
const MAX_COST_RATIO = 1.03

/**
 * Returns a predicate that is true for an item that replaces a summary of the gateway: an upstream's compaction, if
 * `reader` can read it.
 */
function createSummaryReplacementCheck(reader: CompactionReader | null): (item: Item) => boolean {
  return (item) => reader !== null && isUpstreamCompaction(item) && canReadCompaction(item, reader)
}

/**
 * Lists the transforms that insert the texts of the policy field `notes`. They run after all transforms of
 * `listTransforms`, so that no window or limit counts, drops or shortens these texts.
 */
export function listPolicyTextTransforms({ notes }: ContextPolicy): readonly Transform[] {
  return notes.entries.length === 0 ? [] : [insertPolicyTexts(notes.entries)]
}

/**
 * Runs the transforms one after the other. Each note gets the name of its transform (`by`) and the index of its item in
 * `items` (`at`). If nothing changes, the result contains the list `items` itself.
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

/**
 * Runs further transforms on `before`, the result of earlier transforms. The index `at` of each note refers to the list
 * that the first of the earlier transforms got.
 */
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
      // The next transform needs new traits only if items were changed or added: dropping and moving items adds no
      // trait.
      if (result.notes.some(({ did }) => did === 'changed' || did === 'added')) traits = null
    }
    current = result.items
  }
  return { items: current, notes, originalPositions, transforms: transformsSoFar }
}

export interface PipelineResult extends PositionedItems {
  readonly transforms: readonly AppliedTransform[]
}

/**
 * Translates the index `at` of a note from the list before one transform into the list before the first transform. A
 * note about an added item loses its `at`.
 */
export function translateNoteIndex({ at, ...note }: Note, positions: OriginalPositions): Note {
  const position = at === undefined ? null : (positions[at] ?? null)
  return position === null ? note : { ...note, at: position }
}

/**
 * Returns the index that each item of a transform's `result` had before the first transform, or `null` if it was added
 * since. `positions` are these indexes for `before`, the list that the transform got.
 */
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
  // Items were added or moved. An unchanged item is found in `before` by object identity. The other items belong to the
  // `changed` notes, in the order of their indexes; any that remain were added.
  const positionByItem = new Map(before.map((item, index) => [item, positions[index] ?? null]))
  const changed = [...listIndexes('changed')].toSorted((a, b) => a - b).values()
  return items.map((item) => {
    const position = positionByItem.get(item)
    return position === undefined ? (positions[changed.next().value ?? -1] ?? null) : position
  })
}
