/**
 * Encodes items as Gemini's list of turns. Gemini has four rules: user and model turns alternate,
 * beginning with the user; the turn after function calls has exactly one response for each call;
 * from Gemini 3 on, the first function call of a turn has a signature; no part is empty.
 *
 * The result depends only on the items: with a further round, all earlier turns stay the same, so
 * Gemini can reuse its cache.
 */
import { findConsecutiveAnswers } from '../../../core/items/find-consecutive-answers.ts'
import { formatNotice } from '../../../core/text/gateway-notice.ts'
import type { Item, Message, OpaqueItem, Reasoning } from '../../../core/item.ts'
import { isText, textOf, textOfPart } from '../../../core/item.ts'
import { isObject } from '../../../core/json/json.ts'
import { UNPAIRED } from '../../../core/items/tool-call-pairs.ts'
import { encodeToolCall, encodeToolResponse } from './encode-tool-call.ts'
import { createMediaEncoder } from './media/encode-media.ts'
import type { EncodingContext } from './encoding-context.ts'
import { createContentsBuilder, type ContentsBuilder } from './contents-builder.ts'
import { hasReadableOrigin, selectTextSignatures } from './select-signatures.ts'
import { unpackSignature } from '../pack-thought-signature.ts'
import { createSignatureParts, splitTextBySignature } from '../text-signatures.ts'
import type { GeminiContent, GeminiPart } from '../api-types.ts'

/** Encodes the items from index `from`, after the system instruction. */
export function encodeMessages(
  items: readonly Item[],
  from: number,
  context: EncodingContext,
): readonly GeminiContent[] {
  const builder = createContentsBuilder(items, context, createMediaEncoder(items, context))
  const sectionStarts = new Set(findConsecutiveAnswers(items))
  for (let at = from; at < items.length; at++) {
    const item = items[at]
    if (sectionStarts.has(at)) endFormerRequest(builder, at)
    if (item !== undefined) encodeItem(item, at, builder)
  }
  answerCalls(builder, items.length)
  return completeEnds(builder)
}

/**
 * Adds what an earlier request contained at its end, if the model continued its own answer after
 * that request.
 */
function endFormerRequest(builder: ContentsBuilder, at: number): void {
  builder.reasoningBefore = null
  answerCalls(builder, at)
  flushPendingMedia(builder)
  ensureUserEnd(builder)
}

function encodeItem(item: Item, at: number, builder: ContentsBuilder): void {
  switch (item.type) {
    case 'reasoning':
      return encodeThought(item, at, builder)
    case 'message':
      return item.role === 'assistant'
        ? encodeAssistantMessage(item, at, builder)
        : encodeInputMessage(item, at, builder)
    case 'function_call':
    case 'custom_tool_call': {
      const parts = encodeToolCall(item, at, builder)
      if (parts.length === 0) return
      builder.modelParts().push(...parts)
      builder.unansweredCalls.push(at)
      return
    }
    case 'function_call_output':
    case 'custom_tool_call_output':
      if (builder.partners[at] !== UNPAIRED)
        answerCalls(builder, at + builder.unansweredCalls.length)
      else builder.context.notes.write('output-without-call', { at })
      return
    case 'opaque':
      return encodeOpaqueItem(item, at, builder)
  }
}

/**
 * Appends the responses to all tool calls of the last turn. An output at index `until` or later is
 * moved here from its position, so it gets a note.
 */
function answerCalls(builder: ContentsBuilder, until: number): void {
  if (builder.unansweredCalls.length === 0) return
  const parts = builder.userParts()
  const partsAfter: GeminiPart[] = []
  for (const call of builder.unansweredCalls) {
    const result = encodeToolResponse(call, builder)
    parts.push(result.part)
    partsAfter.push(...result.partsAfter)
    const output = builder.partners[call] ?? UNPAIRED
    if (output !== UNPAIRED && output >= until) {
      builder.context.notes.write('output-moved', { at: output })
    }
  }
  parts.push(...partsAfter)
  builder.unansweredCalls.length = 0
}

/** Encodes a message of the user, or a system message in the middle of the conversation. */
function encodeInputMessage(item: Message, at: number, builder: ContentsBuilder): void {
  builder.reasoningBefore = null
  answerCalls(builder, at)
  if (item.role !== 'user') {
    const text = textOf(item.content)
    if (!item.content.every(isText)) builder.context.notes.write('media-in-system', { at })
    if (text === '') return
    builder.context.notes.write('system-in-place', { at })
    builder.userParts().push({ text: `<system_message>\n${text}\n</system_message>` })
    return
  }
  const parts = encodeParts(item, at, builder)
  if (parts.length > 0) builder.userParts().push(...builder.pendingMedia.splice(0), ...parts)
}

