/**
 * The perfect memory: what a model would be sent if nothing had ever been forgotten. It knows the
 * chat, and what the model has really said; so it can tell for every request what is missing in it, and
 * what should not be there.
 */
import type { AnswerNode, Node } from './chat-tree.ts'
import { callLine, line } from './lines.ts'
import { pythonJson } from './python-json.ts'
import type { Planned, ScriptBeat } from './script.ts'
import { shownText } from './stored-item.ts'
import { toolResult } from './tools.ts'
import type { ChatMessage } from './to-messages.ts'
import { MARKER, markersIn } from './watch.ts'

/** One question, or one answer, as a model should be given it. */
export interface Expected {
  readonly lines: readonly string[]
  /** What a person has made of an answer's words. Where they stood in it nobody can know then. */
  readonly words: string | null
  /** Whether there is anything left by which the answer can be known again. */
  readonly isFindable: boolean
  /** What may be told or not: a thought that was stopped in the middle, where a wire can bear that. */
  readonly cut?: readonly string[]
}

export interface Truth {
  /** All that the model said for an answer, round by round, in order. */
  readonly rounds: readonly Planned[]
  readonly isEdited: boolean
  /** Whether who edited it has left its marker. One of what was said since is no marker of that. */
  readonly keepsMarker: boolean
  /** Whether it was gone on with, so that its words are those of several turns. */
  readonly isContinued: boolean
  /** What had been said before it when it was made, in the words that the client then had (`saidBefore`). */
  readonly behind: string
}

/**
 * Up to the newest question. `questions` are the user's messages as they are sent this time, in the
 * order of the path; a suggestion stands behind the question that it is for.
 */
export function expectedOf(
  path: readonly Node[],
  truthOf: (id: string) => Truth,
  questions: readonly ChatMessage[],
  hasMarkers: boolean,
): readonly Expected[] {
  const open = [...questions]
  const told = path.map((node, at) => {
    if (node.kind === 'question') return expectedQuestion(open.shift())
    const truth = truthOf(node.id)
    const isFindable = hasMarkers ? isMarked(node, truth) : isAsSaid(truth, path.slice(0, at))
    return { ...expectedAnswer(node, truth), isFindable }
  })
  return [...told, ...open.map(expectedQuestion)]
}

/** By its words alone an answer is known as long as they, and those before them, are as they were. */
export function isAsSaid(truth: Truth, path: readonly Node[]): boolean {
  const { rounds, isEdited, isContinued, behind } = truth
  const isHeard = rounds.every((round) => round.stall === null && !isSilent(round))
  return !isEdited && !isContinued && isHeard && saidBefore(path) === behind
}

/** Whether a client that is given no marker has nothing of it. */
function isSilent({ beats, isRefused }: Planned): boolean {
  return !isRefused && beats.every(({ type }) => type === 'thought' || type === 'hosted')
}

/**
 * In words and calls, for whoever continues an answer that stands in the middle of a chat has changed
 * what stands before the next. An answer that is empty is as none, because not every client brings it
 * back.
 */
export function saidBefore(path: readonly Node[]): string {
  const texts = path.map((node) =>
    node.kind === 'question'
      ? `Q ${node.text}`
      : squeezed(unmarked(shownText(node.items))) + callsIn(node),
  )
  return texts.filter((text) => text !== '').join('\n')
}

function callsIn({ items }: AnswerNode): string {
  return items.map((item) => (item.type === 'function_call' ? ` ${item.callId}` : '')).join('')
}

function isMarked(node: AnswerNode, { isEdited, keepsMarker }: Truth): boolean {
  return !isEdited || (keepsMarker && endsMarked(node))
}

/** A person who edits an answer may delete the marker that they see, which is that of its last text. */
export function endsMarked({ items }: AnswerNode): boolean {
  const edited = items.findLast((item) => item.type === 'message')
  return edited !== undefined && markersIn(edited.text).length > 0
}

function expectedQuestion(message: ChatMessage | undefined): Expected {
  const { content = '' } = message ?? {}
  const texts =
    typeof content === 'string' ? [content] : content.map(({ text }) => String(text ?? '[image]'))
  return {
    lines: texts.map((text) => line('user', unmarked(text))),
    words: null,
    isFindable: true,
  }
}

/** An answer of which nothing is left is not there, whatever was said. */
function expectedAnswer(node: AnswerNode, { rounds, isEdited }: Truth): Expected {
  if (node.items.length === 0) return expectedRounds([], null)
  return expectedRounds(rounds, isEdited ? shownText(node.items) : null)
}

/** `words` are those of a person who has edited the answer. */
export function expectedRounds(rounds: readonly Planned[], words: string | null): Expected {
  return {
    lines: rounds.flatMap(linesOfRound),
    words: words === null ? null : squeezed(unmarked(words)),
    isFindable: true,
    cut: rounds.flatMap(cutThought),
  }
}

function cutThought({ beats, stall, toldPart }: Planned): readonly string[] {
  const isThought = stall !== null && beats[stall]?.type === 'thought'
  return isThought ? [line('thought', toldPart)] : []
}

/** What was stopped left its tools unasked. Of its last text there is what the client had heard. */
function linesOfRound({ beats, stall, toldPart, isRefused }: Planned): readonly string[] {
  if (isRefused) return []
  if (stall === null) return [...beats.map(lineOf), ...beats.flatMap(resultOf)]
  const whole = beats.slice(0, stall).filter(({ type }) => type !== 'call')
  const isCut = beats[stall]?.type === 'text' && toldPart.trim() !== ''
  return withoutLooseThoughts([...whole.map(lineOf), ...(isCut ? [line('text', toldPart)] : [])])
}

