/**
 * How an event is written: what of its text stays when the model says more, and where in it stands what
 * changes. Another one that is written so differs from it in nothing else.
 */
import { formatSseMessage } from '../../../core/stream/sse.ts'
import type { SseMessage, TextDeltaPattern } from '../../../core/stream/stage.ts'

/** Texts that stay, each but the last one with what may stand behind it. */
interface Pieces {
  readonly fixed: readonly string[]
  readonly holes: readonly RegExp[]
}

export interface DeltaTemplate {
  readonly event: string | undefined
  readonly raw: Pieces
  readonly data: Pieces
  /** `null`: just as it came. */
  readonly told: Pieces | null
  /** In which hole the words stand. */
  readonly words: number
}

export function deriveDeltaTemplate(
  text: string,
  message: SseMessage,
  told: SseMessage,
  alone: TextDeltaPattern,
): DeltaTemplate | null {
  const read = piecesOf(message.data, alone)
  // Who writes it otherwise has his events read one by one.
  if (read === null || !text.endsWith(`${message.data}\n\n`)) return null
  const end = text.length - message.data.length - 2
  const border = text.lastIndexOf('\n\n', end - 1)
  const head = text.slice(border < 0 ? 0 : border + 2, end)
  // With other line ends there may be whole events in it.
  if (head.includes('\r')) return null
  const { pieces, values, words } = read
  const raw = framed(pieces, head)
  const form = { event: message.event, raw, data: pieces, words }
  if (told === message) return { ...form, told: null }
  const ours = piecesOf(told.data, alone)
  const isLike = ours !== null && ours.words === words && isSame(ours.values, values)
  return isLike
    ? { ...form, told: framed(ours.pieces, formatSseMessage({ ...told, data: '' }).slice(0, -2)) }
    : null
}

function framed({ fixed, holes }: Pieces, before: string): Pieces {
  const last = fixed.length - 1
  const whole = fixed.map((piece, at) => (at === last ? `${piece}\n\n` : piece))
  return { fixed: whole.with(0, before + whole[0]), holes }
}

/** What a string and a number of JSON are made of. */
// oxlint-disable-next-line no-control-regex -- JSON allows none in a string
const STRING = /[^"\\\u0000-\u001F]*(?:\\(?:["\\/bfnrt]|u[\dA-Fa-f]{4})[^"\\\u0000-\u001F]*)*/y
const NUMBER = /(?:0|[1-9]\d*)/y

/** What no two events have in common, and nobody asks for. */
const VARIES = /"obfuscation": ?"|"sequence_number": ?(?=\d)/g

interface Read {
  readonly pieces: Pieces
  readonly values: readonly string[]
  readonly words: number
}

function piecesOf(
  data: string,
  { before, after, excludedPatterns }: TextDeltaPattern,
): Read | null {
  if (excludedPatterns.some((sign) => sign.test(data))) return null
  const [found] = before.exec(data) ?? []
  if (found === undefined) return null
  const holes = [...data.matchAll(VARIES)].map(({ 0: name, index }) => index + name.length)
  holes.push(found.length)
  holes.sort((one, other) => one - other)
  const fixed: string[] = []
  const kinds: RegExp[] = []
  const values: string[] = []
  let at = 0
  for (const hole of holes) {
    const kind = data[hole - 1] === '"' ? STRING : NUMBER
    const value = readAt(kind, data, hole)
    if (value === null || hole < at) return null
    fixed.push(data.slice(at, hole))
    kinds.push(kind)
    values.push(value)
    at = hole + value.length
    if (hole !== found.length) continue
    // What is blank may mean less than words do.
    if (isBlank(value) || !after.test(data.slice(at))) return null
  }
  fixed.push(data.slice(at))
  return { pieces: { fixed, holes: kinds }, values, words: holes.indexOf(found.length) }
}

function isBlank(value: string): boolean {
  return (JSON.parse(`"${value}"`) as string).trim() === ''
}

/** Where the event ends that begins there; -1 if it is another one. */
export function matchDeltaTemplate(
  { fixed, holes }: Pieces,
  text: string,
  from: number,
  values: string[],
): number {
  let at = from
  for (let piece = 0; piece < fixed.length; piece += 1) {
    const same = fixed[piece] ?? ''
    // Compared at once, which `startsWith` does not do.
    if (text.slice(at, at + same.length) !== same) return -1
    at += same.length
    const hole = holes[piece]
    if (hole === undefined) return at
    const value = readAt(hole, text, at)
    if (value === null) return -1
    values.push(value)
    at += value.length
  }
  return at
}

function readAt(kind: RegExp, text: string, at: number): string | null {
  kind.lastIndex = at
  return kind.test(text) ? text.slice(at, kind.lastIndex) : null
}

export function fillDeltaTemplate({ fixed }: Pieces, values: readonly string[]): string {
  let text = ''
  for (let at = 0; at < fixed.length; at += 1) text += fixed[at] + (values[at] ?? '')
  return text
}

function isSame(some: readonly string[], others: readonly string[]): boolean {
  return some.length === others.length && some.every((value, at) => value === others[at])
}
