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
  readonly addReasoning: (text: string, channel: 'summary' | 'content') => void
  readonly addReasoningDetail: (piece: JsonObject) => void
  readonly addText: (text: string, logprobs?: readonly Json[]) => void
  readonly addRefusal: (text: string) => void
  readonly addAnnotation: (annotation: JsonObject) => void
  readonly addMedia: (raw: JsonObject) => void
  readonly addCallFragment: (fragment: ToolCallFragment) => void
  /** A field of the whole message that its upstream wants back. */
  readonly setMessageField: (name: string, value: JsonObject) => void
  readonly hasNamelessCall: () => boolean
  /** Ends what is open; what broke off is marked as incomplete. */
  readonly end: (isWhole: boolean) => void
}

export interface AnswerEventOptions extends Omit<ToolCallOptions, 'nextIndex'> {
  readonly reasoningMaker: ReasoningMaker | null
}

export function createAnswerEventEmitter({
  reasoningMaker,
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
    return (reasoning ??= createReasoningBuilder(nextIndex(), emit, reasoningMaker))
  }
  const speaking = (): MessageBuilder => {
    endReasoning()
    return (message ??= createMessageBuilder(nextIndex(), emit))
  }

  return {
    addReasoning: (text, channel) => thinking().addText(text, channel),
    addReasoningDetail(piece) {
      if (!hasDetailContent(piece)) return
      const isLate = reasoning === null && (message !== null || calls.count() > 0)
      if (isLate) native.lateDetail(piece)
      else thinking().addDetail(piece)
    },
    addText(text, logprobs) {
      // Blank lines behind a call are no message.
      if (message === null && calls.count() > 0 && text.trim() === '') return
      speaking().addText(text, logprobs)
    },
    addRefusal: (text) => speaking().addRefusal(text),
    addAnnotation: (annotation) => speaking().addAnnotation(annotation),
    addMedia: (raw) => speaking().addMedia(raw),
    addCallFragment(fragment) {
      endReasoning()
      endMessage()
      calls.addFragment(fragment)
    },
    setMessageField: native.field,
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
