/**
 * Decodes the fields of deltas (text, reasoning, tool calls …) into items and emits their events.
 * An item ends when a field of the next item arrives.
 */
import type { Json, JsonObject } from '../../../core/json/json.ts'
import type { ToolCallFragment } from '../api-types.ts'
import type { ReasoningMaker } from '../pack-reasoning-details.ts'
import { createCallFragmentMatcher } from './match-call-fragments.ts'
import { hasDetailContent, addReasoningDetail } from './merge-reasoning-details.ts'
import { createMessageBuilder, type MessageBuilder } from './message-builder.ts'
import { createReasoningBuilder, type ReasoningBuilder } from './reasoning-builder.ts'
import type { ToolCallOptions } from './tool-call-builder.ts'

export interface DeltaFieldsDecoder {
  readonly addReasoning: (text: string, channel: 'summary' | 'content') => void
  readonly addReasoningDetail: (piece: JsonObject) => void
  readonly addText: (text: string, logprobs?: readonly Json[]) => void
  readonly addRefusal: (text: string) => void
  readonly addAnnotation: (annotation: JsonObject) => void
  readonly addMedia: (raw: JsonObject) => void
  readonly addCallFragment: (fragment: ToolCallFragment) => void
  /** Stores a field of the message that later requests must contain, e.g. `extra_content`. */
  readonly setMessageField: (name: string, value: JsonObject) => void
  readonly hasNamelessCall: () => boolean
  /** Ends all open items. `isComplete: false` marks them as incomplete. */
  readonly end: (isComplete: boolean) => void
}

export interface DeltaFieldsDecoderOptions extends Omit<ToolCallOptions, 'nextIndex'> {
  readonly reasoningMaker: ReasoningMaker | null
}

export function createDeltaFieldsDecoder({
  reasoningMaker,
  ...options
}: DeltaFieldsDecoderOptions): DeltaFieldsDecoder {
  const { emit } = options
  let itemCount = 0
  const nextIndex = () => itemCount++
  let reasoning: ReasoningBuilder | null = null
  let message: MessageBuilder | null = null
  const calls = createCallFragmentMatcher({ ...options, nextIndex })
  const messageFields = createMessageFieldCollector()

  const endReasoning = (isComplete = true): void => {
    reasoning?.end(isComplete)
    reasoning = null
  }
  const endMessage = (isComplete = true): void => {
    message?.end(isComplete, messageFields.take())
    message = null
  }
  const openReasoning = (): ReasoningBuilder => {
    endMessage()
    return (reasoning ??= createReasoningBuilder(nextIndex(), emit, reasoningMaker))
  }
  const openMessage = (): MessageBuilder => {
    endReasoning()
    return (message ??= createMessageBuilder(nextIndex(), emit))
  }

  return {
    addReasoning: (text, channel) => openReasoning().addText(text, channel),
    addReasoningDetail(piece) {
      if (!hasDetailContent(piece)) return
      const isLate = reasoning === null && (message !== null || calls.count() > 0)
      if (isLate) messageFields.addDetail(piece)
      else openReasoning().addDetail(piece)
    },
    addText(text, logprobs) {
      // Ignores blank lines after a tool call, which some services send: they must not begin a
      // message.
      if (message === null && calls.count() > 0 && text.trim() === '') return
      openMessage().addText(text, logprobs)
    },
    addRefusal: (text) => openMessage().addRefusal(text),
    addAnnotation: (annotation) => openMessage().addAnnotation(annotation),
    addMedia: (raw) => openMessage().addMedia(raw),
    addCallFragment(fragment) {
      endReasoning()
      endMessage()
      calls.addFragment(fragment)
    },
    setMessageField: messageFields.set,
    hasNamelessCall: calls.hasNameless,
    end(isComplete) {
      endReasoning(isComplete)
      endMessage(isComplete)
      calls.end(isComplete, messageFields.take())
    },
  }
}

/** Collects the fields that belong to the complete message instead of one of its items. */
function createMessageFieldCollector() {
  let fields: Record<string, JsonObject> | null = null
  let lateDetails: JsonObject[] = []
  return {
    set: (name: string, value: JsonObject): void => {
      fields = { ...fields, [name]: value }
    },
    /** Adds a reasoning detail that arrives after the end of the reasoning item. */
    addDetail: (piece: JsonObject): void => addReasoningDetail(lateDetails, piece),
    /** Returns the collected fields and clears them; undefined if there are none. */
    take(): JsonObject | undefined {
      if (fields === null && lateDetails.length === 0) return undefined
      const taken =
        lateDetails.length === 0 ? { ...fields } : { ...fields, reasoning_details: lateDetails }
      fields = null
      lateDetails = []
      return taken
    },
  }
}
