/**
 * Items as Gemini's list of turns. Its laws: user and model take turns, the user begins; every
 * function call is answered in the very next turn, as many answers as calls; the first call of a
 * turn is signed (from Gemini 3 on); nothing is empty.
 *
 * What stands in the list decides what is sent, nothing else: with one more round everything before
 * it comes out the same.
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

/** `from` is the first item that is not part of the system instruction. */
export function encodeMessages(
  items: readonly Item[],
  from: number,
  context: EncodingContext,
): readonly GeminiContent[] {
  const draft = createContentsBuilder(items, context, createMediaEncoder(items, context))
  const borders = new Set(findConsecutiveAnswers(items))
  for (let at = from; at < items.length; at++) {
    const item = items[at]
    if (borders.has(at)) goOn(draft, at)
    if (item !== undefined) place(item, at, draft)
  }
  answerCalls(draft, items.length)
  return framed(draft)
}

/** What came before was the end of a request, and is told again as it was then. */
function goOn(draft: ContentsBuilder, at: number): void {
  draft.sealed = null
  answerCalls(draft, at)
  showRelocated(draft)
  endWithUser(draft)
}

function place(item: Item, at: number, draft: ContentsBuilder): void {
  switch (item.type) {
    case 'reasoning':
      return thought(item, at, draft)
    case 'message':
      return item.role === 'assistant' ? said(item, at, draft) : asked(item, at, draft)
    case 'function_call':
    case 'custom_tool_call': {
      const parts = encodeToolCall(item, at, draft)
      if (parts.length === 0) return
      draft.modelParts().push(...parts)
      draft.calls.push(at)
      return
    }
    case 'function_call_output':
    case 'custom_tool_call_output':
      if (draft.partners[at] !== UNPAIRED) answerCalls(draft, at + draft.calls.length)
      else draft.context.notebook.write('output-without-call', { at })
      return
    case 'opaque':
      return opaque(item, at, draft)
  }
}

/**
 * Puts the answers to all calls of the last turn behind it. An output that stands at `until` or
 * later is not where it was any more.
 */
function answerCalls(draft: ContentsBuilder, until: number): void {
  if (draft.calls.length === 0) return
  const parts = draft.userParts()
  const behind: GeminiPart[] = []
  draft.calls.forEach((call) => {
    const result = encodeToolResponse(call, draft)
    parts.push(result.part)
    behind.push(...result.behind)
    const output = draft.partners[call] ?? UNPAIRED
    if (output !== UNPAIRED && output >= until) {
      draft.context.notebook.write('output-moved', { at: output })
    }
  })
  parts.push(...behind)
  draft.calls.length = 0
}

/** What a user, or a late system message, says. */
function asked(item: Message, at: number, draft: ContentsBuilder): void {
  draft.sealed = null
  answerCalls(draft, at)
  if (item.role !== 'user') {
    const words = textOf(item.content)
    if (!item.content.every(isText)) draft.context.notebook.write('media-in-system', { at })
    if (words === '') return
    draft.context.notebook.write('system-in-place', { at })
    draft.userParts().push({ text: `<system_message>\n${words}\n</system_message>` })
    return
  }
  const parts = encodeParts(item, at, draft)
  if (parts.length > 0) draft.userParts().push(...draft.relocated.splice(0), ...parts)
}

/** What the assistant said. Media in it are shown by the user: a model only says text. */
function said(item: Message, at: number, draft: ContentsBuilder): void {
  draft.sealed = null
  const text = textOf(item.content)
  const signatures = selectTextSignatures(item, text, at, draft.context)
  const parts: GeminiPart[] = []
  if (signatures !== null && item.content.every(isText)) {
    parts.push(...splitTextBySignature(text, signatures.runs))
  } else {
    for (const part of encodeParts(item, at, draft)) {
      if (part.text !== undefined) parts.push(part)
      else relocate(part, at, draft)
    }
  }
  if (parts.length > 0) draft.modelParts().push(...parts)
}

function encodeParts(item: Message, at: number, draft: ContentsBuilder): readonly GeminiPart[] {
  const parts: GeminiPart[] = []
  for (const part of item.content) {
    const encoded = isText(part) ? { text: textOfPart(part) } : draft.encodeMedia(part, at)
    if (encoded !== null && encoded.text !== '') parts.push(encoded)
  }
  return parts
}

function relocate(part: GeminiPart, at: number, draft: ContentsBuilder): void {
  draft.context.notebook.write('media-moved', { at })
  const text = formatNotice('What follows is from the assistant’s last message.')
  draft.relocated.push({ text }, part)
}

/** Only what is signed goes back; unsigned summaries tell the model nothing. */
function thought(item: Reasoning, at: number, draft: ContentsBuilder): void {
  const { context } = draft
  const text = item.summary.map((part) => part.text).join('')
  const signatures = selectTextSignatures(item, text, at, context)
  draft.sealed = item
  const parts: GeminiPart[] = []
  let signedChars = 0
  for (const { start, end, thoughtSignature } of signatures?.runs ?? []) {
    signedChars += end - start
    parts.push({ text: text.slice(start, end), thought: true, thoughtSignature })
  }
  parts.push(...createSignatureParts(signatures?.after ?? []))
  if (parts.length > 0) draft.modelParts().push(...parts)
  const isOwn = item.native?.['gemini'] !== undefined || item.origin?.wire === 'gemini'
  if (!isOwn && unpackSignature(item.encrypted_content) === null) {
    context.notebook.write('foreign-reasoning', { at })
  } else if (signedChars < text.length) context.notebook.write('thoughts-not-sent', { at })
}

/** Images that the model made, and parts of Gemini's that we do not understand. */
function opaque(item: OpaqueItem, at: number, draft: ContentsBuilder): void {
  draft.sealed = null
  const { notebook } = draft.context
  const { type, part: wirePart, result } = item.raw
  const own = hasReadableOrigin(item, draft.context) ? item.native?.['gemini'] : undefined
  if (type === 'gemini:part' && own !== undefined && isObject(wirePart)) {
    draft.modelParts().push(wirePart)
    return
  }
  if (type !== 'image_generation_call' || typeof result !== 'string') {
    notebook.write('hosted-item', { at, ...(typeof type === 'string' ? { detail: type } : {}) })
    return
  }
  const part = draft.encodeMedia(item, at)
  if (part === null) return
  if (own === undefined) return relocate(part, at, draft)
  const signature = own['thoughtSignature']
  const isSigned = typeof signature === 'string' && part.inlineData !== undefined
  draft.modelParts().push(isSigned ? { ...part, thoughtSignature: signature } : part)
}

/** A line of the user at both ends, where one is missing. */
function framed(draft: ContentsBuilder): readonly GeminiContent[] {
  const { contents, context } = draft
  showRelocated(draft)
  const text = formatNotice('The conversation begins.')
  const opening = { role: 'user', parts: [{ text }] } as const
  const isHeadless = contents[0]?.role !== 'user'
  if (isHeadless) context.notebook.write('first-turn-added')
  endWithUser(draft)
  return isHeadless ? [opening, ...contents] : contents
}

function showRelocated(draft: ContentsBuilder): void {
  if (draft.relocated.length > 0) draft.userParts().push(...draft.relocated.splice(0))
}

/** Asks the model to go on with its own words, where it does not do so by itself. */
function endWithUser(draft: ContentsBuilder): void {
  const { contents, context } = draft
  if (contents.at(-1)?.role !== 'model') return
  if (context.quirks.prefill ?? context.model.continues) return
  context.notebook.write('last-turn-added')
  draft.userParts().push({ text: 'Continue.' })
}
