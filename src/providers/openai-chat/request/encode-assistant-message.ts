/**
 * Encodes reasoning, text and tool calls of the assistant as one message, followed by the outputs
 * of the calls. Media are sent in a user message after them, because services reject media in
 * assistant messages and most reject them in tool outputs.
 */
import {
  readChatOnlyFields,
  readChatMessageFields,
  filterObjects,
} from '../../../core/items/chat-only-fields.ts'
import { sanitizeNoticeName } from '../../../core/text/gateway-notice.ts'
import { isTextOrRefusal, type Message } from '../../../core/item.ts'
import { textOrEmpty, type Json, type JsonObject } from '../../../core/json/json.ts'
import { normalizeCallIds } from './normalize-call-ids.ts'
import { encodeToolOutput, isLegacyFunctionCall } from './encode-tool-output.ts'
import { encodeContent, encodePart, isMediaPart, encodeNotice } from './encode-parts.ts'
import { encodeReasoning, isFromOtherUpstream } from './encode-reasoning.ts'
import { selectMessageFields } from './encode-input-message.ts'
import type { EncodingContext } from './encoding-context.ts'
import type { CallWithOutput, PositionedItem, MessageGroup } from './group-items-into-messages.ts'
import type { ChatMessage } from '../api-types.ts'
import { wrapCustomToolInput } from '../../wrap-custom-tool-input.ts'

type AssistantGroup = Extract<MessageGroup, { readonly type: 'assistant' }>

export function encodeAssistantMessage(
  group: AssistantGroup,
  encoding: EncodingContext,
): readonly ChatMessage[] {
  const { calls, message } = group
  const ids = normalizeCallIds(calls, encoding)
  const messages: ChatMessage[] = isOnlyMedia(group) ? [] : [encodeMessage(group, ids, encoding)]
  const media: JsonObject[] = []
  for (const [index, call] of calls.entries()) {
    const output = encodeToolOutput(call, ids[index] ?? '', encoding)
    if (output === null) continue
    messages.push(output.message)
    media.push(...output.media)
  }
  if (message !== null) media.push(...encodeAssistantMedia(message, encoding))
  if (media.length > 0) messages.push({ role: 'user', content: media })
  return messages
}

/**
 * True if the assistant message contains only media. No assistant message is sent then, because it
 * would be empty.
 */
function isOnlyMedia({ message, calls }: AssistantGroup): boolean {
  const parts = message?.item.content ?? []
  return calls.length === 0 && parts.length > 0 && parts.every(isMediaPart)
}

function encodeMessage(
  { message, calls, reasoning }: AssistantGroup,
  ids: readonly string[],
  encoding: EncodingContext,
): ChatMessage {
  const firstCall = calls[0]?.item
  const { fields, contentPart } = encodeReasoning(reasoning, calls[0]?.itemIndex ?? null, encoding)
  const callFields =
    firstCall === undefined || isFromOtherUpstream(firstCall, encoding.options)
      ? undefined
      : readChatMessageFields(firstCall)
  const messageFields = message === null ? undefined : selectMessageFields(message, encoding)
  const details = [fields, messageFields, callFields].flatMap((source) =>
    filterObjects(source?.['reasoning_details']),
  )
  const { content, refusal } = encodeText(message, encoding)
  const textContent = calls.length > 0 ? content || null : content
  return {
    role: 'assistant',
    ...callFields,
    ...messageFields,
    ...fields,
    ...(details.length > 0 ? { reasoning_details: details } : {}),
    content: contentPart === null ? textContent : prependThinking(contentPart, content),
    ...(refusal === '' ? {} : { refusal }),
    ...encodeCalls(calls, ids, encoding),
  }
}

function encodeText(message: PositionedItem<Message> | null, { notes }: EncodingContext) {
  if (message === null) return { content: null, refusal: '' }
  const { itemIndex, item } = message
  if (item.content.some((part) => part.type === 'output_text' && part.annotations?.length)) {
    notes.write('annotations-not-sent', { itemIndex })
  }
  const texts = item.content.filter((part) => isTextOrRefusal(part) && part.type !== 'refusal')
  const refusal = item.content.map((part) => (part.type === 'refusal' ? part.refusal : '')).join('')
  const content = encodeContent(texts, {
    itemIndex,
    notes,
    partFields: readChatOnlyFields(item).$parts,
  })
  return { content: content === '' && refusal !== '' ? null : content, refusal }
}

function prependThinking(part: JsonObject, content: Json): Json {
  if (Array.isArray(content)) return [part, ...(content as readonly Json[])]
  const text = textOrEmpty(content)
  return text === '' ? [part] : [part, { type: 'text', text }]
}

function encodeCalls(
  calls: readonly CallWithOutput[],
  ids: readonly string[],
  { options, notes }: EncodingContext,
): JsonObject | undefined {
  if (calls.length === 0) return undefined
  const onlyCall = calls.length === 1 ? calls[0]?.item : undefined
  if (onlyCall?.type === 'function_call' && isLegacyFunctionCall(onlyCall)) {
    return { function_call: { name: onlyCall.name, arguments: onlyCall.arguments } }
  }
  const entries = calls.map(({ itemIndex, item }, index): JsonObject => {
    const entry = isFromOtherUpstream(item, options) ? undefined : readChatOnlyFields(item).$entry
    const base = { ...entry, id: ids[index] ?? '' }
    const { name } = item
    if (item.type === 'function_call') {
      return { ...base, type: 'function', function: { name, arguments: item.arguments } }
    }
    const { input } = item
    if (options.customTools) return { ...base, type: 'custom', custom: { name, input } }
    notes.write('custom-call-as-function', { itemIndex })
    return { ...base, type: 'function', function: { name, arguments: wrapCustomToolInput(input) } }
  })
  return { tool_calls: entries }
}

function encodeAssistantMedia(
  { itemIndex, item }: PositionedItem<Message>,
  { notes }: EncodingContext,
): readonly JsonObject[] {
  const media = item.content.filter(isMediaPart)
  if (media.length === 0) return []
  notes.write('assistant-media-moved', { itemIndex })
  const author = textOrEmpty(readChatOnlyFields(item)['name']) || 'the assistant'
  return [
    encodeNotice(`What follows was shown by ${sanitizeNoticeName(author)}.`),
    ...media.map((part) => encodePart(part, { itemIndex, notes })),
  ]
}
