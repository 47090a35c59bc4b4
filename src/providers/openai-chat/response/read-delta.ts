/** What one chunk says about the message, field by field, in the order in which a model speaks. */
import { objectsIn } from '../../../core/items/chat-only-fields.ts'
import { isObject, textIn, type Json, type JsonObject } from '../../../core/json/json.ts'
import type { OpenAnswer } from './answer-event-emitter.ts'
import { isSummary, shownText } from './merge-reasoning-details.ts'
import type { Delta } from '../api-types.ts'

export function readDelta(delta: Delta, logprobs: Json | undefined, answer: OpenAnswer): void {
  readReasoning(delta, answer)
  readContent(delta.content, logprobs, answer)
  const refusal = textIn(delta.refusal)
  if (refusal !== '') answer.refusal(refusal)
  if (delta.annotations !== undefined) readAnnotations(delta.annotations, answer)
  if (delta.images !== undefined) for (const raw of objectsIn(delta.images)) answer.media(raw)
  // What a model that speaks aloud has said. The sound itself is not kept.
  if (isObject(delta.audio)) {
    const transcript = textIn(delta.audio['transcript'])
    if (transcript !== '') answer.text(transcript)
  }
  if (delta.tool_calls !== undefined) {
    for (const fragment of objectsIn(delta.tool_calls)) answer.call(fragment)
  }
  if (isObject(delta.function_call)) answer.call({ function: delta.function_call })
  if (isObject(delta.extra_content)) answer.field('extra_content', delta.extra_content)
}

/** One text under up to four names; some servers say it under two at once. */
function readReasoning(delta: Delta, answer: OpenAnswer): void {
  const details = delta.reasoning_details === undefined ? [] : objectsIn(delta.reasoning_details)
  const text = textIn(delta.reasoning_content) || textIn(delta.reasoning) || textIn(delta.thinking)
  if (text !== '') answer.reasoning(text, details.some(isSummary) ? 'summary' : 'content')
  for (const piece of details) {
    const shown = text === '' ? shownText(piece) : ''
    if (shown !== '') answer.reasoning(shown, isSummary(piece) ? 'summary' : 'content')
    answer.detail(piece)
  }
}

function readContent(
  content: Json | undefined,
  logprobs: Json | undefined,
  answer: OpenAnswer,
): void {
  if (typeof content === 'string') {
    if (content === '') return
    const tokens = isObject(logprobs) ? logprobs['content'] : undefined
    if (Array.isArray(tokens) && tokens.length > 0) answer.text(content, tokens)
    else answer.text(content)
  } else if (Array.isArray(content)) {
    for (const part of objectsIn(content)) readPart(part, answer)
  }
}

/** Mistral's: parts of thinking and parts of text. */
function readPart(part: JsonObject, answer: OpenAnswer): void {
  const { type, thinking } = part
  if (type === 'text' || type === 'output_text') {
    const text = textIn(part['text'])
    if (text !== '') answer.text(text)
  } else if (type === 'thinking') {
    const pieces = Array.isArray(thinking) ? objectsIn(thinking) : [{ text: thinking }]
    for (const piece of pieces) {
      const text = textIn(piece['text'])
      if (text !== '') answer.reasoning(text, 'content')
    }
  } else if (type === 'image_url') answer.media(part)
}

/** Chat nests a citation under its type; the waist has it flat. */
function readAnnotations(list: Json, answer: OpenAnswer): void {
  for (const annotation of objectsIn(list)) {
    const nested = annotation['url_citation']
    const flat = isObject(nested) ? { type: 'url_citation', ...nested } : annotation
    answer.annotation(flat)
  }
}
