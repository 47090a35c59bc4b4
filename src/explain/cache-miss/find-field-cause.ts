/** What differs between two requests beside what was said: tools, and what was decided about fields. */
import type { JsonObject } from '../../core/json/json.ts'
import type { Note } from '../../core/note.ts'
import {
  causeFromNote,
  causeFromEndedNote,
  type DifferenceCause,
  type DescribeNote,
} from './difference-cause.ts'
import type { ExplanationSummary, Explanation, ClientFieldDigests } from '../build-explanation.ts'

/** Of a request, what tells why it is as it is. */
export interface ComparedRequest extends Pick<Explanation, 'fates'> {
  readonly about: Pick<ExplanationSummary, 'given'> & {
    readonly upstream: JsonObject
    readonly notes: readonly Note[]
  }
}

export interface RequestPair {
  readonly before: ComparedRequest
  readonly now: ComparedRequest
  /** What writes the requests. What it changes, it changes behind everybody else. */
  readonly wire: string
  readonly sentenceOf: DescribeNote
}

/** Whether the client asks with another one. Of what an older version has kept nobody knows. */
export function differsInClientField(
  what: keyof ClientFieldDigests,
  { before, now }: RequestPair,
): boolean {
  const [then, given] = [before.about.given, now.about.given]
  return then !== undefined && given !== undefined && then[what] !== given[what]
}

const OTHER_TOOLS: DifferenceCause = {
  who: 'client',
  sentence: 'The request has other tools than the one before it.',
}

/** The client's own go before what is made of them, for that follows from it. */
export function findToolCause(sides: RequestPair): DifferenceCause | null {
  const { before, now, sentenceOf } = sides
  if (differsInClientField('tools', sides)) return OTHER_TOOLS
  const cause = findFieldCause(sides, (field) => field.startsWith('tool')) ?? findFieldCause(sides)
  if (cause !== null) return cause
  if (before.about.given === undefined || now.about.given === undefined) return OTHER_TOOLS
  // A tool of the gateway says of itself what the policy has it say.
  const offered = now.about.notes.find(({ why }) => why === 'house-tool-offered')
  return offered === undefined ? null : causeFromNote(offered, sentenceOf)
}

/** What was decided about a field and was not before, or was before and is not any more. */
export function findFieldCause(
  { before, now, wire, sentenceOf }: RequestPair,
  isMeant: (field: string) => boolean = () => true,
): DifferenceCause | null {
  const [then, today] = [notesOn(before, isMeant), notesOn(now, isMeant)]
  const begun = today.filter((note) => !then.some((other) => isSame(note, other)))
  const ended = then.filter((note) => !today.some((other) => isSame(note, other)))
  const first = firstOf(begun, wire)
  if (first !== undefined) return causeFromNote(first, sentenceOf)
  const last = firstOf(ended, wire)
  return last === undefined ? null : causeFromEndedNote(last, sentenceOf)
}

/** What a wire says of a field follows from what others have decided. */
function firstOf(notes: readonly Note[], wire: string): Note | undefined {
  return notes.find(({ by }) => by !== wire) ?? notes[0]
}

function notesOn({ about }: ComparedRequest, isMeant: (field: string) => boolean): readonly Note[] {
  return about.notes.filter(({ field }) => field !== undefined && isMeant(field))
}

function isSame(one: Note, other: Note): boolean {
  return one.why === other.why && one.field === other.field && one.detail === other.detail
}
