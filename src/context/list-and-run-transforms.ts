/** Which transforms a request goes through, and the loop that runs them. */
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
import { mergeConsecutiveMessages } from './speakers/merge-consecutive-messages.ts'
import { insertPolicyTexts } from './insert-policy-texts.ts'
import { listVisibilityTransforms } from './media/list-visibility-transforms.ts'
import { pruneOrphans } from './tool-calls/prune-orphans.ts'
import { canReadCompaction, type CompactionSupport } from './summaries/can-read-compaction.ts'
import { dropExpiredReasoning } from './reasoning/drop-expired-reasoning.ts'
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

/** What a plan is made of. */
export interface TransformListOptions {
  readonly policy: ContextPolicy
  /** What becomes of a call in the middle that has no output; without a word, it is dropped. */
  readonly unansweredCalls?: 'drop' | 'stub'
  /** Who is to read it. Without one, compactions stay as they are. */
  readonly reader: CompactionSupport | null
  /** Whether its wire has a field for who speaks; without a word, it has. */
  readonly hasNames?: boolean
  /** What stands for the beginning of the conversation, if anything does. */
  readonly summary?: AppliedSummary | null
  /** Which kinds of media it can see, hear or read; without a word, all. */
  readonly sees?: ReadonlySet<MediaKind>
  /** What the model has room for, in tokens as items are weighed, if the conversation is to fit that. */
  readonly room?: number | null
  /** The whole conversation, if a part of it is all that the plan is given. */
  readonly conversation?: readonly Item[]
}

export function listTransforms({
  policy,
  reader,
  unansweredCalls = 'drop',
  summary = null,
  hasNames = true,
  sees,
  room = null,
  conversation,
}: TransformListOptions): readonly Transform[] {
  const { window, outputs, reasoning, speakers } = policy
  const { turns, items, tokens } = window
  const {
    keepTurns: rounds,
    step,
    longerThan: minChars,
    head: headChars,
    tail: tailChars,
    cap,
    expand,
  } = outputs
  const first = [
    // Before a summary or a compaction is told, which may stand for what was said before the reset.
    dropBeforeReset(),
    // Before all that change an item: it knows what it stands for by the items as they came, and what that is need
    // not be looked at any more.
    ...(summary === null ? [] : [applySummary(summary, compactedFor(reader))]),
    // Before anything is counted: what is between a client and the gateway was never said.
    stripMarkers(),
    stripDetailsBlocks(),
    // Before there are notices of ours, although it would know them.
    escapeNoticesInItems(),
    // Before the pairs, because an output may lose its call. A placeholder counts as what was said.
    ...(speakers.hidden.length === 0 ? [] : [hideAuthors(speakers.hidden)]),
    // What a compaction stands for is not there to be paired or counted.
    ...(reader === null ? [] : [applyCompaction(reader)]),
  ]
  const edits = [
    // Before shortening, which counts rounds from the first that is left: its border then stays put
    // between two cuts, and a list that has been through the plan is not cut or shortened again. And
    // because what is shortened or dropped when a turn closes would move a cut back. Turns go first:
    // an answer that they leave out is not called back.
    ...(turns === null ? [] : [keepRecentRounds({ by: 'turns', most: turns })]),
    ...(items === null ? [] : [keepRecentRounds({ by: 'items', most: items })]),
    ...(tokens === null ? [] : [keepRecentRounds({ by: 'tokens', most: tokens })]),
    // After the windows, for it thins what these could only keep whole.
    ...(items === null ? [] : [trimLongRounds({ by: 'items', most: 4 * items })]),
    ...(tokens === null ? [] : [trimLongRounds({ by: 'tokens', most: 4 * tokens })]),
    // Behind all that leaves less to be made to fit.
    ...(room === null
      ? []
      : [fitTokenBudget({ most: room, policy, seesImages: sees?.has('image') ?? true })]),
    // Like shortening, they count from the first message that is left.
    ...listVisibilityTransforms({
      rules: policy.media,
      outputsStay: rounds === null,
      sees,
      conversation,
    }),
    ...(rounds === null
      ? []
      : [shortenOldOutputs({ rounds, step, minChars, headChars, tailChars })]),
    ...(reasoning.keep === 'conversation' ? [] : [dropExpiredReasoning(reasoning.keep)]),
  ]
  const pairs =
    unansweredCalls === 'stub'
      ? // In this order, because a stub goes behind a batch, and a batch is whole once it is pruned.
        [pruneOrphans({ unanswered: 'stub' }), stubMissingOutputs()]
      : [pruneOrphans()]
  // Once the groups are whole, and before rounds and messages are counted, of which there are fewer
  // afterwards, or others. Merged first: a name then stands once in front of a run.
  const voices = [
    ...(speakers.merge === 'off' ? [] : [mergeConsecutiveMessages()]),
    labelSpeakers(resolveSpeakerLabelOptions(speakers, hasNames)),
  ]
  // Before the windows, which count an output as long as it will ever be sent.
  const caps = cap === null ? [] : [capOutputs({ maxChars: cap, expand })]
  if (edits.length === 0) return [...first, ...pairs, ...voices, ...caps]
  return [
    ...first,
    // Next, because what is never sent must not be counted as an item or part two rounds, and an
    // output must be at its call before anything is cut in between.
    ...pairs,
    ...voices,
    ...caps,
    ...edits,
    // Last, because each of the above can part a call from its output.
    pruneOrphans(),
  ]
}

