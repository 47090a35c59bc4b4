/**
 * Encodes items as Gemini's list of turns (messages). Gemini requires that
 *
 * - user and model turns alternate, and the first turn is the user's,
 * - the turn after function calls has one response for each call,
 * - the first function call of a turn has a signature (from Gemini 3 on), and no part is empty.
 *
 * When the conversation continues, the earlier turns stay the same, so that Gemini can reuse its
 * cache.
 */
import { findContinuingAnswers } from '../../../core/items/find-continuing-answers.ts'
import { formatNotice } from '../../../core/text/gateway-notice.ts'
import type { Item, Message, OpaqueItem, Reasoning } from '../../../core/item.ts'
import { isTextOrRefusal, textOf, textOfPart } from '../../../core/item.ts'
import { isObject } from '../../../core/json/json.ts'
import { UNPAIRED } from '../../../core/items/tool-call-pairs.ts'
import { encodeToolCall, encodeResponseOfCall } from './encode-tool-call-and-response.ts'
import { createMediaEncoder } from './media/encode-media.ts'
import type { EncodingContext } from './encoding-context.ts'
import { createContentsBuilder, type ContentsBuilder } from './contents-builder.ts'
import { hasReadableOrigin, selectTextSignatures } from './select-signatures.ts'
import { unpackSignature } from '../pack-thought-signature.ts'
import { createSignatureParts, splitTextBySignature } from '../text-signatures.ts'
import type { GeminiContent, GeminiPart } from '../api-types.ts'

/** Encodes the items from `startIndex` on. Earlier items are part of the system instruction. */
export function encodeMessages(
  items: readonly Item[],
  startIndex: number,
  context: EncodingContext,
): readonly GeminiContent[] {
  const builder = createContentsBuilder(items, context, createMediaEncoder(items, context))
  const sectionStarts = new Set(findContinuingAnswers(items))
  for (let itemIndex = startIndex; itemIndex < items.length; itemIndex++) {
    const item = items[itemIndex]
    if (sectionStarts.has(itemIndex)) endEarlierRequest(builder, itemIndex)
    if (item !== undefined) encodeItem(item, itemIndex, builder)
  }
  answerCalls(builder, items.length)
  return completeEnds(builder)
}

/**
 * Ends the list of turns where the model continued its own answer, in the way in which the earlier
 * request ended, e.g. with the user turn `Continue.`
 */
function endEarlierRequest(builder: ContentsBuilder, itemIndex: number): void {
  builder.reasoningBefore = null
  answerCalls(builder, itemIndex)
  flushPendingMedia(builder)
  ensureUserEnd(builder)
}

function encodeItem(item: Item, itemIndex: number, builder: ContentsBuilder): void {
  switch (item.type) {
    case 'reasoning':
      return encodeThought(item, itemIndex, builder)
    case 'message':
      return item.role === 'assistant'
        ? encodeAssistantMessage(item, itemIndex, builder)
        : encodeInputMessage(item, itemIndex, builder)
    case 'function_call':
    case 'custom_tool_call': {
      const parts = encodeToolCall(item, itemIndex, builder)
      if (parts.length === 0) return
      builder.getModelParts().push(...parts)
      builder.unansweredCalls.push(itemIndex)
      return
    }
    case 'function_call_output':
    case 'custom_tool_call_output':
      if (builder.pairedIndexes[itemIndex] !== UNPAIRED)
        answerCalls(builder, itemIndex + builder.unansweredCalls.length)
      else builder.context.notes.write('output-without-call', { itemIndex })
      return
    case 'opaque':
      return encodeOpaqueItem(item, itemIndex, builder)
  }
}

/**
 * Adds a user turn with the responses to all tool calls of the last turn. Writes a note for each
 * output that this moves forward, i.e. whose index is `until` or higher.
 */
function answerCalls(builder: ContentsBuilder, until: number): void {
  if (builder.unansweredCalls.length === 0) return
  const parts = builder.getUserParts()
  const partsAfter: GeminiPart[] = []
  for (const call of builder.unansweredCalls) {
    const result = encodeResponseOfCall(call, builder)
    parts.push(result.part)
    partsAfter.push(...result.partsAfter)
    const output = builder.pairedIndexes[call] ?? UNPAIRED
    if (output !== UNPAIRED && output >= until) {
      builder.context.notes.write('output-moved', { itemIndex: output })
    }
  }
  parts.push(...partsAfter)
  builder.unansweredCalls.length = 0
}

/** Encodes a message of the user, or a system message in the middle of the conversation. */
function encodeInputMessage(item: Message, itemIndex: number, builder: ContentsBuilder): void {
  builder.reasoningBefore = null
  answerCalls(builder, itemIndex)
  if (item.role !== 'user') {
    const text = textOf(item.content)
    if (!item.content.every(isTextOrRefusal))
      builder.context.notes.write('media-in-system', { itemIndex })
    if (text === '') return
    builder.context.notes.write('system-in-place', { itemIndex })
    builder.getUserParts().push({ text: `<system_message>\n${text}\n</system_message>` })
    return
  }
  const parts = encodeParts(item, itemIndex, builder)
  if (parts.length > 0) builder.getUserParts().push(...builder.pendingMedia.splice(0), ...parts)
}

