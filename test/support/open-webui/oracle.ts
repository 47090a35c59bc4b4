/**
 * The test oracle: computes the prompt of a client with a perfect memory from the chat and the model's real
 * answers, and reports missing and unexpected lines of a request.
 */
import type { AnswerNode, Node } from './chat-tree.ts'
import { callLine, line } from './prompt-lines.ts'
import { pythonJson } from './python-json.ts'
import type { PlannedAnswer, ScriptPart } from './script.ts'
import { shownText } from './stored-item.ts'
import { toolResult } from './tools.ts'
import type { ChatMessage } from './to-messages.ts'
import { MARKER, markersIn } from './check-answer.ts'

/** The expected lines of one question or answer. */
export interface Expected {
  readonly lines: readonly string[]
  /** The text of an answer that the user edited, whose position within the answer is unknown; else null. */
  readonly words: string | null
  /** True if a marker or an unchanged text can still identify the answer. */
  readonly isFindable: boolean
  /** Lines that may be there or not: reasoning that was stopped in the middle, if the wire supports that. */
  readonly cut?: readonly string[]
}

export interface AnswerRecord {
  /** Everything that the model produced for an answer, round by round. */
  readonly rounds: readonly PlannedAnswer[]
  readonly isEdited: boolean
  /**
   * True if the user's edit left the answer's marker in place. A marker of a later continuation does not
   * count.
   */
  readonly keepsMarker: boolean
  /** True if the answer was continued, so that its text belongs to several turns. */
  readonly isContinued: boolean
  /** True if the user deleted a call, so that reasoning that led to it may be left out. */
  readonly isShortened?: boolean
  /** The texts before it at the time when it was made, as the client then had them (`saidBefore`). */
  readonly textsBefore: string
}

/** What names the answers of a chat. */
export interface KnownReferences {
  readonly hasMarkers: boolean
  /** True if headers name each message, so that an edit does not matter. */
  readonly isNamed: boolean
}

/**
 * Returns the expected lines up to the latest question. `questions` are the user messages of this request in
 * path order; a suggestion comes after its question.
 */
export function computeExpectedPrompt(
  path: readonly Node[],
  truthOf: (id: string) => AnswerRecord,
  questions: readonly ChatMessage[],
  { hasMarkers, isNamed }: KnownReferences,
): readonly Expected[] {
  const open = [...questions]
  const told = path.map((node, at) => {
    if (node.kind === 'question') return expectedQuestion(open.shift())
    const truth = truthOf(node.id)
    if (truth.isShortened === true) return { ...expectedAnswer(node, truth), isFindable: false }
    const isFindable = isNamed
      ? true
      : hasMarkers
        ? isMarked(node, truth)
        : isUnchanged(truth, path.slice(0, at))
    return { ...expectedAnswer(node, truth), isFindable }
  })
  return [...told, ...open.map(expectedQuestion)]
}

/**
 * True if an answer without a marker can still be found by its text: that and all texts before it are
 * unchanged.
 */
export function isUnchanged(truth: AnswerRecord, path: readonly Node[]): boolean {
  const { rounds, isEdited, isContinued, textsBefore } = truth
  const isHeard = rounds.every((round) => round.stall === null && !isSilent(round))
  return !isEdited && !isContinued && isHeard && joinTextsBefore(path) === textsBefore
}

/** True if a client without markers has nothing of the answer. */
function isSilent({ parts, isRefused }: PlannedAnswer): boolean {
  return !isRefused && parts.every(({ type }) => type === 'thought' || type === 'hosted')
}

/**
 * Joins texts and calls, because a continued answer in the middle of a chat changes the texts before the next
 * one. Empty answers are skipped, because not every client sends them.
 */
export function joinTextsBefore(path: readonly Node[]): string {
  const texts = path.map((node) =>
    node.kind === 'question'
      ? `Q ${node.text}`
      : removeWhiteSpace(removeMarkers(shownText(node.items))) + callsIn(node),
  )
  return texts.filter((text) => text !== '').join('\n')
}

function callsIn({ items }: AnswerNode): string {
  return items.map((item) => (item.type === 'function_call' ? ` ${item.callId}` : '')).join('')
}

function isMarked(node: AnswerNode, { isEdited, keepsMarker }: AnswerRecord): boolean {
  return !isEdited || (keepsMarker && hasMarkerInLastText(node))
}

/** True if the editable text, which is the last one, has a marker that the user might delete. */
export function hasMarkerInLastText({ items }: AnswerNode): boolean {
  const edited = items.findLast((item) => item.type === 'message')
  return edited !== undefined && markersIn(edited.text).length > 0
}

function expectedQuestion(message: ChatMessage | undefined): Expected {
  const { content = '' } = message ?? {}
  const texts =
    typeof content === 'string' ? [content] : content.map(({ text }) => String(text ?? '[image]'))
  return {
    lines: texts.map((text) => line('user', removeMarkers(text))),
    words: null,
    isFindable: true,
  }
}

/** An answer without any item is not part of the prompt. */
function expectedAnswer(node: AnswerNode, { rounds, isEdited }: AnswerRecord): Expected {
  if (node.items.length === 0) return expectedRounds([], null)
  return expectedRounds(rounds, isEdited ? shownText(node.items) : null)
}