/** Of what an upstream has compacted, what can be read stands for more than a summary in front of it. */
function compactedFor(reader: CompactionSupport | null): (item: Item) => boolean {
  return (item) => {
    return reader !== null && isUpstreamCompaction(item) && canReadCompaction(item, reader)
  }
}

/**
 * What is added to the list when it is cut, also to what the model can take, so that nothing of it is
 * counted, cut or shortened. Only reasoning is judged behind it, by the list as it is sent.
 */
export function listAdditionTransforms({ notes }: ContextPolicy): readonly Transform[] {
  return notes.entries.length === 0 ? [] : [insertPolicyTexts(notes.entries)]
}

/**
 * Runs the transforms one after the other. Notes say who wrote them and where, in `items`, the
 * thing they are about has its place. If nothing changes, the very same list is returned.
 */
export function runTransforms(
  items: readonly Item[],
  transforms: readonly Transform[],
): PipelineResult {
  return continueTransforms({ items, notes: [], places: items.map((_, at) => at) }, transforms)
}

/** Runs further transforms on a list that has been through some. */
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
    const step = transform.run(current, places, stages)
    stages.push({ transform, items: current, places, notes: step.notes })
    for (const note of step.notes) notes.push({ ...placed(note, places), by: transform.name })
    if (step.items !== current) {
      places = placesAfter(step, current, places)
      // Dropping and moving items adds no trait.
      if (step.notes.some(({ did }) => did === 'changed' || did === 'added')) traits = null
    }
    current = step.items
  }
  return { items: current, notes, places, stages }
}

export interface PipelineResult extends PositionedResult {
  readonly stages: readonly AppliedTransform[]
}

function placed({ at, ...note }: Note, places: OriginalPositions): Note {
  const place = at === undefined ? null : (places[at] ?? null)
  return place === null ? note : { ...note, at: place }
}

function placesAfter(
  step: TransformResult,
  before: readonly Item[],
  places: OriginalPositions,
): OriginalPositions {
  const isInPlace = step.notes.every(({ did }) => did === 'changed' || did === 'dropped')
  if (!isInPlace) return placesAnew(step, before, places)
  const dropped = new Uint8Array(before.length)
  for (const { did, at } of step.notes) if (did === 'dropped' && at !== undefined) dropped[at] = 1
  return step.items.length === before.length ? places : places.filter((_, at) => dropped[at] === 0)
}

/**
 * What a transform passed on is known by its identity. Of what it made, in order, the notes tell
 * what it was made from; the rest was added.
 */
function placesAnew(
  step: TransformResult,
  before: readonly Item[],
  places: OriginalPositions,
): OriginalPositions {
  const placeOf = new Map(before.map((item, at) => [item, places[at] ?? null]))
  const changed = changedPlaces(step.notes).values()
  return step.items.map((item) => {
    const place = placeOf.get(item)
    if (place !== undefined) return place
    const at = changed.next().value
    return at === undefined ? null : (places[at] ?? null)
  })
}

/** There may be several notes on one item. */
function changedPlaces(notes: readonly Note[]): readonly number[] {
  const places = notes.flatMap(({ did, at }) => (did === 'changed' && at !== undefined ? [at] : []))
  return [...new Set(places)].toSorted((a, b) => a - b)
}
