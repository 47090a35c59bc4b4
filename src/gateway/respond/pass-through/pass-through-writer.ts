/**
 * Passes a stream through to a client that speaks the upstream's dialect. The bytes are sent unchanged,
 * except for SSE messages that the dialect patches, e.g. to replace the response id. Every message is also
 * decoded, to collect the outcome of the answer.
 */
import type { OutcomeCollector } from '../../../core/collect-answer-outcome.ts'
import type { PassThroughPatcher } from '../../../core/ports/dialect-interface.ts'
import { isTerminalEvent, type Failure, type StreamEvent } from '../../../core/stream-event.ts'
import {
  formatSseMessages,
  createSseTextDecoder,
  createSseBoundaryBuffer,
  isDoneMarker,
  type SseMessage,
} from '../../../core/stream/sse.ts'
import type { Decoder } from '../../../providers/provider-interface.ts'
import { closeBrokenAnswer } from '../event-filters/apply-event-filters.ts'
import { CLIENT_DISCONNECTED, type ResponseWriter } from '../response-writer-interface.ts'
import { createDeltaFastPath } from './delta-fast-path.ts'

export interface PassThroughOptions {
  readonly decoder: Decoder
  /** Names the upstream in a message with its error, and removes keys. Returns any other message unchanged. */
  readonly attributeError: (message: SseMessage) => SseMessage
  readonly patcher: PassThroughPatcher
  readonly fold: OutcomeCollector
  /** True if the client requested storage. The last messages then wait until the turn is stored. */
  readonly isStored: boolean
  /**
   * True if the turn is being stored, even if the client did not request it, e.g. because it has reasoning.
   * Called for each message.
   */
  readonly isStoredAtEnd?: () => boolean
}

export function createPassThroughWriter(options: PassThroughOptions): ResponseWriter {
  const { decoder, patcher, fold } = options
  const boundaries = createSseBoundaryBuffer()
  const fastPath = createDeltaFastPath(patcher.textDeltaPattern)
  const sse = createSseTextDecoder()
  const observer = observeStream(decoder, fold)
  const messagePatcher = createMessagePatcher(options, observer)
  /** True once the answer has ended and no more bytes are needed. */
  let isOver = false

  /** Decodes the events that passed through the fast path, which the client has received already. */
  const decodeMergedDelta = (): void => {
    const message = fastPath.takeMergedDelta()
    if (message !== null) messagePatcher.patch([message])
  }
  /** Returns the messages to send in place of the text; null if its bytes are sent unchanged. */
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
    endBody(failure) {
      decodeMergedDelta()
      const rest =
        failure === null ? [...sse.push(utf8.decode(boundaries.rest())), ...sse.end()] : []
      const patched = messagePatcher.patch(rest) ?? rest
      observer.close(failure)
      return formatSseMessages(patched)
    },
    abandon() {
      decodeMergedDelta()
      observer.close(CLIENT_DISCONNECTED)
    },
    getOutcome: fold.currentOutcome,
    renderEnd({ failure }) {
      // Renders a failure that the upstream itself did not send, e.g. that the turn could not be stored.
      if (failure !== null && !observer.hasUpstreamFailure())
        return formatSseMessages(patcher.renderFailure(failure))
      return messagePatcher.waitsForStore() ? messagePatcher.renderEnding() : ''
    },
  }
}

/** Decodes and patches the upstream's messages. Holds back the last messages until the turn is stored. */
function createMessagePatcher(
  { attributeError, patcher, isStored, isStoredAtEnd = () => isStored }: PassThroughOptions,
  observer: ReturnType<typeof observeStream>,
) {
  let held: SseMessage[] | null = null
  let hasDoneMarker = false
  return {
    /** Returns the messages to send now; null if all of them are sent unchanged. */
    patch(messages: readonly SseMessage[]): readonly SseMessage[] | null {
      let patched: SseMessage[] | null = held === null ? null : []
      let count = 0
      for (const message of messages) {
        // After the terminal event, only one `[DONE]` is passed on.
        if (observer.isOver() && (hasDoneMarker || !isDoneMarker(message))) {
          patched ??= messages.slice(0, count)
          continue
        }
        hasDoneMarker ||= isDoneMarker(message)
        const attributed = attributeError(message)
        const events = observer.decode(attributed)
        if (observer.isUnreadable()) return patched ?? messages.slice(0, count)
        const result = patcher.patchMessage(
          patcher.addMissingCallIds?.(attributed, events) ?? attributed,
        )
        if (held === null && isStoredAtEnd() && patcher.startsEnding(message)) held = []
        // A new list is built only if a message changes, which is rare.
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

/**
 * Decodes only complete events, so no character is split. Keeps a byte order mark, so that encoding the
 * text gives the same bytes.
 */
const utf8 = new TextDecoder('utf-8', { ignoreBOM: true })

/**
 * Renders the messages that were held back. Adds `[DONE]` if the upstream did not send it, because some
 * clients wait for it.
 */
function renderEnding(held: readonly SseMessage[]): string {
  return formatSseMessages(held.some(isDoneMarker) ? held : [...held, { data: '[DONE]' }])
}

/** Decodes the upstream's messages and folds their events into the outcome. */
function observeStream(decoder: Decoder, fold: OutcomeCollector) {
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
    /**
     * True if the decoder could not read a message. It then fails with the code `upstream_broken`, which is
     * never that of an upstream's own error.
     */
    isUnreadable: () => isUnreadable,
    /** True if the upstream itself sent an error, which was passed on. */
    hasUpstreamFailure: () => hasUpstreamFailure,
  }
}
