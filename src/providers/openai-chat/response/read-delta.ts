/**
 * Reads the fields of a delta and passes them to the `DeltaFieldsDecoder`, in the order in which a
 * model writes them: reasoning, text, tool calls.
 */
import { filterObjects } from '../../../core/items/chat-only-fields.ts'
import { isObject, textOrEmpty, type Json, type JsonObject } from '../../../core/json/json.ts'
import type { DeltaFieldsDecoder } from './delta-fields-decoder.ts'
import { isSummaryDetail, readDetailText } from './merge-reasoning-details.ts'
import type { ChatDelta } from '../api-types.ts'

export function readDelta(
  delta: ChatDelta,
  logprobs: Json | undefined,
  answer: DeltaFieldsDecoder,
): void {
  readReasoning(delta, answer)
  readContent(delta.content, logprobs, answer)
  const refusal = textOrEmpty(delta.refusal)
  if (refusal !== '') answer.addRefusal(refusal)
  if (delta.annotations !== undefined) readAnnotations(delta.annotations, answer)
  if (delta.images !== undefined)
    for (const raw of filterObjects(delta.images)) answer.addMedia(raw)
  // Uses only the transcript of spoken audio, as text. The audio itself is discarded.
  if (isObject(delta.audio)) {
    const transcript = textOrEmpty(delta.audio['transcript'])
    if (transcript !== '') answer.addText(transcript)
  }
  if (delta.tool_calls !== undefined) {
    for (const fragment of filterObjects(delta.tool_calls)) answer.addCallFragment(fragment)
  }
  if (isObject(delta.function_call)) answer.addCallFragment({ function: delta.function_call })
  if (isObject(delta.extra_content)) answer.setMessageField('extra_content', delta.extra_content)
}

/**
 * Reads reasoning from one of four fields. If a server sends the same text in two of them, it is
 * read once.
 */
function readReasoning(delta: ChatDelta, answer: DeltaFieldsDecoder): void {
  const details =
    delta.reasoning_details === undefined ? [] : filterObjects(delta.reasoning_details)
  const text =
    textOrEmpty(delta.reasoning_content) ||
    textOrEmpty(delta.reasoning) ||
    textOrEmpty(delta.thinking)
  if (text !== '') answer.addReasoning(text, details.some(isSummaryDetail) ? 'summary' : 'content')
  for (const piece of details) {
    const detailText = text === '' ? readDetailText(piece) : ''
    const channel = isSummaryDetail(piece) ? 'summary' : 'content'
    if (detailText !== '') answer.addReasoning(detailText, channel)
    answer.addReasoningDetail(piece)
  }
}

function readContent(
  content: Json | undefined,
  logprobs: Json | undefined,
  answer: DeltaFieldsDecoder,
): void {
  if (typeof content === 'string') {
    if (content === '') return
    const tokens = isObject(logprobs) ? logprobs['content'] : undefined
    if (Array.isArray(tokens) && tokens.length > 0) answer.addText(content, tokens)
    else answer.addText(content)
  } else if (Array.isArray(content)) {
    for (const part of filterObjects(content)) readPart(part, answer)
  }
}

/** Reads a part in Mistral's format, e.g. `{ type: 'thinking', thinking: [{ text: '…' }] }`. */
function readPart(part: JsonObject, answer: DeltaFieldsDecoder): void {
  const { type, thinking } = part
  if (type === 'text' || type === 'output_text') {
    const text = textOrEmpty(part['text'])
    if (text !== '') answer.addText(text)
  } else if (type === 'thinking') {
    const pieces = Array.isArray(thinking) ? filterObjects(thinking) : [{ text: thinking }]
    for (const piece of pieces) {
      const text = textOrEmpty(piece['text'])
      if (text !== '') answer.addReasoning(text, 'content')
    }
  } else if (type === 'image_url') answer.addMedia(part)
}

/**
 * Passes annotations on in the flat form of the Responses API: `{ type, url_citation: { url } }` →
 * `{ type, url }`.
 */
function readAnnotations(list: Json, answer: DeltaFieldsDecoder): void {
  for (const annotation of filterObjects(list)) {
    const nested = annotation['url_citation']
    const flat = isObject(nested) ? { type: 'url_citation', ...nested } : annotation
    answer.addAnnotation(flat)
  }
}
