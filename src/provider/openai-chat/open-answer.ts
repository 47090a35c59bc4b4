/**
 * The items of an answer while it comes in. Chat says everything about one message; this makes of
 * it the items that the message consists of, each closed when the next one makes it final.
 */
import type { StreamEvent } from '../../conversation/event.ts'
import type { Json, JsonObject } from '../../conversation/json.ts'
import { openCalls, type OpenCalls } from './open-calls.ts'
import { openMessage, type OpenMessage } from './open-message.ts'
import { openReasoning, type OpenReasoning } from './open-reasoning.ts'
import { addDetail, saysSomething } from './reasoning-details.ts'
import type { Maker } from './sealed.ts'
import type { CallFragment } from './wire.ts'

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

export interface AnswerOptions {
  readonly emit: (event: StreamEvent) => void
  readonly seed: () => string
  readonly wrapped: ReadonlySet<string>
  readonly maker: Maker | null
}

export function openAnswer({ emit, seed, wrapped, maker }: AnswerOptions): OpenAnswer {
  let items = 0
  const nextIndex = () => items++
  let reasoning: OpenReasoning | null = null
  let message: OpenMessage | null = null
  const calls: OpenCalls = openCalls({ emit, nextIndex, seed, wrapped })
  let fields: Record<string, JsonObject> | null = null
  // Details that come behind the reasoning they are of. Its item is final by then, so that they
  // stay with whatever is open.
  let late: JsonObject[] = []

  const takeNative = (): JsonObject | undefined => {
    if (fields === null && late.length === 0) return undefined
    const native = late.length === 0 ? { ...fields } : { ...fields, reasoning_details: late }
    fields = null
    late = []
    return native
  }
  const endReasoning = (isWhole = true): void => {
    reasoning?.end(isWhole)
    reasoning = null
  }
  const endMessage = (isWhole = true): void => {
    message?.end(isWhole, takeNative())
    message = null
  }
  const thinking = (): OpenReasoning => {
    endMessage()
    reasoning ??= openReasoning(nextIndex(), emit, maker)
    return reasoning
  }
  const speaking = (): OpenMessage => {
    endReasoning()
    message ??= openMessage(nextIndex(), emit)
    return message
  }

  return {
    reasoning: (text, channel) => thinking().text(text, channel),
    detail(piece) {
      if (!saysSomething(piece)) return
      if (reasoning !== null) reasoning.detail(piece)
      else if (message === null && calls.count() === 0) thinking().detail(piece)
      else addDetail(late, piece)
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
    field(name, value) {
      fields ??= {}
      fields[name] = value
    },
    hasNamelessCall: calls.hasNameless,
    end(isWhole) {
      endReasoning(isWhole)
      endMessage(isWhole)
      calls.end(isWhole, takeNative())
    },
  }
}
