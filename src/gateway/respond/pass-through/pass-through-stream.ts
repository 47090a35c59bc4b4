/**
 * A stream of an upstream that speaks the client's own language. It is watched and passed on: byte
 * for byte where nothing of it is ours, message for message where ids and echoes are. Nothing is
 * parsed and written again but the few messages that change.
 */
import { isTerminalEvent, type Failure, type StreamEvent } from '../../../core/stream-event.ts'
import type { OutcomeFold } from '../../../core/fold-answer-outcome.ts'
import type { PassThroughPatcher } from '../../../core/ports/dialect-interface.ts'
import type { Decoder } from '../../../providers/provider-interface.ts'
import { closeBrokenAnswer } from '../event-filters/close-broken-answer.ts'
import { createDeltaFastPath } from './delta-fast-path.ts'
import type { ResponseWriter } from '../response-writer-interface.ts'
import {
  formatSseMessages,
  createSseTextDecoder,
  createSseBoundaryBuffer,
} from '../../../core/stream/sse.ts'
import { isDoneMarker, type SseMessage } from '../../../core/stream/stage.ts'

export interface PassThroughOptions {
  readonly decoder: Decoder
  readonly patcher: PassThroughPatcher
  readonly fold: OutcomeFold
  /** Whether the last messages wait until the outcome is safe. */
  readonly isStored: boolean
  /** The same of an answer of which that is not known from the beginning: asked where it ends. */
  readonly isStoring?: () => boolean
}

export function createPassThroughWriter(parts: PassThroughOptions): ResponseWriter {
  const { decoder, patcher, fold } = parts
  const whole = createSseBoundaryBuffer()
  const more = createDeltaFastPath(patcher.textDeltaPattern)
  const sse = createSseTextDecoder()
  const watch = watcher(decoder, fold)
  const passage = passing(parts, watch)
  /** Asked behind every token: found out where something was read. */
  let isOver = false

  /** Follows what was passed on without being read. It only said more, so nothing is sent of it now. */
  const catchUp = (): void => {
    const message = more.taken()
    if (message !== null) passage.sent([message])
  }
  /** What is sent of these events instead; `null` for them as they came. */
  const read = (text: string): readonly SseMessage[] | null => {
    catchUp()
    const messages = sse.push(text)
    const sent = passage.sent(messages)
    const last = messages.at(-1)
    const goesOn = !watch.isOver() && !passage.isHeld()
    if (last !== undefined && goesOn) more.learn(text, last, sent?.at(-1) ?? last)
    isOver = watch.isUnreadable() || (passage.waits() && watch.isOver())
    return sent
  }

  return {
    push(chunk) {
      const bytes = whole.push(chunk)
      if (bytes.length === 0) return bytes
      // Of the very same bytes, so that what is changed and what is not are the same events.
      const text = utf8.decode(bytes)
      const alike = more.take(text)
      if (alike !== null) return alike === text ? bytes : alike
      const sent = read(text)
      return sent === null ? bytes : formatSseMessages(sent)
    },
    isOver: () => isOver,
    isCutShort: watch.isUnreadable,
    close(failure) {
      catchUp()
      const rest = failure === null ? [...sse.push(utf8.decode(whole.rest())), ...sse.end()] : []
      const sent = passage.sent(rest) ?? rest
      watch.close(failure)
      return formatSseMessages(sent)
    },
    outcome: fold.currentOutcome,
    end({ failure }) {
      // What the upstream said at last is true only while the outcome is still what it said.
      if (failure !== null && !watch.failureWasSent())
        return formatSseMessages(patcher.renderFailure(failure))
      return passage.waits() ? passage.ending() : ''
    },
  }
}

/** What goes on of the upstream's messages now, and what waits. */
function passing(
  { patcher, isStored, isStoring = () => isStored }: PassThroughOptions,
  watch: ReturnType<typeof watcher>,
) {
  let held: SseMessage[] | null = null
  let isMarked = false
  return {
    /** `null` if that is all of them, as they came. */
    sent(messages: readonly SseMessage[]): readonly SseMessage[] | null {
      let ours: SseMessage[] | null = held === null ? null : []
      let at = 0
      for (const message of messages) {
        // What an upstream says behind its last word is no part of the answer.
        if (watch.isOver() && (isMarked || !isDoneMarker(message))) {
          ours ??= messages.slice(0, at)
          continue
        }
        isMarked ||= isDoneMarker(message)
        const events = watch.see(message)
        if (watch.isUnreadable()) return ours ?? messages.slice(0, at)
        const mended = patcher.patchMessage(patcher.addMissingCallIds?.(message, events) ?? message)
        if (held === null && isStoring() && patcher.startsEnding(message)) held = []
        // Nearly always nothing changes, and then nothing is gathered.
        if (mended !== message || held !== null) ours ??= messages.slice(0, at)
        if (held === null) ours?.push(mended)
        else held.push(mended)
        at += 1
      }
      return ours
    },
    isHeld: () => held !== null,
    waits: () => isStored || held !== null,
    ending: () => ending(held ?? []),
  }
}

/** Of whole events, so that no character is cut. */
const utf8 = new TextDecoder('utf-8', { ignoreBOM: true })

/** Not every upstream says it, and not every client does without. */
function ending(held: readonly SseMessage[]): string {
  return formatSseMessages(held.some(isDoneMarker) ? held : [...held, { data: '[DONE]' }])
}

/** Follows the upstream's messages through its decoder, to know what came of the answer. */
function watcher(decoder: Decoder, fold: OutcomeFold) {
  let isOver = false
  let isUnreadable = false
  let failureWasSent = false
  const told = (events: readonly StreamEvent[], isByUpstream: boolean): void => {
    for (const event of events) {
      if (isOver) return
      isOver = isTerminalEvent(event)
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
      told(failure === null ? decoder.end() : closeBrokenAnswer(decoder, failure), false),
    isOver: () => isOver,
    /** The message makes no sense, says the decoder: no upstream has this code for its errors. */
    isUnreadable: () => isUnreadable,
    failureWasSent: () => failureWasSent,
  }
}
