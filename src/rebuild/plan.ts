/** Which transforms a request goes through, and the loop that runs them. */
import type { Item } from '../conversation/item.ts'
import type { Note } from '../conversation/note.ts'
import type { ContextPolicy } from '../conversation/policy.ts'
import { answerCalls } from './answer-calls.ts'
import { applyCompaction, type Reader } from './apply-compaction.ts'
import { boundItems } from './bound-items.ts'
import { pruneOrphans } from './prune-orphans.ts'
import { retainReasoning } from './retain-reasoning.ts'
import { shortenToolOutputs } from './shorten-tool-outputs.ts'
import { stripDetails } from './strip-details.ts'
import { stripMarkers } from './strip-markers.ts'
import type { Step, Transform } from './transform.ts'
import { windowItems } from './window-items.ts'

/** What a plan is made of. */
export interface Rules {
  readonly policy: ContextPolicy
  /** What becomes of a call in the middle that has no output; without a word, it is dropped. */
  readonly unansweredCalls?: 'drop' | 'stub'
  /** Who is to read it. Without one, compactions stay as they are. */
  readonly reader: Reader | null
}

export function planFor({ policy, reader, unansweredCalls = 'drop' }: Rules): readonly Transform[] {
  const { window, outputs, reasoning } = policy
  const { items: maxItems } = window
  const {
    keepTurns: rounds,
    step,
    longerThan: minChars,
    head: headChars,
    tail: tailChars,
  } = outputs
  const first = [
    // Before everything else: what is between a client and the gateway was never said.
    stripMarkers(),
    stripDetails(),
    // What a compaction stands for is not there to be paired or counted.
    ...(reader === null ? [] : [applyCompaction(reader)]),
  ]
  const edits = [
    // Before shortening, which counts rounds from the first that is left: its border then stays put
    // between two cuts, and a list that has been through the plan is not cut or shortened again.
    ...(maxItems === null ? [] : [windowItems({ maxItems })]),
    // After the window, for it thins what the window could only keep whole.
    ...(maxItems === null ? [] : [boundItems({ maxItems: 4 * maxItems })]),
    ...(rounds === null
      ? []
      : [shortenToolOutputs({ rounds, step, minChars, headChars, tailChars })]),
    ...(reasoning.keep === 'conversation' ? [] : [retainReasoning(reasoning.keep)]),
  ]
  const pairs =
    unansweredCalls === 'stub'
      ? // In this order, because a stub goes behind a batch, and a batch is whole once it is pruned.
        [pruneOrphans({ unanswered: 'stub' }), answerCalls()]
      : [pruneOrphans()]
  if (edits.length === 0) return [...first, ...pairs]
  return [
    ...first,
    // Next, because what is never sent must not be counted as an item or part two rounds, and an
    // output must be at its call before anything is cut in between.
    ...pairs,
    ...edits,
    // Last, because each of the above can part a call from its output.
    pruneOrphans(),
  ]
}

/**
 * Runs the transforms one after the other. Notes say who wrote them and where, in `items`, the
 * thing they are about has its place. If nothing changes, the very same list is returned.
 */
export function rebuild(items: readonly Item[], transforms: readonly Transform[]): Rebuilt {
  let current = items
  let places: Places = items.map((_, at) => at)
  const notes: Note[] = []
  for (const { name, run } of transforms) {
    const step = run(current)
    for (const note of step.notes) notes.push({ ...placed(note, places), by: name })
    if (step.items !== current) places = placesAfter(step, current, places)
    current = step.items
  }
  return { items: current, notes, places }
}

export interface Rebuilt extends Step {
  /** Where each item that is left had its place in `items`; `null` for one that was added. */
  readonly places: Places
}

/** Where each item of a list has its place in the first list; `null` for one that was added. */
type Places = readonly (number | null)[]

function placed({ at, ...note }: Note, places: Places): Note {
  const place = at === undefined ? null : (places[at] ?? null)
  return place === null ? note : { ...note, at: place }
}

/**
 * What a transform passed on is known by its identity. Of what it made, in order, the notes tell
 * what it was made from; the rest was added.
 */
function placesAfter(step: Step, before: readonly Item[], places: Places): Places {
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
