/**
 * What the assistant said and called, as ONE message, with the outputs of its calls directly behind
 * it. Services refuse a batch of calls that is torn apart, and images from an assistant or a tool:
 * these follow in a message of the user.
 */
import {
  readChatOnlyFields,
  readChatMessageFields,
  filterObjects,
} from '../../../core/items/chat-only-fields.ts'
import { sanitizeNoticeName } from '../../../core/text/gateway-notice.ts'
import { isText, type Message, type Part } from '../../../core/item.ts'
import { textOrEmpty, type Json, type JsonObject } from '../../../core/json/json.ts'
import { normalizeCallIds } from './normalize-call-ids.ts'
import { encodeToolOutput, isLegacyFunctionCall } from './encode-tool-output.ts'
import { encodeContent, encodePart, isMediaPart, encodeNotice } from './encode-parts.ts'
import { encodeReasoning, isFromOtherUpstream } from './encode-reasoning.ts'
import { selectMessageFields } from './encode-input-message.ts'
import type { EncodingContext } from './encoding-context.ts'
import type { CallWithOutput, PositionedItem, MessageGroup } from './group-items-into-messages.ts'
import type { ChatMessage } from '../api-types.ts'
import { wrapInput } from '../custom-tool-as-function.ts'

type AssistantGroup = Extract<MessageGroup, { readonly type: 'assistant' }>

export function encodeAssistantMessage(
  turn: AssistantGroup,
  encoding: EncodingContext,
): readonly ChatMessage[] {
  const { calls, message } = turn
  const ids = normalizeCallIds(calls, encoding)
  const messages: ChatMessage[] = isOnlyMedia(turn) ? [] : [encodeTextAndCalls(turn, ids, encoding)]
  const media: JsonObject[] = []
  for (const [place, call] of calls.entries()) {
    const output = encodeToolOutput(call, ids[place] ?? '', encoding)
    if (output === null) continue
    messages.push(output.message)
    media.push(...output.media)
  }
  if (message !== null) media.push(...encodeAssistantMedia(message, encoding))
  if (media.length > 0) messages.push({ role: 'user', content: media })
  return messages
}

/** An assistant's message that would be empty without its images is not sent. */
function isOnlyMedia({ message, calls }: AssistantGroup): boolean {
  return calls.length === 0 && message !== null && hasOnly(isMediaPart, message.item.content)
}

function hasOnly(is: (part: Part) => boolean, parts: readonly Part[]): boolean {
  return parts.length > 0 && parts.every(is)
}

function encodeTextAndCalls(
  { message, calls, reasoning }: AssistantGroup,
  ids: readonly string[],
  encoding: EncodingContext,
): ChatMessage {
  const first = calls[0]?.item
  const { fields, part } = encodeReasoning(reasoning, calls[0]?.at ?? null, encoding)
  const ofCall =
    first === undefined || isFromOtherUpstream(first, encoding.options)
      ? undefined
      : readChatMessageFields(first)
  const ofMessage = message === null ? undefined : selectMessageFields(message, encoding)
  const details = [fields, ofMessage, ofCall].flatMap((from) =>
    filterObjects(from?.['reasoning_details']),
  )
  const { content, refusal } = encodeText(message, encoding)
  return {
    role: 'assistant',
    ...ofCall,
    ...ofMessage,
    ...fields,
    ...(details.length > 0 ? { reasoning_details: details } : {}),
    content:
      part !== null ? prependThinking(part, content) : calls.length > 0 ? content || null : content,
    ...(refusal === '' ? {} : { refusal }),
    ...encodeCalls(calls, ids, encoding),
  }
}

function encodeText(message: PositionedItem<Message> | null, { notes }: EncodingContext) {
  if (message === null) return { content: null, refusal: '' }
  const { at, item } = message
  if (item.content.some((part) => part.type === 'output_text' && part.annotations?.length)) {
    notes.write('annotations-not-sent', { at })
  }
  const texts = item.content.filter((part) => isText(part) && part.type !== 'refusal')
  const refusal = item.content.map((part) => (part.type === 'refusal' ? part.refusal : '')).join('')
  const content = encodeContent(texts, { at, notes, partFields: readChatOnlyFields(item).$parts })
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
  const only = calls.length === 1 ? calls[0]?.item : undefined
  if (calls.length === 0) return undefined
  if (only?.type === 'function_call' && isLegacyFunctionCall(only)) {
    return { function_call: { name: only.name, arguments: only.arguments } }
  }
  const entries = calls.map(({ at, item }, place): JsonObject => {
    const entry = isFromOtherUpstream(item, options) ? undefined : readChatOnlyFields(item).$entry
    const base = { ...entry, id: ids[place] ?? '' }
    if (item.type === 'function_call') {
      const made = { name: item.name, arguments: item.arguments }
      return { ...base, type: 'function', function: made }
    }
    const { name, input } = item
    if (options.customTools) return { ...base, type: 'custom', custom: { name, input } }
    notes.write('custom-call-as-function', { at })
    return { ...base, type: 'function', function: { name, arguments: wrapInput(input) } }
  })
  return { tool_calls: entries }
}

function encodeAssistantMedia(
  { at, item }: PositionedItem<Message>,
  { notes }: EncodingContext,
): readonly JsonObject[] {
  const shown = item.content.filter(isMediaPart)
  if (shown.length === 0) return []
  notes.write('assistant-media-moved', { at })
  const who = textOrEmpty(readChatOnlyFields(item)['name']) || 'the assistant'
  return [
    encodeNotice(`What follows was shown by ${sanitizeNoticeName(who)}.`),
    ...shown.map((part) => encodePart(part, { at, notes })),
  ]
}
