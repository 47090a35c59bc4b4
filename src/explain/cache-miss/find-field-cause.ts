/** Finds the cause of a difference that is not in an item: in the tools or in another request field. */
import type { JsonObject } from '../../core/json/json.ts'
import type { Note } from '../../core/note.ts'
import {
  causeFromNote,
  causeFromMissingNote,
  type DifferenceCause,
  type DescribeNote,
} from './difference-cause.ts'
import type { ExplanationSummary, Explanation, ClientFieldDigests } from '../build-explanation.ts'

/** The parts of an explanation that are compared. */
export interface ComparedRequest extends Pick<Explanation, 'fates'> {
  readonly about: Pick<ExplanationSummary, 'given'> & {
    readonly upstream: JsonObject
    readonly notes: readonly Note[]
  }
}

export interface RequestPair {
  readonly before: ComparedRequest
  readonly now: ComparedRequest
  /** Wire that encodes the requests. Its notes only follow from decisions of the client or a transform. */
  readonly wire: string
  readonly sentenceOf: DescribeNote
}

/**
 * True if the client changed the field. False if an older version stored one of the requests without
 * digests.
 */
export function differsInClientField(
  name: keyof ClientFieldDigests,
  { before, now }: RequestPair,
): boolean {
  const [old, current] = [before.about.given, now.about.given]
  return old !== undefined && current !== undefined && old[name] !== current[name]
}

const OTHER_TOOLS: DifferenceCause = {
  who: 'client',
  sentence: 'The tools differ from those of the previous request.',
}

/** Finds the cause of a difference in tools: the client first, because other differences follow from its tools. */
export function findToolCause(pair: RequestPair): DifferenceCause | null {
  const { before, now, sentenceOf } = pair
  if (differsInClientField('tools', pair)) return OTHER_TOOLS
  const cause = findFieldCause(pair, (field) => field.startsWith('tool')) ?? findFieldCause(pair)
  if (cause !== null) return cause
  if (before.about.given === undefined || now.about.given === undefined) return OTHER_TOOLS
  // The description of a gateway tool can change with the policy.
  const offered = now.about.notes.find(({ why }) => why === 'house-tool-offered')
  return causeFromNote(offered, sentenceOf)
}

/** Finds a note about a field that only one of the two requests has. */
export function findFieldCause(
  { before, now, wire, sentenceOf }: RequestPair,
  isIncluded: (field: string) => boolean = () => true,
): DifferenceCause | null {
  const [oldNotes, newNotes] = [
    filterFieldNotes(before, isIncluded),
    filterFieldNotes(now, isIncluded),
  ]
  const started = newNotes.filter((note) => !oldNotes.some((other) => isSameNote(note, other)))
  const ended = oldNotes.filter((note) => !newNotes.some((other) => isSameNote(note, other)))
  return (
    causeFromNote(selectMainNote(started, wire), sentenceOf) ??
    causeFromMissingNote(selectMainNote(ended, wire), sentenceOf)
  )
}

/** Returns the first note of a transform; else the first of the wire, whose notes follow from the others. */
function selectMainNote(notes: readonly Note[], wire: string): Note | undefined {
  return notes.find(({ by }) => by !== wire) ?? notes[0]
}

function filterFieldNotes(
  { about }: ComparedRequest,
  isIncluded: (field: string) => boolean,
): readonly Note[] {
  return about.notes.filter(({ field }) => field !== undefined && isIncluded(field))
}

function isSameNote(one: Note, other: Note): boolean {
  return one.why === other.why && one.field === other.field && one.detail === other.detail
}