/** Reasoning is nothing without what it led to. */
function withoutLooseThoughts(lines: readonly string[]): readonly string[] {
  return lines.filter(
    (one, at) => !isThought(one) || lines.slice(at).find((next) => !isThought(next)) !== undefined,
  )
}

function isThought(text: string): boolean {
  return text.startsWith('thought: ')
}

function lineOf(beat: ScriptBeat): string {
  if (beat.type === 'call') return callLine(beat.name, beat.input)
  if (beat.type === 'hosted') return line('hosted', beat.query)
  return line(beat.type === 'refusal' ? 'text' : beat.type, beat.text)
}

function resultOf(beat: ScriptBeat): readonly string[] {
  if (beat.type !== 'call') return []
  return [line('result', toolResult(beat.name, pythonJson(beat.input)))]
}

export interface Difference {
  /** What a perfect memory would have sent. */
  readonly missing: readonly string[]
  /** What it would not have sent. */
  readonly strange: readonly string[]
  readonly isInOrder: boolean
}

/** `null` where the upstream was sent exactly what it should have been. */
export function difference(
  expected: readonly Expected[],
  received: readonly string[],
): Difference | null {
  const there = new Set(received)
  const wanted = runsOf(expected.map((one) => withoutLost(one, there)))
  const cut = new Set(expected.flatMap((one) => one.cut ?? []))
  const got = splitRuns(received.filter((one) => !cut.has(one)))
  const isAlike = wanted.length === got.length
  const left = wanted.flatMap((run) => normalised(run.lines, isAlike ? run.words : null))
  const right = got.flatMap((run, at) => {
    const isReworded = isAlike && typeof wanted[at]?.words === 'string'
    return normalised(run, isReworded ? wordsOf(run) : null)
  })
  const missing = without(left, right)
  const strange = without(right, left)
  const isInOrder = left.every((one, at) => one === right[at])
  return missing.length + strange.length === 0 && isInOrder ? null : { missing, strange, isInOrder }
}

/** What only a memory knows may be gone where nothing is left to find it by; no word may. */
function withoutLost(expected: Expected, there: ReadonlySet<string>): Expected {
  if (expected.isFindable) return expected
  const { words, lines } = expected
  const known = lines.filter((one) => there.has(one) || !/^(thought|hosted): /.test(one))
  return { ...expected, lines: known, words: words ?? wordsOf(lines) }
}

/** Questions that follow one another are one run, as are answers. */
function runsOf(expected: readonly Expected[]): readonly Expected[] {
  const runs: Expected[] = []
  for (const next of expected.filter(
    ({ lines, words }) => lines.length > 0 || (words ?? '') !== '',
  )) {
    const last = runs.at(-1)
    const isSame = last !== undefined && isQuestion(last.lines) === isQuestion(next.lines)
    if (isSame) runs[runs.length - 1] = { ...last, lines: [...last.lines, ...next.lines] }
    else runs.push(next)
  }
  return runs
}

function splitRuns(lines: readonly string[]): readonly (readonly string[])[] {
  const runs: string[][] = []
  for (const one of lines) {
    const last = runs.at(-1)
    if (last !== undefined && isQuestion(last) === isQuestion([one])) last.push(one)
    else runs.push([one])
  }
  return runs
}

function isQuestion(lines: readonly string[]): boolean {
  return lines[0]?.startsWith('user: ') ?? false
}

/**
 * Texts that follow one another are one, wherever there was a break between them. With words of a
 * person's own, all the words of an answer are one line at its end.
 */
function normalised(lines: readonly string[], words: string | null): readonly string[] {
  if (words !== null) return [...lines.filter((one) => !isText(one)), `words: ${words}`]
  const told: string[] = []
  for (const one of lines) {
    const last = told.at(-1)
    if (!isText(one)) told.push(one)
    else if (last !== undefined && isText(last))
      told[told.length - 1] = last + squeezed(textIn(one))
    else told.push(TEXT + squeezed(textIn(one)))
  }
  return told
}

const TEXT = 'text: '

function isText(one: string): boolean {
  return one.startsWith(TEXT)
}

function textIn(one: string): string {
  return one.slice(TEXT.length)
}

function wordsOf(lines: readonly string[]): string {
  return squeezed(lines.filter(isText).map(textIn).join(''))
}

/** No marker is ever part of what a model is told, nor what a converter made of it. */
function unmarked(text: string): string {
  return text.replaceAll(DAMAGED_MARKER, '').replaceAll(MARKER, '')
}

/** As HTML, or alone in a fence. */
const DAMAGED_MARKER =
  /&#91;[0-9A-HJKMNP-TV-Z]{20}&#93;: #|```\s*\[[0-9A-HJKMNP-TV-Z]{20}\]: #\s*```/g

/** Markers leave blank lines behind, and how many of them is nobody's business. */
function squeezed(text: string): string {
  return text.replaceAll(/\s+/g, '')
}

function without(lines: readonly string[], others: readonly string[]): readonly string[] {
  const left = [...others]
  return lines.filter((one) => {
    const at = left.indexOf(one)
    if (at >= 0) left.splice(at, 1)
    return at < 0
  })
}
