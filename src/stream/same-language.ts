/**
 * A stream of an upstream that speaks the client's own language. It is watched and passed on: byte
 * for byte where nothing of it is ours, message for message where ids and echoes are. Nothing is
 * parsed and written again but the few messages that change.
 */
import type { Failure, StreamEvent } from '../conversation/event.ts'
import type { OutcomeFold } from '../conversation/outcome.ts'
import type { Retouch } from '../dialect/dialect.ts'
import type { Decoder } from '../provider/provider.ts'
import { brokenOff } from './broken-off.ts'
import type { Rendition } from './rendition.ts'
import { frameAll, sseDecoder, wholeEvents } from './sse.ts'
import type { SseMessage } from './stage.ts'

export interface SameLanguage {
  readonly decoder: Decoder
  readonly retouch: Retouch
  readonly fold: OutcomeFold
  /** Whether the last messages wait until the outcome is safe. */
  readonly isKept: boolean
  /** The same of an answer of which that is not known from the beginning: asked where it ends. */
  readonly isKeeping?: () => boolean
}

export function sameLanguage(parts: SameLanguage): Rendition {
  const { decoder, retouch, fold, isKept, isKeeping = () => isKept } = parts
  const sse = sseDecoder()
  const whole = wholeEvents()
  const watch = watcher(decoder, fold)
  let held: SseMessage[] | null = null

  /** What is sent of the messages now; `null` if that is all of them, as they came. */
  const changed = (messages: readonly SseMessage[]): readonly SseMessage[] | null => {
    let ours: SseMessage[] | null = held === null ? null : []
    let at = 0
    for (const message of messages) {
      const events = watch.see(message)
      if (watch.isUnreadable()) return ours ?? messages.slice(0, at)
      const mended = retouch.message(retouch.calls?.(message, events) ?? message)
      if (held === null && isKeeping() && retouch.isEnding(message)) held = []
      // Nearly always nothing changes, and then nothing is gathered.
      if (mended !== message || held !== null) ours ??= messages.slice(0, at)
      if (held === null) ours?.push(mended)
      else held.push(mended)
      at += 1
    }
    return ours
  }
  const waits = (): boolean => isKept || held !== null

  return {
    push(chunk) {
      const bytes = whole.push(chunk)
      // Of the very same bytes, so that what is changed and what is not are the same events.
      const ours = changed(sse.push(bytes))
      return ours === null ? bytes : frameAll(ours)
    },
    isOver: () => watch.isUnreadable() || (waits() && watch.isOver()),
    isCut: watch.isUnreadable,
    close(failure) {
      const rest = failure === null ? [...sse.push(whole.rest()), ...sse.end()] : []
      const ours = changed(rest) ?? rest
      watch.close(failure)
      return frameAll(ours)
    },
    outcome: fold.now,
    end({ failure }) {
      // What the upstream said at last is true only while the outcome is still what it said.
      if (failure !== null && !watch.failureWasSent()) return frameAll(retouch.broken(failure))
      return waits() ? ending(held ?? []) : ''
    },
  }
}

/** Not every upstream says it, and not every client does without. */
function ending(held: readonly SseMessage[]): string {
  const isDone = held.at(-1)?.data === '[DONE]'
  return frameAll(isDone ? held : [...held, { data: '[DONE]' }])
}

/** Follows the upstream's messages through its decoder, to know what came of the answer. */
function watcher(decoder: Decoder, fold: OutcomeFold) {
  let isOver = false
  let isUnreadable = false
  let failureWasSent = false
  const told = (events: readonly StreamEvent[], isByUpstream: boolean): void => {
    for (const event of events) {
      if (isOver) return
      isOver = event.type === 'answer-ended' || event.type === 'answer-failed'
      if (isByUpstream && event.type === 'answer-failed') {
        isUnreadable = event.failure.code === 'upstream_broken'
        failureWasSent = !isUnreadable
      }
      fold.push(event)
    }
  }
  return {
    see(message: SseMessage) {
      const events = decoder.push(message)
      told(events, true)
      return events
    },
    close: (failure: Failure | null) =>
      told(failure === null ? decoder.end() : brokenOff(decoder, failure), false),
    isOver: () => isOver,
    /** The message makes no sense, says the decoder: no upstream has this code for its errors. */
    isUnreadable: () => isUnreadable,
    failureWasSent: () => failureWasSent,
  }
}
