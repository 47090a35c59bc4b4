/**
 * The items of an answer while it comes in. Chat says everything about one message; this makes of
 * it the items that the message consists of, each closed when the next one makes it final.
 */
import type { Json, JsonObject } from '../../../core/json/json.ts'
import type { ToolCallFragment } from '../api-types.ts'
import type { ReasoningMaker } from '../pack-reasoning-details.ts'
import { createCallFragmentMatcher } from './match-call-fragments.ts'
import { hasDetailContent, addReasoningDetail } from './merge-reasoning-details.ts'
import { createMessageBuilder, type MessageBuilder } from './message-builder.ts'
import { createReasoningBuilder, type ReasoningBuilder } from './reasoning-builder.ts'
import type { ToolCallOptions } from './tool-call-builder.ts'

export interface AnswerEventEmitter {
  readonly reasoning: (text: string, channel: 'summary' | 'content') => void
  readonly detail: (piece: JsonObject) => void
  readonly text: (text: string, logprobs?: readonly Json[]) => void
  readonly refusal: (text: string) => void
  readonly annotation: (annotation: JsonObject) => void
  readonly media: (raw: JsonObject) => void
  readonly call: (fragment: ToolCallFragment) => void
  /** A field of the whole message that its upstream wants back. */
  readonly field: (name: string, value: JsonObject) => void
  readonly hasNamelessCall: () => boolean
  /** Ends what is open; what broke off is marked as incomplete. */
  readonly end: (isWhole: boolean) => void
}

export interface AnswerEventOptions extends Omit<ToolCallOptions, 'nextIndex'> {
  readonly maker: ReasoningMaker | null
}

export function createAnswerEventEmitter({
  maker,
  ...options
}: AnswerEventOptions): AnswerEventEmitter {
  const { emit } = options
  let items = 0
  const nextIndex = () => items++
  let reasoning: ReasoningBuilder | null = null
  let message: MessageBuilder | null = null
  const calls = createCallFragmentMatcher({ ...options, nextIndex })
  const native = collectNativeFields()

  const endReasoning = (isWhole = true): void => {
    reasoning?.end(isWhole)
    reasoning = null
  }
  const endMessage = (isWhole = true): void => {
    message?.end(isWhole, native.taken())
    message = null
  }
  const thinking = (): ReasoningBuilder => {
    endMessage()
    return (reasoning ??= createReasoningBuilder(nextIndex(), emit, maker))
  }
  const speaking = (): MessageBuilder => {
    endReasoning()
    return (message ??= createMessageBuilder(nextIndex(), emit))
  }

  return {
    reasoning: (text, channel) => thinking().text(text, channel),
    detail(piece) {
      if (!hasDetailContent(piece)) return
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

export interface NativeFields {
  readonly field: (name: string, value: JsonObject) => void
  readonly lateDetail: (piece: JsonObject) => void
  /** What has been said since it was taken last; `undefined` for nothing. */
  readonly taken: () => JsonObject | undefined
}

export function collectNativeFields(): NativeFields {
  let fields: Record<string, JsonObject> | null = null
  let late: JsonObject[] = []
  return {
    field(name, value) {
      fields ??= {}
      fields[name] = value
    },
    lateDetail: (piece) => addReasoningDetail(late, piece),
    taken() {
      if (fields === null && late.length === 0) return undefined
      const native = late.length === 0 ? { ...fields } : { ...fields, reasoning_details: late }
      fields = null
      late = []
      return native
    },
  }
}
