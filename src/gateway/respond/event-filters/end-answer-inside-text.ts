/**
 * Ends an answer inside its text, at the position that a detector finds. Text is held back only while the
 * detector is undecided. If another event follows such text, the detector has to decide, so that the events
 * keep their order.
 *
 * An answer that ends early follows the rules of `core/stream-event.ts`: all its items end, and no event
 * follows its terminal event.
 */
import {
  isTerminalEvent,
  type AnnotationAdded,
  type StreamEvent,
  type TextDelta,
  type TokenUsage,
} from '../../../core/stream-event.ts'
import { type Json, isObject } from '../../../core/json/json.ts'
import { trackOpenItems } from './open-item-tracker.ts'
import { NO_OUTPUT } from '../../../core/stream/stream-stage.ts'
import type { EventFilter } from './apply-event-filters.ts'

/**
 * Finds the position in one text at which the answer ends, while the text is streamed. Positions are
 * character offsets from the start of the text.
 */
export interface TextEndDetector {
  /**
   * Reads the next piece of the text. Returns the position up to which the text can be passed on to the
   * client.
   */
  readonly findPassableEnd: (text: string) => number
  /** Decides about the text that is held back. Returns the position up to which the text can be passed on. */
  readonly decideEnd: () => number
  /** True if the answer ends at the position that was returned last. */
  readonly isCutShort: () => boolean
}

/** Creates the filter. Each part of a message gets a detector of its own. */
export function createTextEndFilter(createDetector: () => TextEndDetector): EventFilter {
  const items = trackOpenItems()
  const texts = new Map<string, TextProgress>()
  let current: TextProgress | null = null
  let passed: StreamEvent[] = []
  let isOver = false

  const pass = (event: StreamEvent): void => {
    items.readEvent(event)
    passed.push(event)
  }
  /**
   * Passes on the text up to `end`. If the detector has found the end of the answer there, ends the answer.
   */
  const release = (text: TextProgress, end: number, usage: TokenUsage | null): void => {
    for (const event of text.held.takeUntil(end)) pass(event)
    if (!text.detector.isCutShort()) return
    isOver = true
    passed.push(...items.endOpenItems(text.index), { type: 'answer-ended', finish: 'stop', usage })
  }
  const settle = (usage: TokenUsage | null): void => {
    if (current === null || current.held.isEmpty()) return
    release(current, current.detector.decideEnd(), usage)
  }
  const read = (event: TextDelta): void => {
    if (current === null || !belongsTo(current, event)) {
      settle(null)
      if (isOver) return
      current = findOrCreateProgress(event, texts, createDetector)
    }
    current.held.add(event)
    release(current, current.detector.findPassableEnd(event.text), null)
  }
  const takePassed = (): readonly StreamEvent[] => {
    if (passed.length === 0) return NO_OUTPUT
    const taken = passed
    passed = []
    return taken
  }
  return {
    push(event) {
      if (isOver) return NO_OUTPUT
      if (event.type === 'text-delta') read(event)
      else if (event.type === 'annotation-added' && current !== null && belongsTo(current, event)) {
        // An annotation, e.g. a citation, waits as long as the text that it refers to is held back.
        if (current.held.isEmpty()) pass(event)
        else current.held.add(event)
      } else {
        settle(readTerminalUsage(event))
        if (!isOver) pass(event)
        isOver ||= isTerminalEvent(event)
      }
      return takePassed()
    },
    end() {
      if (!isOver) settle(null)
      return takePassed()
    },
  }
}

interface TextProgress {
  readonly index: number
  readonly part: number
  readonly detector: TextEndDetector
  readonly held: HeldEvents
}

type TextEvent = TextDelta | AnnotationAdded

function belongsTo({ index, part }: TextProgress, event: TextEvent): boolean {
  return index === event.index && part === event.part
}

function findOrCreateProgress(
  { index, part }: TextDelta,
  texts: Map<string, TextProgress>,
  createDetector: () => TextEndDetector,
): TextProgress {
  const key = `${index} ${part}`
  const known = texts.get(key)
  if (known !== undefined) return known
  const text = { index, part, detector: createDetector(), held: createHeldEvents() }
  texts.set(key, text)
  return text
}

type HeldEvents = ReturnType<typeof createHeldEvents>

function createHeldEvents() {
  let held: TextEvent[] = []
  let takenChars = 0
  return {
    isEmpty: () => held.length === 0,
    add: (event: TextEvent) => void held.push(event),
    /**
     * Removes and returns the events up to a position of the text. Splits a delta that contains the
     * position.
     */
    takeUntil(position: number): readonly TextEvent[] {
      let count = 0
      for (const event of held) {
        const end = takenChars + (event.type === 'text-delta' ? event.text.length : 0)
        if (end > position) break
        takenChars = end
        count += 1
      }
      const taken = held
      if (count === held.length) {
        held = []
        return taken
      }
      const next = held[count]
      if (next?.type !== 'text-delta' || position <= takenChars) return held.splice(0, count)
      const [front, rest] = splitDelta(next, position - takenChars)
      takenChars = position
      held = [rest, ...held.slice(count + 1)]
      return [...taken.slice(0, count), front]
    },
  }
}

/**
 * Splits a text delta after `chars` characters. The log probabilities of a token that is split go to the
 * second delta. With the tokens `One` and ` END`, a cut after 4 characters leaves only those of `One` in
 * the first.
 */
function splitDelta(delta: TextDelta, chars: number): readonly [TextDelta, TextDelta] {
  const { text, logprobs } = delta
  const front = { ...delta, text: text.slice(0, chars) }
  const rest = { ...delta, text: text.slice(chars) }
  if (logprobs === undefined) return [front, rest]
  const tokens = countTokensWithin(logprobs, chars)
  return [
    { ...front, logprobs: logprobs.slice(0, tokens) },
    { ...rest, logprobs: logprobs.slice(tokens) },
  ]
}

function countTokensWithin(logprobs: readonly Json[], chars: number): number {
  let readChars = 0
  for (const [index, entry] of logprobs.entries()) {
    const token = isObject(entry) ? entry['token'] : null
    readChars += typeof token === 'string' ? token.length : 0
    if (readChars > chars) return index
  }
  return logprobs.length
}

function readTerminalUsage(event: StreamEvent): TokenUsage | null {
  return isTerminalEvent(event) ? (event.usage ?? null) : null
}
