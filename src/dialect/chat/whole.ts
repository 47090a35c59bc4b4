/** An answer as one chat.completion. */
import { completionId } from '../../conversation/ids.ts'
import type { Item } from '../../conversation/item.ts'
import type { Json, JsonObject } from '../../conversation/json.ts'
import type { Outcome } from '../../conversation/outcome.ts'
import type { Answering } from '../dialect.ts'
import { shownReasoning, shownText } from './shown-text.ts'
import { finishReason, reasoningDetails, tellAnnotation, tellImage } from './tell-parts.ts'
import { tellUsage } from './tell-usage.ts'

export function whole(outcome: Outcome, answering: Answering): JsonObject {
  const { items, usage } = outcome
  const message = tellMessage(items)
  const logprobs = logprobsOf(items)
  const choice = {
    index: 0,
    message,
    logprobs: logprobs.length > 0 ? { content: logprobs, refusal: null } : null,
    finish_reason: finishReason(outcome.finish, message['tool_calls'] !== undefined),
  }
  return {
    id: completionId(answering.turnId),
    object: 'chat.completion',
    created: Math.floor(answering.createdAtMs / 1000),
    model: outcome.model ?? answering.inbound.params.model,
    choices: [choice],
    ...(usage === null ? {} : { usage: tellUsage(usage) }),
  }
}

export function tellMessage(items: readonly Item[]): JsonObject {
  const text = shownText(items)
  const calls = items.map(tellCall).filter((call) => call !== null)
  const reasoning = shownReasoning(items)
  const details = items.flatMap(reasoningDetails)
  const parts = items.flatMap((item) => (item.type === 'message' ? item.content : []))
  const refusal = parts.flatMap((part) => (part.type === 'refusal' ? [part.refusal] : [])).join('')
  const images = parts.map(tellImage).filter((image) => image !== null)
  const isSilent = text === '' && (calls.length > 0 || refusal !== '')
  return {
    role: 'assistant',
    content: isSilent ? null : text,
    refusal: refusal === '' ? null : refusal,
    ...(reasoning === '' ? {} : { reasoning_content: reasoning }),
    ...(details.length === 0 ? {} : { reasoning_details: details }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
    annotations: parts
      .flatMap((part) => (part.type === 'output_text' ? (part.annotations ?? []) : []))
      .map(tellAnnotation)
      .filter((annotation) => annotation !== null),
    ...(images.length === 0 ? {} : { images }),
  }
}

function tellCall(item: Item, place: number): JsonObject | null {
  if (item.type === 'function_call') {
    const { name, arguments: text } = item
    const id = item.call_id === '' ? `call_${place}` : item.call_id
    return { id, type: 'function', function: { name, arguments: text } }
  }
  if (item.type !== 'custom_tool_call') return null
  const id = item.call_id === '' ? `call_${place}` : item.call_id
  return { id, type: 'custom', custom: { name: item.name, input: item.input } }
}

function logprobsOf(items: readonly Item[]): readonly Json[] {
  return items.flatMap((item) =>
    item.type === 'message'
      ? item.content.flatMap((part) => (part.type === 'output_text' ? (part.logprobs ?? []) : []))
      : [],
  )
}
