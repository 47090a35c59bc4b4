/** Finds the cause of a difference in the tools or in another request field, i.e. not in an item. */
import type { JsonObject } from '../../core/json/json.ts'
import type { Note } from '../../core/note.ts'
import { createCause, createEndedCause, type DifferenceCause } from './difference-cause.ts'
import type { ExplanationSummary, Explanation, ClientFieldDigests } from '../build-explanation.ts'
import type { DescribeNote } from '../describe-notes.ts'

/** The parts of an explanation from which the cause of a difference is derived. */
export interface ComparedRequest extends Pick<Explanation, 'dispositions'> {
  readonly summary: Pick<ExplanationSummary, 'given'> & {
    readonly upstream: JsonObject
    readonly notes: readonly Note[]
  }
}

export interface RequestPair {
  readonly before: ComparedRequest
  readonly now: ComparedRequest
  /**
   * Name of the wire that encodes the requests, e.g. `responses`. It is also the `by` of the encoder's
   * notes.
   */
  readonly wire: string
  readonly describeNote: DescribeNote
}

/**
 * True if the client sent other instructions or tools than in the previous request. False if one of the
 * requests was stored by an older version, which recorded no digests of these fields.
 */
export function hasClientChangedField(
  name: keyof ClientFieldDigests,
  { before, now }: RequestPair,
): boolean {
  const [old, current] = [before.summary.given, now.summary.given]
  return old !== undefined && current !== undefined && old[name] !== current[name]
}

const OTHER_TOOLS: DifferenceCause = {
  who: 'client',
  sentence: 'The tools differ from those of the previous request.',
}

/**
 * Finds the cause of a difference in the tools. A change by the client is named first, because changes by
 * the gateway may follow from it.
 */
export function findToolCause(pair: RequestPair): DifferenceCause | null {
  const { before, now, describeNote } = pair
  if (hasClientChangedField('tools', pair)) return OTHER_TOOLS
  const cause =
    findCauseInFieldNotes(pair, (field) => field.startsWith('tool')) ?? findCauseInFieldNotes(pair)
  if (cause !== null) return cause
  if (before.summary.given === undefined || now.summary.given === undefined) return OTHER_TOOLS
  // As a last resort, names the note that gateway tools are offered: the policy may have changed the
  // description of one.
  const offered = now.summary.notes.find(({ why }) => why === 'house-tool-offered')
  return createCause(offered, describeNote)
}

/**
 * Finds a note about a request field that only one of the two requests has. Returns it as the cause; null
 * without such a note. `isIncluded` selects the fields.
 */
export function findCauseInFieldNotes(
  { before, now, wire, describeNote }: RequestPair,
  isIncluded: (field: string) => boolean = () => true,
): DifferenceCause | null {
  const oldNotes = filterFieldNotes(before, isIncluded)
  const newNotes = filterFieldNotes(now, isIncluded)
  const started = newNotes.filter((note) => !oldNotes.some((other) => isSameNote(note, other)))
  const ended = oldNotes.filter((note) => !newNotes.some((other) => isSameNote(note, other)))
  return (
    createCause(selectMainNote(started, wire), describeNote) ??
    createEndedCause(selectMainNote(ended, wire), describeNote)
  )
}

/**
 * Returns the first note that is not the encoder's, or else the first note. The encoder is rarely the
 * cause, because it adapts a request to earlier decisions.
 */
function selectMainNote(notes: readonly Note[], wire: string): Note | undefined {
  return notes.find(({ by }) => by !== wire) ?? notes[0]
}

function filterFieldNotes(
  { summary }: ComparedRequest,
  isIncluded: (field: string) => boolean,
): readonly Note[] {
  return summary.notes.filter(({ field }) => field !== undefined && isIncluded(field))
}

function isSameNote(one: Note, other: Note): boolean {
  return one.why === other.why && one.field === other.field && one.detail === other.detail
}