/**
 * Encodes an assistant message. Its media move to the next user turn, because a model turn takes
 * only text.
 */
function encodeAssistantMessage(item: Message, at: number, builder: ContentsBuilder): void {
  builder.reasoningBefore = null
  const text = textOf(item.content)
  const signatures = selectTextSignatures(item, text, at, builder.context)
  const parts: GeminiPart[] = []
  if (signatures !== null && item.content.every(isText)) {
    parts.push(...splitTextBySignature(text, signatures.spans))
  } else {
    for (const part of encodeParts(item, at, builder)) {
      if (part.text !== undefined) parts.push(part)
      else deferMedia(part, at, builder)
    }
  }
  if (parts.length > 0) builder.modelParts().push(...parts)
}

function encodeParts(item: Message, at: number, builder: ContentsBuilder): readonly GeminiPart[] {
  const parts: GeminiPart[] = []
  for (const part of item.content) {
    const encoded = isText(part) ? { text: textOfPart(part) } : builder.encodeMedia(part, at)
    if (encoded !== null && encoded.text !== '') parts.push(encoded)
  }
  return parts
}

function deferMedia(part: GeminiPart, at: number, builder: ContentsBuilder): void {
  builder.context.notes.write('media-moved', { at })
  const text = formatNotice('What follows is from the assistant’s last message.')
  builder.pendingMedia.push({ text }, part)
}

/**
 * Encodes those parts of a thought that have a signature. A model does not use summaries of
 * thoughts without one.
 */
function encodeThought(item: Reasoning, at: number, builder: ContentsBuilder): void {
  const { context } = builder
  const text = item.summary.map((part) => part.text).join('')
  const signatures = selectTextSignatures(item, text, at, context)
  builder.reasoningBefore = item
  const parts: GeminiPart[] = []
  let signedChars = 0
  for (const { start, end, thoughtSignature } of signatures?.spans ?? []) {
    signedChars += end - start
    parts.push({ text: text.slice(start, end), thought: true, thoughtSignature })
  }
  parts.push(...createSignatureParts(signatures?.after ?? []))
  if (parts.length > 0) builder.modelParts().push(...parts)
  const isOwn = item.native?.['gemini'] !== undefined || item.origin?.wire === 'gemini'
  if (!isOwn && unpackSignature(item.encrypted_content) === null) {
    context.notes.write('foreign-reasoning', { at })
  } else if (signedChars < text.length) context.notes.write('thoughts-not-sent', { at })
}

/** Encodes generated images, and Gemini's parts of unknown types. */
function encodeOpaqueItem(item: OpaqueItem, at: number, builder: ContentsBuilder): void {
  builder.reasoningBefore = null
  const { notes } = builder.context
  const { type, part: originalPart, result } = item.raw
  const geminiData = hasReadableOrigin(item, builder.context) ? item.native?.['gemini'] : undefined
  if (type === 'gemini:part' && geminiData !== undefined && isObject(originalPart)) {
    builder.modelParts().push(originalPart)
    return
  }
  if (type !== 'image_generation_call' || typeof result !== 'string') {
    notes.write('hosted-item', { at, ...(typeof type === 'string' ? { detail: type } : {}) })
    return
  }
  const part = builder.encodeMedia(item, at)
  if (part === null) return
  if (geminiData === undefined) return deferMedia(part, at, builder)
  const signature = geminiData['thoughtSignature']
  const isSigned = typeof signature === 'string' && part.inlineData !== undefined
  builder.modelParts().push(isSigned ? { ...part, thoughtSignature: signature } : part)
}

/**
 * Adds a short user message at the beginning or the end, if the conversation does not begin or end
 * with the user.
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
  if (builder.pendingMedia.length > 0) builder.userParts().push(...builder.pendingMedia.splice(0))
}

/**
 * Adds a user message that asks the model to continue, if the last turn is the model's and the
 * model cannot continue it by itself.
 */
function ensureUserEnd(builder: ContentsBuilder): void {
  const { contents, context } = builder
  if (contents.at(-1)?.role !== 'model') return
  if (context.quirks.prefill ?? context.model.supportsPrefill) return
  context.notes.write('last-turn-added')
  builder.userParts().push({ text: 'Continue.' })
}
