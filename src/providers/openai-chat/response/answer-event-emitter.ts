/**
 * The items of an answer while it comes in. Chat says everything about one message; this makes of
 * it the items that the message consists of, each closed when the next one makes it final.
 */
import type { Json, JsonObject } from '../../../core/json/json.ts'
import type { CallOptions } from './tool-call-builder.ts'
import { openCalls } from './match-call-fragments.ts'
import { openMessage, type OpenMessage } from './message-builder.ts'
import { openNative } from './open-native.ts'
import { openReasoning, type OpenReasoning } from './reasoning-builder.ts'
import { saysSomething } from './merge-reasoning-details.ts'
import type { Maker } from '../pack-reasoning-details.ts'
import type { CallFragment } from '../api-types.ts'

export interface OpenAnswer {
  readonly reasoning: (text: string, channel: 'summary' | 'content') => void
  readonly detail: (piece: JsonObject) => void
  readonly text: (text: string, logprobs?: readonly Json[]) => void
  readonly refusal: (text: string) => void
  readonly annotation: (annotation: JsonObject) => void
  readonly media: (raw: JsonObject) => void
  readonly call: (fragment: CallFragment) => void
  /** A field of the whole message that its upstream wants back. */
  readonly field: (name: string, value: JsonObject) => void
  readonly hasNamelessCall: () => boolean
  /** Ends what is open; what broke off is marked as incomplete. */
  readonly end: (isWhole: boolean) => void
}

export interface AnswerOptions extends Omit<CallOptions, 'nextIndex'> {
  readonly maker: Maker | null
}

export function openAnswer({ maker, ...options }: AnswerOptions): OpenAnswer {
  const { emit } = options
  let items = 0
  const nextIndex = () => items++
  let reasoning: OpenReasoning | null = null
  let message: OpenMessage | null = null
  const calls = openCalls({ ...options, nextIndex })
  const native = openNative()

  const endReasoning = (isWhole = true): void => {
    reasoning?.end(isWhole)
    reasoning = null
  }
  const endMessage = (isWhole = true): void => {
    message?.end(isWhole, native.taken())
    message = null
  }
  const thinking = (): OpenReasoning => {
    endMessage()
    return (reasoning ??= openReasoning(nextIndex(), emit, maker))
  }
  const speaking = (): OpenMessage => {
    endReasoning()
    return (message ??= openMessage(nextIndex(), emit))
  }

  return {
    reasoning: (text, channel) => thinking().text(text, channel),
    detail(piece) {
      if (!saysSomething(piece)) return
      const isLate = reasoning === null && (message !== null || calls.count() > 0)
      if (isLate) native.lateDetail(piece)
      else thinking().detail(piece)
    },
    text(text, logprobs) {
      // Blank lines behind a call are no message.
      if (message === null && calls.count() > 0 && text.trim() === '') return
      speaking().text(text, logprobs)
    },
    refusal: (text) => speaking().refusal(text),
    annotation: (annotation) => speaking().annotation(annotation),
    media: (raw) => speaking().media(raw),
    call(fragment) {
      endReasoning()
      endMessage()
      calls.fragment(fragment)
    },
    field: native.field,
    hasNamelessCall: calls.hasNameless,
    end(isWhole) {
      endReasoning(isWhole)
      endMessage(isWhole)
      calls.end(isWhole, native.taken())
    },
  }
}
