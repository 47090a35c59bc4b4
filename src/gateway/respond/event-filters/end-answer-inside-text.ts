/**
 * Ends an answer in the middle of its text, where a watch says so. Text is held back only as long as
 * the watch is in doubt; what is not held back is passed on as the very same event. Everything else
 * that comes resolves the doubt: what was held back goes first.
 *
 * An answer that is ended here obeys the laws of `core/stream-event.ts` like any other, and after
 * it nothing is yielded.
 */
import {
  isTerminalEvent,
  type AnnotationAdded,
  type StreamEvent,
  type TextDelta,
  type TokenUsage,
} from '../../../core/stream-event.ts'
import type { Json } from '../../../core/json/json.ts'
import { isObject } from '../../../core/json/json.ts'
import { trackOpenItems } from './open-item-tracker.ts'
import { NO_OUTPUT, type Stage } from '../../../core/stream/stage.ts'

/** Reads one text as it comes. All places are counted from the beginning of that text. */
export interface TextEndDetector {
  /** Where what may be passed on ends, now that `text` is known as well. */
  readonly read: (text: string) => number
  /** The same when nothing else is waited for. More may be read later all the same. */
  readonly settle: () => number
  /** Whether the text ends there. */
  readonly isCutShort: () => boolean
}

/** A watch is made for every text, which is one part of one message. */
export function createTextEndFilter(
  newWatch: () => TextEndDetector,
): Stage<StreamEvent, StreamEvent> {
  const items = trackOpenItems()
  const texts = new Map<string, Text>()
  let text: Text | null = null
  let out: StreamEvent[] = []
  let over = false

  const pass = (event: StreamEvent): void => {
    items.readEvent(event)
    out.push(event)
  }
  /** Passes on what may be, and ends the answer if its text ends there. */
  const release = (from: Text, until: number, usage: TokenUsage | null): void => {
    for (const event of from.held.takenUntil(until)) pass(event)
    if (!from.watch.isCutShort()) return
    over = true
    out.push(...items.close(from.index), { type: 'answer-ended', finish: 'stop', usage })
  }
  const settle = (usage: TokenUsage | null): void => {
    if (text !== null && !text.held.isEmpty()) release(text, text.watch.settle(), usage)
  }
  const read = (event: TextDelta): void => {
    if (text === null || !isOf(text, event)) {
      settle(null)
      if (over) return
      text = textOf(event, texts, newWatch)
    }
    text.held.add(event)
    release(text, text.watch.read(event.text), null)
  }
  return {
    push(event) {
      if (over) return NO_OUTPUT
      if (event.type === 'text-delta') read(event)
      else if (event.type === 'annotation-added' && text !== null && isOf(text, event)) {
        // What is about a text that is held back waits with it.
        if (text.held.isEmpty()) pass(event)
        else text.held.add(event)
      } else {
        settle(usageIn(event))
        if (!over) pass(event)
        over ||= isTerminalEvent(event)
      }
      return taken()
    },
    end() {
      if (!over) settle(null)
      return taken()
    },
  }

  function taken(): readonly StreamEvent[] {
    if (out.length === 0) return NO_OUTPUT
    const ready = out
    out = []
    return ready
  }
}

interface Text {
  readonly index: number
  readonly part: number
  readonly watch: TextEndDetector
  readonly held: HeldBack
}

type Piece = TextDelta | AnnotationAdded

function isOf({ index, part }: Text, piece: Piece): boolean {
  return index === piece.index && part === piece.part
}

function textOf(
  { index, part }: TextDelta,
  texts: Map<string, Text>,
  newWatch: () => TextEndDetector,
): Text {
  const place = `${index} ${part}`
  const known = texts.get(place)
  if (known !== undefined) return known
  const text = { index, part, watch: newWatch(), held: heldBack() }
  texts.set(place, text)
  return text
}

interface HeldBack {
  readonly isEmpty: () => boolean
  readonly add: (piece: Piece) => void
  /** What stands in front of `place`, counted from the beginning of the text. */
  readonly takenUntil: (place: number) => readonly Piece[]
}

function heldBack(): HeldBack {
  let held: Piece[] = []
  let passed = 0
  return {
    isEmpty: () => held.length === 0,
    add: (piece) => void held.push(piece),
    takenUntil(place) {
      let count = 0
      for (const piece of held) {
        const end = passed + (piece.type === 'text-delta' ? piece.text.length : 0)
        if (end > place) break
        passed = end
        count += 1
      }
      const ready = held
      if (count === held.length) {
        held = []
        return ready
      }
      const next = held[count]
      if (next?.type !== 'text-delta' || place <= passed) return held.splice(0, count)
      const [front, rest] = split(next, place - passed)
      passed = place
      held = [rest, ...held.slice(count + 1)]
      return [...ready.slice(0, count), front]
    },
  }
}

/** A token stays in one piece: with the text that it ends in. */
function split(delta: TextDelta, at: number): readonly [TextDelta, TextDelta] {
  const { text, logprobs } = delta
  const front = { ...delta, text: text.slice(0, at) }
  const rest = { ...delta, text: text.slice(at) }
  if (logprobs === undefined) return [front, rest]
  const tokens = tokensWithin(logprobs, at)
  return [
    { ...front, logprobs: logprobs.slice(0, tokens) },
    { ...rest, logprobs: logprobs.slice(tokens) },
  ]
}

function tokensWithin(logprobs: readonly Json[], chars: number): number {
  let read = 0
  for (const [at, entry] of logprobs.entries()) {
    const token = isObject(entry) ? entry['token'] : null
    read += typeof token === 'string' ? token.length : 0
    if (read > chars) return at
  }
  return logprobs.length
}

function usageIn(event: StreamEvent): TokenUsage | null {
  return isTerminalEvent(event) ? (event.usage ?? null) : null
}
