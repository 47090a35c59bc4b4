/** Renders a non-streamed answer as a `chat.completion` object. */
import { patchObject } from '../../../core/json/patch-object.ts'
import { completionId } from '../../../core/turn-derived-ids.ts'
import type { Item } from '../../../core/item.ts'
import type { Json, JsonObject } from '../../../core/json/json.ts'
import type { Outcome } from '../../../core/collect-answer-outcome.ts'
import type { AnswerContext } from '../../../core/ports/dialect-interface.ts'
import { renderAnswerImages } from '../../render-answer-images.ts'
import { joinVisibleReasoning, joinVisibleText } from './join-visible-text.ts'
import {
  renderFinishReason,
  readReasoningDetails,
  renderAnnotations,
  renderChatUsage,
} from './shared-answer-fields.ts'

export function renderChatCompletion(outcome: Outcome, answerContext: AnswerContext): JsonObject {
  const { items, usage } = outcome
  const rendered = renderAssistantMessage(items)
  const { isOpenWebUi } = answerContext.clientRequest.client
  const message = isOpenWebUi ? removeDetailsWithoutText(rendered) : rendered
  const logprobs = collectLogprobs(items)
  const choice = {
    index: 0,
    message,
    logprobs: logprobs.length > 0 ? { content: logprobs, refusal: null } : null,
    finish_reason: renderFinishReason(outcome.finish, message['tool_calls'] !== undefined),
  }
  return {
    id: completionId(answerContext.turnId),
    object: 'chat.completion',
    created: Math.floor(answerContext.createdAtMs / 1000),
    model: outcome.model ?? answerContext.clientRequest.params.model,
    choices: [choice],
    ...(usage === null ? {} : { usage: renderChatUsage(usage) }),
  }
}

/** Removes reasoning details without reasoning text, which Open WebUI shows as an empty block. */
function removeDetailsWithoutText(message: JsonObject): JsonObject {
  const hasText = message['reasoning_content'] !== undefined
  return hasText ? message : patchObject(message, { reasoning_details: undefined })
}

export function renderAssistantMessage(items: readonly Item[]): JsonObject {
  const text = joinVisibleText(items)
  const calls = items.map(renderToolCall).filter((call) => call !== null)
  const reasoning = joinVisibleReasoning(items)
  const details = items.flatMap(readReasoningDetails)
  const parts = items.flatMap((item) => (item.type === 'message' ? item.content : []))
  const refusal = parts.flatMap((part) => (part.type === 'refusal' ? [part.refusal] : [])).join('')
  const images = items.flatMap(renderAnswerImages)
  const hasNoText = text === '' && (calls.length > 0 || refusal !== '')
  return {
    role: 'assistant',
    content: hasNoText ? null : text,
    refusal: refusal === '' ? null : refusal,
    ...(reasoning === '' ? {} : { reasoning_content: reasoning }),
    ...(details.length === 0 ? {} : { reasoning_details: details }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
    annotations: renderAnnotations(parts),
    ...(images.length === 0 ? {} : { images }),
  }
}

export function renderToolCall(item: Item): JsonObject | null {
  if (item.type === 'function_call') {
    const { call_id: id, name, arguments: text } = item
    return { id, type: 'function', function: { name, arguments: text } }
  }
  if (item.type !== 'custom_tool_call') return null
  const { call_id: id, name, input } = item
  return { id, type: 'custom', custom: { name, input } }
}

function collectLogprobs(items: readonly Item[]): readonly Json[] {
  return items.flatMap((item) =>
    item.type === 'message'
      ? item.content.flatMap((part) => (part.type === 'output_text' ? (part.logprobs ?? []) : []))
      : [],
  )
}
