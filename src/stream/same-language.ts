/**
 * A stream of an upstream that speaks the client's own language. It is watched and passed on: byte
 * for byte where nothing of it is ours, message for message where ids and echoes are. Nothing is
 * parsed and written again but the few messages that change.
 */
import type { Failure } from '../conversation/event.ts'
import type { OutcomeFold } from '../conversation/outcome.ts'
import type { Retouch } from '../dialect/dialect.ts'
import type { Decoder } from '../provider/provider.ts'
import type { Rendition } from './rendition.ts'
import { frame, frameAll, sseDecoder, wholeEvents } from './sse.ts'
import type { SseMessage } from './stage.ts'

interface Parts {
  readonly decoder: Decoder
  readonly retouch: Retouch
  readonly fold: OutcomeFold
}

/** For an answer that nobody keeps: there is nothing to wait for and nothing to change. */
export function untouched({ decoder, retouch, fold }: Parts): Rendition {
  const sse = sseDecoder()
  const whole = wholeEvents()
  const watch = watcher({ decoder, retouch, fold })
  return {
    push(chunk) {
      for (const message of sse.push(chunk)) watch.see(message)
      return whole(chunk)
    },
    isOver: () => false,
    close(failure) {
      const rest = failure === null ? sse.end() : []
      for (const message of rest) watch.see(message)
      watch.close(failure)
      return frameAll(rest)
    },
    outcome: fold.now,
    end: (outcome) => broken(retouch, outcome.failure, watch.failureWasSent()),
  }
}

/** For an answer that is kept under an id of ours. Its last messages wait for the outcome. */
export function retouched({ decoder, retouch, fold }: Parts): Rendition {
  const sse = sseDecoder()
  const watch = watcher({ decoder, retouch, fold })
  let held: SseMessage[] | null = null

  const pass = (messages: readonly SseMessage[]): string => {
    let text = ''
    for (const message of messages) {
      watch.see(message)
      const ours = retouch.message(message)
      if (held === null && retouch.isEnding(message)) held = []
      if (held === null) text += frame(ours)
      else held.push(ours)
    }
    return text
  }
  return {
    push: (chunk) => pass(sse.push(chunk)),
    isOver: watch.isOver,
    close(failure) {
      const text = failure === null ? pass(sse.end()) : ''
      watch.close(failure)
      return text
    },
    outcome: fold.now,
    end(outcome) {
      // What the upstream said at last is true only while the outcome is still what it said.
      if (outcome.failure === null || watch.failureWasSent()) return ending(held ?? [])
      return broken(retouch, outcome.failure, false)
    },
  }
}

/** Not every upstream says it, and not every client does without. */
function ending(held: readonly SseMessage[]): string {
  const isDone = held.at(-1)?.data === '[DONE]'
  return frameAll(isDone ? held : [...held, { data: '[DONE]' }])
}

/** Follows the upstream's messages through its decoder, to know what came of the answer. */
function watcher({ decoder, fold }: Parts) {
  let ending: 'none' | 'ended' | 'failed' = 'none'
  let sent = false
  const told = (events: ReturnType<Decoder['end']>, byUpstream: boolean): void => {
    for (const event of events) {
      if (ending !== 'none') return
      if (event.type === 'answer-ended') ending = 'ended'
      if (event.type === 'answer-failed') {
        ending = 'failed'
        sent = byUpstream
      }
      fold.push(event)
    }
  }
  return {
    see: (message: SseMessage) => told(decoder.push(message), true),
    close: (failure: Failure | null) =>
      told(failure === null ? decoder.end() : [{ type: 'answer-failed', failure }], false),
    isOver: () => ending !== 'none',
    failureWasSent: () => sent,
  }
}

function broken(retouch: Retouch, failure: Failure | null, wasSent: boolean): string {
  return failure === null || wasSent ? '' : frameAll(retouch.broken(failure))
}