/**
 * Encodes an assistant message. Its media are sent in the next user turn, because Gemini accepts
 * only text of the model here.
 */
function encodeAssistantMessage(item: Message, itemIndex: number, builder: ContentsBuilder): void {
  builder.reasoningBefore = null
  const text = textOf(item.content)
  const signatures = selectTextSignatures(item, text, itemIndex, builder.context)
  const parts: GeminiPart[] = []
  if (signatures !== null && item.content.every(isTextOrRefusal)) {
    parts.push(...splitTextBySignature(text, signatures.spans))
  } else {
    for (const part of encodeParts(item, itemIndex, builder)) {
      if (part.text !== undefined) parts.push(part)
      else deferMedia(part, itemIndex, builder)
    }
  }
  if (parts.length > 0) builder.getModelParts().push(...parts)
}

function encodeParts(
  item: Message,
  itemIndex: number,
  builder: ContentsBuilder,
): readonly GeminiPart[] {
  const parts: GeminiPart[] = []
  for (const part of item.content) {
    const encoded = isTextOrRefusal(part)
      ? { text: textOfPart(part) }
      : builder.encodeMedia(part, itemIndex)
    if (encoded !== null && encoded.text !== '') parts.push(encoded)
  }
  return parts
}

function deferMedia(part: GeminiPart, itemIndex: number, builder: ContentsBuilder): void {
  builder.context.notes.write('media-moved', { itemIndex })
  const text = formatNotice('What follows is from the assistant’s last message.')
  builder.pendingMedia.push({ text }, part)
}

/**
 * Encodes the signed parts of a thought. Unsigned summaries are left out, because the model does
 * not use them.
 */
function encodeThought(item: Reasoning, itemIndex: number, builder: ContentsBuilder): void {
  const { context } = builder
  const text = item.summary.map((part) => part.text).join('')
  const signatures = selectTextSignatures(item, text, itemIndex, context)
  builder.reasoningBefore = item
  const parts: GeminiPart[] = []
  let signedChars = 0
  for (const { start, end, thoughtSignature } of signatures?.spans ?? []) {
    signedChars += end - start
    parts.push({ text: text.slice(start, end), thought: true, thoughtSignature })
  }
  parts.push(...createSignatureParts(signatures?.trailing ?? []))
  if (parts.length > 0) builder.getModelParts().push(...parts)
  const isOwn = item.native?.['gemini'] !== undefined || item.origin?.wire === 'gemini'
  if (!isOwn && unpackSignature(item.encrypted_content) === null) {
    context.notes.write('foreign-reasoning', { itemIndex })
  } else if (signedChars < text.length) context.notes.write('thoughts-not-sent', { itemIndex })
}

/** Encodes images that a model generated, and parts of types that only Gemini knows. */
function encodeOpaqueItem(item: OpaqueItem, itemIndex: number, builder: ContentsBuilder): void {
  builder.reasoningBefore = null
  const { notes } = builder.context
  const { type, part: originalPart, result } = item.raw
  const geminiData = hasReadableOrigin(item, builder.context) ? item.native?.['gemini'] : undefined
  if (type === 'gemini:part' && geminiData !== undefined && isObject(originalPart)) {
    builder.getModelParts().push(originalPart)
    return
  }
  if (type !== 'image_generation_call' || typeof result !== 'string') {
    notes.write('hosted-item', { itemIndex, ...(typeof type === 'string' ? { detail: type } : {}) })
    return
  }
  const part = builder.encodeMedia(item, itemIndex)
  if (part === null) return
  if (geminiData === undefined) return deferMedia(part, itemIndex, builder)
  const signature = geminiData['thoughtSignature']
  const isSigned = typeof signature === 'string' && part.inlineData !== undefined
  builder.getModelParts().push(isSigned ? { ...part, thoughtSignature: signature } : part)
}

/**
 * Adds a short user turn at the beginning, unless the first turn is the user's, and at the end,
 * unless the last turn is the user's or the model supports prefill.
 */
function completeEnds(builder: ContentsBuilder): readonly GeminiContent[] {
  const { contents, context } = builder
  flushPendingMedia(builder)
  const text = formatNotice('The conversation begins.')
  const opening = { role: 'user', parts: [{ text }] } as const
  const needsOpening = contents[0]?.role !== 'user'
  if (needsOpening) context.notes.write('first-turn-added')
  ensureUserEnd(builder)
  return needsOpening ? [opening, ...contents] : contents
}

function flushPendingMedia(builder: ContentsBuilder): void {
  if (builder.pendingMedia.length > 0)
    builder.getUserParts().push(...builder.pendingMedia.splice(0))
}

/**
 * Adds the user turn `Continue.` if the last turn is the model's and the model does not support
 * prefill.
 */
function ensureUserEnd(builder: ContentsBuilder): void {
  const { contents, context } = builder
  if (contents.at(-1)?.role !== 'model') return
  if (context.quirks.prefill ?? context.model.supportsPrefill) return
  context.notes.write('last-turn-added')
  builder.getUserParts().push({ text: 'Continue.' })
}
