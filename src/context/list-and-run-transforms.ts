/** Lists the transforms that a request goes through, with the reasons for their order, and runs them. */
import { isUpstreamCompaction } from '../core/items/compaction-item.ts'
import type { Item } from '../core/item.ts'
import type { MediaKind } from '../core/media/content-part-media.ts'
import type { Note } from '../core/note.ts'
import type { ContextPolicy } from '../core/context-policy.ts'
import { dropBeforeReset } from './windows/drop-before-reset.ts'
import { stubMissingOutputs } from './tool-calls/stub-missing-outputs.ts'
import { applyCompaction } from './summaries/apply-compaction.ts'
import { applySummary, type AppliedSummary } from './summaries/apply-summary.ts'
import { trimLongRounds } from './windows/trim-long-round.ts'
import { capOutputs } from './tool-outputs/cap-outputs.ts'
import { escapeNoticesInItems } from './cleaning/escape-notices-in-items.ts'
import { fitTokenBudget } from './windows/fit-token-budget.ts'
import { hideAuthors } from './speakers/hide-authors.ts'
import { mergeConsecutiveMessages } from './speakers/merge-messages-of-one-author.ts'
import { insertPolicyTexts } from './insert-policy-texts.ts'
import { listVisibilityTransforms } from './media/list-visibility-transforms.ts'
import { pruneOrphans } from './tool-calls/prune-orphans.ts'
import { canReadCompaction, type CompactionSupport } from './summaries/can-read-compaction.ts'
import { dropExpiredReasoning } from './reasoning/drop-expired-reasoning.ts'
import { readOutputLengths } from './tool-outputs/shorten-output.ts'
import { shortenOldOutputs } from './tool-outputs/shorten-old-outputs.ts'
import { stripDetailsBlocks } from './cleaning/strip-details-blocks.ts'
import { stripMarkers } from './cleaning/strip-markers-from-prompt.ts'
import { resolveSpeakerLabelOptions, labelSpeakers } from './speakers/label-speakers.ts'
import { scanItems } from './scan-items.ts'
import type {
  AppliedTransform,
  OriginalPositions,
  PositionedResult,
  Transform,
  TransformResult,
} from './transform-interface.ts'
import { keepRecentRounds } from './windows/keep-recent-rounds.ts'

export interface TransformListOptions {
  readonly policy: ContextPolicy
  /**
   * The treatment of a call without an output, unless the call is in the last batch: `stub` adds a
   * placeholder output, `drop` (the default) removes the call.
   */
  readonly unansweredCalls?: 'drop' | 'stub'
  /** The upstream that will read the items. With `null`, compactions stay unchanged. */
  readonly reader: CompactionSupport | null
  /** True if the wire has a field for the speaker's name. Default: true. */
  readonly hasNames?: boolean
  /** The summary that replaces the beginning of the conversation, if there is one. */
  readonly summary?: AppliedSummary | null
  /** The kinds of media that the model accepts. Default: all. */
  readonly sees?: ReadonlySet<MediaKind>
  /** The maximum total weight of the items in tokens; `null` for no limit. */
  readonly tokenBudget?: number | null
  /** The complete conversation, if the transforms run on a part of it. */
  readonly conversation?: readonly Item[]
}

export function listTransforms({
  policy,
  reader,
  unansweredCalls = 'drop',
  summary = null,
  hasNames = true,
  sees,
  tokenBudget = null,
  conversation,
}: TransformListOptions): readonly Transform[] {
  const { window, outputs, reasoning, speakers } = policy
  const { turns, items, tokens } = window
  const { keepTurns: rounds, step, cap, expand } = outputs
  const first = [
    // A reset comes before summaries and compactions, which may replace items from before the reset.
    dropBeforeReset(),
    // The summary finds the items that it replaces by identity, so it comes before any transform that changes
    // items. The later transforms then have fewer items to process.
    ...(summary === null ? [] : [applySummary(summary, createCompactionReader(reader))]),
    // Markers and blocks are removed before anything is counted: they are no part of the conversation.
    stripMarkers(),
    stripDetailsBlocks(),
    // Fake notices are escaped before the gateway adds its notices.
    escapeNoticesInItems(),
    // Authors are hidden before pairing, because an output may lose its call. A placeholder counts as a user message.
    ...(speakers.hidden.length === 0 ? [] : [hideAuthors(speakers.hidden)]),
    ...(reader === null ? [] : [applyCompaction(reader)]),
  ]
  const edits = [
    // Windows come before shortening, which counts rounds from the first remaining one: its cutoff then stays the
    // same between two cuts, and a second run of the pipeline cuts and shortens nothing more. They also come
    // before anything is shortened or dropped because its round is over, which would move a cut back.
    // Policies count rounds as turns. The turn window runs first: the item and token windows would otherwise
    // keep an answer that it drops.
    ...(turns === null ? [] : [keepRecentRounds({ by: 'turns', maxWeight: turns })]),
    ...(items === null ? [] : [keepRecentRounds({ by: 'items', maxWeight: items })]),
    ...(tokens === null ? [] : [keepRecentRounds({ by: 'tokens', maxWeight: tokens })]),
    // Long rounds are trimmed after the windows, which can only keep a round complete.
    ...(items === null ? [] : [trimLongRounds({ by: 'items', maxWeight: 4 * items })]),
    ...(tokens === null ? [] : [trimLongRounds({ by: 'tokens', maxWeight: 4 * tokens })]),
    // The token budget comes after the windows, which leave fewer items to fit.
    ...(tokenBudget === null
      ? []
      : [
          fitTokenBudget({
            maxTokens: tokenBudget,
            policy,
            seesImages: sees?.has('image') ?? true,
          }),
        ]),
    // Like shortening, media transforms count from the first remaining message.
    ...listVisibilityTransforms({
      rules: policy.media,
      outputsStay: rounds === null,
      sees,
      conversation,
    }),
    ...(rounds === null
      ? []
      : [shortenOldOutputs({ rounds, step, ...readOutputLengths(outputs) })]),
    ...(reasoning.keep === 'conversation' ? [] : [dropExpiredReasoning(reasoning.keep)]),
  ]
  const pairs =
    unansweredCalls === 'stub'
      ? // Pruning comes first, because a stub follows a batch of calls, which pruning makes complete.
        [pruneOrphans({ unanswered: 'stub' }), stubMissingOutputs()]
      : [pruneOrphans()]
  // Speakers come after pruning, when groups are complete, and before rounds and messages are counted, whose
  // number they change. Merging comes first, so that a merged message has one name label.
  const voices = [
    ...(speakers.merge === 'off' ? [] : [mergeConsecutiveMessages()]),
    labelSpeakers(resolveSpeakerLabelOptions(speakers, hasNames)),
  ]
  // Outputs are capped before the windows, so that these count a capped output by its final length.
  const caps = cap === null ? [] : [capOutputs({ maxChars: cap, expand })]
  if (edits.length === 0) return [...first, ...pairs, ...voices, ...caps]
  return [
    ...first,
    // Pairing comes before all cuts: an orphan must not be counted as an item or split a round, and an output
    // must follow its call before a cut can separate them.
    ...pairs,
    ...voices,
    ...caps,
    ...edits,
    // Pruning runs again, because each of the edits can separate a call from its output.
    pruneOrphans(),
  ]
}

