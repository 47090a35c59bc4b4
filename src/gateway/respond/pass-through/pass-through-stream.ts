/**
 * Passes a stream through to a client that speaks the upstream's dialect. The bytes are sent unchanged, except for
 * messages with ids and echoed fields, which are patched. Every message is also decoded, to store the answer.
 */
import { isTerminalEvent, type Failure, type StreamEvent } from '../../../core/stream-event.ts'
import type { OutcomeFold } from '../../../core/fold-answer-outcome.ts'
import type { PassThroughPatcher } from '../../../core/ports/dialect-interface.ts'
import type { Decoder } from '../../../providers/provider-interface.ts'
import { closeBrokenAnswer } from '../event-filters/apply-event-filters.ts'
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
  /** True if the client requested storage, so that the last messages wait until the turn is stored. */
  readonly isStored: boolean
  /** Called at the end: true if the gateway stores the answer unrequested, e.g. because of its reasoning. */
  readonly isStoring?: () => boolean
}

export function createPassThroughWriter(options: PassThroughOptions): ResponseWriter {
  const { decoder, patcher, fold } = options
  const boundaries = createSseBoundaryBuffer()
  const fastPath = createDeltaFastPath(patcher.textDeltaPattern)
  const sse = createSseTextDecoder()
  const observer = observeStream(decoder, fold)
  const messagePatcher = createMessagePatcher(options, observer)
  /** Copy of `observer.isOver()`, because it is read after every chunk. */
  let isOver = false

  /** Decodes the events that took the fast path. They are sent already. */
  const decodeMergedDelta = (): void => {
    const message = fastPath.takeMergedDelta()
    if (message !== null) messagePatcher.patch([message])
  }
  /** Returns the messages to send instead of these events; null if they are sent unchanged. */
  const readEvents = (text: string): readonly SseMessage[] | null => {
    decodeMergedDelta()
    const messages = sse.push(text)
    const patched = messagePatcher.patch(messages)
    const last = messages.at(-1)
    if (last !== undefined && !observer.isOver() && !messagePatcher.isHolding())
      fastPath.learnTemplate(text, last, patched?.at(-1) ?? last)
    isOver = observer.isUnreadable() || (messagePatcher.waitsForStore() && observer.isOver())
    return patched
  }

  return {
    push(chunk) {
      const bytes = boundaries.push(chunk)
      if (bytes.length === 0) return bytes
      const text = utf8.decode(bytes)
      const deltas = fastPath.matchDeltas(text)
      if (deltas !== null) return deltas === text ? bytes : deltas
      const patched = readEvents(text)
      return patched === null ? bytes : formatSseMessages(patched)
    },
    isOver: () => isOver,
    isCutShort: observer.isUnreadable,
    close(failure) {
      decodeMergedDelta()
      const rest =
        failure === null ? [...sse.push(utf8.decode(boundaries.rest())), ...sse.end()] : []
      const patched = messagePatcher.patch(rest) ?? rest
      observer.close(failure)
      return formatSseMessages(patched)
    },
    outcome: fold.currentOutcome,
    end({ failure }) {
      // Renders a failure that the upstream did not send itself, e.g. that the turn could not be stored.
      if (failure !== null && !observer.hasUpstreamFailure())
        return formatSseMessages(patcher.renderFailure(failure))
      return messagePatcher.waitsForStore() ? messagePatcher.renderEnding() : ''
    },
  }
}

/** Decodes and patches the upstream's messages, and holds back those of the ending until the turn is stored. */
function createMessagePatcher(
  { patcher, isStored, isStoring = () => isStored }: PassThroughOptions,
  observer: ReturnType<typeof observeStream>,
) {
  let held: SseMessage[] | null = null
  let hasDoneMarker = false
  return {
    /** Returns the messages to send now; null if that is all of them, unchanged. */
    patch(messages: readonly SseMessage[]): readonly SseMessage[] | null {
      let patched: SseMessage[] | null = held === null ? null : []
      let count = 0
      for (const message of messages) {
        // After the last event, only one `[DONE]` is passed on.
        if (observer.isOver() && (hasDoneMarker || !isDoneMarker(message))) {
          patched ??= messages.slice(0, count)
          continue
        }
        hasDoneMarker ||= isDoneMarker(message)
        const events = observer.decode(message)
        if (observer.isUnreadable()) return patched ?? messages.slice(0, count)
        const result = patcher.patchMessage(patcher.addMissingCallIds?.(message, events) ?? message)
        if (held === null && isStoring() && patcher.startsEnding(message)) held = []
        // A list is built only once a message changes, which is rare.
        if (result !== message || held !== null) patched ??= messages.slice(0, count)
        if (held === null) patched?.push(result)
        else held.push(result)
        count += 1
      }
      return patched
    },
    isHolding: () => held !== null,
    waitsForStore: () => isStored || held !== null,
    renderEnding: () => renderEnding(held ?? []),
  }
}

/** Decodes complete events only, so that no character is cut. Keeps a byte order mark, to compare texts with bytes. */
const utf8 = new TextDecoder('utf-8', { ignoreBOM: true })

/** Adds `[DONE]` if the upstream did not send it, because some clients wait for it. */
function renderEnding(held: readonly SseMessage[]): string {
  return formatSseMessages(held.some(isDoneMarker) ? held : [...held, { data: '[DONE]' }])
}

/** Decodes the upstream's messages and folds their events into the outcome. */
function observeStream(decoder: Decoder, fold: OutcomeFold) {
  let isOver = false
  let isUnreadable = false
  let hasUpstreamFailure = false
  const foldEvents = (events: readonly StreamEvent[], isFromUpstream: boolean): void => {
    for (const event of events) {
      if (isOver) return
      isOver = isTerminalEvent(event)
      if (isFromUpstream && event.type === 'answer-failed') {
        isUnreadable = event.failure.code === 'upstream_broken'
        hasUpstreamFailure = !isUnreadable
      }
      fold.push(event)
    }
  }
  return {
    decode(message: SseMessage) {
      const events = decoder.push(message)
      foldEvents(events, true)
      return events
    },
    close: (failure: Failure | null) =>
      foldEvents(failure === null ? decoder.end() : closeBrokenAnswer(decoder, failure), false),
    isOver: () => isOver,
    /** True if the decoder cannot read a message. Only decoders use the code `upstream_broken`, no upstream does. */
    isUnreadable: () => isUnreadable,
    /** True if the upstream sent an error of its own, which was passed on. */
    hasUpstreamFailure: () => hasUpstreamFailure,
  }
}
