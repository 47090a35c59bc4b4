/**
 * Takes events that are like the one before but for their words. That nothing else differs is told
 * from their text alone, without parsing it, and a stream of tokens is mostly made of these. What
 * they said is told later as one such event with all their words: whoever follows the stream stands
 * then where each of them by itself would have left him.
 */
import { frame } from './sse.ts'
import type { SseMessage, WordsAlone } from './stage.ts'

export interface MoreWords {
  /** These events as the client is told them; `null` if not all are like the one that was learned. */
  readonly take: (text: string) => string | null
  /** What was taken, as one event. Nothing more is taken until another one was learned. */
  readonly taken: () => SseMessage | null
  /** From now on others are compared with this event, the last one in `text`, and are told as it is. */
  readonly learn: (text: string, message: SseMessage, told: SseMessage) => void
}

export function moreWords(alone: WordsAlone): MoreWords {
  let form: Form | null = null
  let said = ''
  let newest: readonly string[] | null = null
  const worthwhile = patience()

  return {
    take(text) {
      if (form === null || text.length > LARGE_CHARS || said.length > MUCH_CHARS) return null
      const { raw, told, words } = form
      let values: string[] = []
      let more = ''
      let ours = ''
      for (let at = 0; at < text.length;) {
        values = []
        at = readLike(raw, text, at, values)
        if (at < 0) return null
        more += values[words]
        if (told !== null) ours += filled(told, values)
      }
      said += more
      newest = values
      worthwhile.was()
      return told === null ? text : ours
    },
    taken() {
      const last = newest
      const like = form
      const words = said
      form = newest = null
      said = ''
      if (last === null || like === null) return null
      return { event: like.event, data: filled(like.data, last.with(like.words, words)) }
    },
    learn(text, message, told) {
      if (message.data.length > LARGE_CHARS || !worthwhile.is()) return
      form = formOf(text, message, told, alone)
    },
  }
}

/** A burst is read quickly as it is, and what fits only at first would be read twice. */
const LARGE_CHARS = 64 * 1024
/** Words hold on to the text that they were cut out of: they are read before there are too many. */
const MUCH_CHARS = 16 * 1024

/** Texts that stay, each but the last one with what may stand behind it. */
interface Pieces {
  readonly fixed: readonly string[]
  readonly holes: readonly RegExp[]
}

interface Form {
  readonly event: string | undefined
  readonly raw: Pieces
  readonly data: Pieces
  /** `null`: just as it came. */
  readonly told: Pieces | null
  /** In which hole the words stand. */
  readonly words: number
}

function formOf(
  text: string,
  message: SseMessage,
  told: SseMessage,
  alone: WordsAlone,
): Form | null {
  const read = piecesOf(message.data, alone)
  // Who writes it otherwise has his events read one by one.
  if (read === null || !text.endsWith(`${message.data}\n\n`)) return null
  const end = text.length - message.data.length - 2
  const begin = end === 0 ? 0 : text.lastIndexOf('\n\n', end - 1) + 1
  const { pieces, values, words } = read
  const head = text.slice(begin === 0 ? 0 : begin + 1, end)
  // With other line ends there may be whole events in it.
  if (head.includes('\r')) return null
  const raw = framed(pieces, head)
  const form = { event: message.event, raw, data: pieces, words }
  if (told === message) return { ...form, told: null }
  const ours = piecesOf(told.data, alone)
  const isLike = ours !== null && ours.words === words && isSame(ours.values, values)
  return isLike
    ? { ...form, told: framed(ours.pieces, frame({ ...told, data: '' }).slice(0, -2)) }
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

function piecesOf(data: string, { before, after, more }: WordsAlone): Read | null {
  if (more.test(data)) return null
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
function readLike({ fixed, holes }: Pieces, text: string, from: number, values: string[]): number {
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

function filled({ fixed }: Pieces, values: readonly string[]): string {
  let text = ''
  for (let at = 0; at < fixed.length; at += 1) text += fixed[at] + (values[at] ?? '')
  return text
}

function isSame(some: readonly string[], others: readonly string[]): boolean {
  return some.length === others.length && some.every((value, at) => value === others[at])
}

/** Where no event is like the one before, less and less is learned. */
function patience() {
  let unused = 0
  let wait = 0
  return {
    is(): boolean {
      if (wait > 0) {
        wait -= 1
        return false
      }
      wait = unused
      unused = Math.min(unused * 2 + 1, 63)
      return true
    },
    was(): void {
      unused = wait = 0
    },
  }
}