/** `words` is the text of a user who edited the answer. */
export function expectedRounds(rounds: readonly PlannedAnswer[], words: string | null): Expected {
  return {
    lines: rounds.flatMap(linesOfRound),
    words: words === null ? null : removeWhiteSpace(removeMarkers(words)),
    isFindable: true,
    cut: rounds.flatMap(cutThought),
  }
}

function cutThought({ parts, stall, sentText }: PlannedAnswer): readonly string[] {
  const isThought = stall !== null && parts[stall]?.type === 'thought'
  return isThought ? [line('thought', sentText)] : []
}

/** A stopped round did not run its tools, and has as much of its last text as the client received. */
function linesOfRound({ parts, stall, sentText, isRefused }: PlannedAnswer): readonly string[] {
  if (isRefused) return []
  if (stall === null) return [...parts.map(lineOf), ...parts.flatMap(resultOf)]
  const whole = parts.slice(0, stall).filter(({ type }) => type !== 'call')
  const isCut = parts[stall]?.type === 'text' && sentText.trim() !== ''
  return dropTrailingReasoning([...whole.map(lineOf), ...(isCut ? [line('text', sentText)] : [])])
}

/** Drops reasoning that nothing follows. */
function dropTrailingReasoning(lines: readonly string[]): readonly string[] {
  return lines.filter(
    (one, at) => !isThought(one) || lines.slice(at).find((next) => !isThought(next)) !== undefined,
  )
}

function isThought(text: string): boolean {
  return text.startsWith('thought: ')
}

function lineOf(part: ScriptPart): string {
  if (part.type === 'call') return callLine(part.name, part.input)
  if (part.type === 'hosted') return line('hosted', part.query)
  return line(part.type === 'refusal' ? 'text' : part.type, part.text)
}

function resultOf(part: ScriptPart): readonly string[] {
  if (part.type !== 'call') return []
  return [line('result', toolResult(part.name, pythonJson(part.input)))]
}

export interface Difference {
  /** Expected lines that were not sent. */
  readonly missing: readonly string[]
  /** Sent lines that were not expected. */
  readonly strange: readonly string[]
  readonly isInOrder: boolean
}

/** Returns null if the upstream got exactly the expected lines. */
export function comparePrompt(
  expected: readonly Expected[],
  received: readonly string[],
): Difference | null {
  const there = new Set(received)
  const wanted = mergeAdjacent(expected.map((one) => allowLostLines(one, there)))
  const cut = new Set(expected.flatMap((one) => one.cut ?? []))
  const got = splitRuns(received.filter((one) => !cut.has(one)))
  const isAlike = wanted.length === got.length
  const left = wanted.flatMap((run) => normalizeLines(run.lines, isAlike ? run.words : null))
  const right = got.flatMap((run, at) => {
    const isReworded = isAlike && typeof wanted[at]?.words === 'string'
    return normalizeLines(run, isReworded ? joinTexts(run) : null)
  })
  const missing = subtractLines(left, right)
  const strange = subtractLines(right, left)
  const isInOrder = left.every((one, at) => one === right[at])
  return missing.length + strange.length === 0 && isInOrder ? null : { missing, strange, isInOrder }
}

/** Makes stored-only lines of an answer that cannot be found optional; its text is still required. */
function allowLostLines(expected: Expected, there: ReadonlySet<string>): Expected {
  if (expected.isFindable) return expected
  const { words, lines } = expected
  const known = lines.filter((one) => there.has(one) || !/^(thought|hosted): /.test(one))
  return { ...expected, lines: known, words: words ?? joinTexts(lines) }
}

/** Merges adjacent questions, and adjacent answers. */
function mergeAdjacent(expected: readonly Expected[]): readonly Expected[] {
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

/** Joins adjacent texts. If the user edited the answer, all of its texts become one line at its end. */
function normalizeLines(lines: readonly string[], words: string | null): readonly string[] {
  if (words !== null) return [...lines.filter((one) => !isText(one)), `words: ${words}`]
  const told: string[] = []
  for (const one of lines) {
    const last = told.at(-1)
    if (!isText(one)) told.push(one)
    else if (last !== undefined && isText(last))
      told[told.length - 1] = last + removeWhiteSpace(textIn(one))
    else told.push(TEXT + removeWhiteSpace(textIn(one)))
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

function joinTexts(lines: readonly string[]): string {
  return removeWhiteSpace(lines.filter(isText).map(textIn).join(''))
}

/** Removes markers, also in the form into which a converter changed them. */
function removeMarkers(text: string): string {
  return text.replaceAll(DAMAGED_MARKER, '').replaceAll(MARKER, '')
}

/** A marker as HTML entities, or alone in a fence. */
const DAMAGED_MARKER =
  /&#91;[0-9A-HJKMNP-TV-Z]{20}&#93;: #|```\s*\[[0-9A-HJKMNP-TV-Z]{20}\]: #\s*```/g

/** Removes white space, because the number of blank lines around a marker does not matter. */
function removeWhiteSpace(text: string): string {
  return text.replaceAll(/\s+/g, '')
}

function subtractLines(lines: readonly string[], others: readonly string[]): readonly string[] {
  const left = [...others]
  return lines.filter((one) => {
    const at = left.indexOf(one)
    if (at >= 0) left.splice(at, 1)
    return at < 0
  })
}