/** Returns a test for upstream-made compactions that this upstream can read; they replace any earlier summary. */
function createCompactionReader(reader: CompactionSupport | null): (item: Item) => boolean {
  return (item) => reader !== null && isUpstreamCompaction(item) && canReadCompaction(item, reader)
}

/**
 * Lists the transforms that run after all cuts, so that their additions are never counted, cut or
 * shortened. Only the check of reasoning runs later, because it needs the final list.
 */
export function listAdditionTransforms({ notes }: ContextPolicy): readonly Transform[] {
  return notes.entries.length === 0 ? [] : [insertPolicyTexts(notes.entries)]
}

/**
 * Runs the transforms one after the other. Each note gets the transform's name (`by`) and the position
 * in `items` of its item (`at`). Returns the same list if nothing changes.
 */
export function runTransforms(
  items: readonly Item[],
  transforms: readonly Transform[],
): PipelineResult {
  return continueTransforms({ items, notes: [], places: items.map((_, at) => at) }, transforms)
}

/** Runs further transforms on the result of earlier ones. */
export function continueTransforms(
  before: PositionedResult,
  transforms: readonly Transform[],
): PipelineResult {
  let { items: current, places } = before
  const notes = [...before.notes]
  const stages: AppliedTransform[] = []
  let traits: number | null = null
  for (const transform of transforms) {
    if (transform.needs !== undefined) {
      traits ??= scanItems(current)
      if ((traits & transform.needs) === 0) continue
    }
    const result = transform.run(current, places, stages)
    stages.push({ transform, items: current, places, notes: result.notes })
    for (const note of result.notes) {
      notes.push({ ...locateNote(note, places), by: transform.name })
    }
    if (result.items !== current) {
      places = updatePlaces(result, current, places)
      // Dropping and moving items adds no trait.
      if (result.notes.some(({ did }) => did === 'changed' || did === 'added')) traits = null
    }
    current = result.items
  }
  return { items: current, notes, places, stages }
}

export interface PipelineResult extends PositionedResult {
  readonly stages: readonly AppliedTransform[]
}

function locateNote({ at, ...note }: Note, places: OriginalPositions): Note {
  const position = at === undefined ? null : (places[at] ?? null)
  return position === null ? note : { ...note, at: position }
}

function updatePlaces(
  result: TransformResult,
  before: readonly Item[],
  places: OriginalPositions,
): OriginalPositions {
  const isInOrder = result.notes.every(({ did }) => did === 'changed' || did === 'dropped')
  if (!isInOrder) return findPlaces(result, before, places)
  if (result.items.length === before.length) return places
  const dropped = new Uint8Array(before.length)
  for (const { did, at } of result.notes) if (did === 'dropped' && at !== undefined) dropped[at] = 1
  return places.filter((_, index) => dropped[index] === 0)
}

/**
 * Finds the positions after items were added or moved. An unchanged item is found by identity. The other
 * items belong to the `changed` notes, in order; any that remain were added.
 */
function findPlaces(
  result: TransformResult,
  before: readonly Item[],
  places: OriginalPositions,
): OriginalPositions {
  const placeByItem = new Map(before.map((item, index) => [item, places[index] ?? null]))
  const changed = listChangedIndexes(result.notes).values()
  return result.items.map((item) => {
    const place = placeByItem.get(item)
    if (place !== undefined) return place
    const index = changed.next().value
    return index === undefined ? null : (places[index] ?? null)
  })
}

/** Returns the indexes of the changed items, each once: an item may have several notes. */
function listChangedIndexes(notes: readonly Note[]): readonly number[] {
  const indexes = notes.flatMap(({ did, at }) =>
    did === 'changed' && at !== undefined ? [at] : [],
  )
  return [...new Set(indexes)].toSorted((a, b) => a - b)
}
