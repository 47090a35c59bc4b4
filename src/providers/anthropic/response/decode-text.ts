/**
 * Decodes text blocks and their citations into the parts of a message. The original citations are
 * stored in the message's `native` field, because later requests must contain them unchanged.
 */
import type { Message, TextPart } from '../../../core/item.ts'
import {
  isObject,
  listOrEmpty,
  textOrEmpty,
  type Json,
  type JsonObject,
} from '../../../core/json/json.ts'
import type { StreamEvent } from '../../../core/stream-event.ts'
import { NO_OUTPUT } from '../../../core/stream/stream-stage.ts'
import type { ContentBlock } from '../api-types.ts'
import {
  markIfIncomplete,
  readStartEventInput,
  type AnswerState,
  type StartedBlock,
  type OpenMessageState,
} from './decoding-state.ts'

export function startTextBlock(answer: AnswerState, start: ContentBlock): StartedBlock {
  const writer = createPartWriter(answer, listOrEmpty(start['citations']))
  return {
    events: writer.append(textOrEmpty(start['text'])),
    builder: {
      addDelta(delta) {
        if (delta['type'] !== 'citations_delta') return writer.append(textOrEmpty(delta['text']))
        if (isObject(delta['citation'])) writer.cite(delta['citation'])
        return NO_OUTPUT
      },
      end: writer.end,
    },
  }
}

/**
 * Decodes a call of the structured-output tool into text: the input of the call is the JSON that
 * the client requested.
 */
export function startAnswerToolBlock(answer: AnswerState, start: ContentBlock): StartedBlock {
  const writer = createPartWriter(answer, [])
  let hasInput = false
  return {
    events: NO_OUTPUT,
    builder: {
      addDelta(delta) {
        const json = textOrEmpty(delta['partial_json'])
        hasInput ||= json !== ''
        return writer.append(json)
      },
      end: () => [...writer.append(hasInput ? '' : readStartEventInput(start)), ...writer.end()],
    },
  }
}

interface PartWriter {
  readonly append: (text: string) => readonly StreamEvent[]
  readonly cite: (citation: Json) => void
  readonly end: () => readonly StreamEvent[]
}

/**
 * Creates a writer for one text part of the open message. Creates the part with its first
 * character, because the API also sends empty text blocks, which must not become parts. Starts a
 * new message if none is open.
 */
function createPartWriter(answer: AnswerState, initialCitations: readonly Json[]): PartWriter {
  const citations = [...initialCitations]
  let message: OpenMessageState | null = null
  let part = -1
  return {
    append(text) {
      if (text === '') return NO_OUTPUT
      const openPart = message?.parts[part]
      if (openPart !== undefined && message !== null && message === answer.openMessage) {
        openPart.text += text
        return [{ type: 'text-delta', index: message.index, part, text }]
      }
      const opened = ensureOpenMessage(answer)
      message = opened.message
      part = message.parts.push({ text, citations, isOver: false }) - 1
      return [...opened.events, { type: 'text-delta', index: message.index, part, text }]
    },
    cite: (citation) => citations.push(citation),
    end: () =>
      message === null || message !== answer.openMessage ? NO_OUTPUT : endPart(message, part),
  }
}

function ensureOpenMessage(answer: AnswerState): {
  readonly message: OpenMessageState
  readonly events: readonly StreamEvent[]
} {
  if (answer.openMessage !== null) return { message: answer.openMessage, events: NO_OUTPUT }
  const index = answer.nextIndex++
  answer.openMessage = { index, parts: [] }
  const item: Message = { type: 'message', role: 'assistant', content: [] }
  return { message: answer.openMessage, events: [{ type: 'item-started', index, item }] }
}

/** Ends a part. Emits its citations only now, because each citation covers the complete text. */
function endPart({ index, parts }: OpenMessageState, part: number): readonly StreamEvent[] {
  const openPart = parts[part]
  if (openPart === undefined || openPart.isOver) return NO_OUTPUT
  openPart.isOver = true
  return convertCitations(openPart.citations, openPart.text).map((annotation) => {
    return { type: 'annotation-added', index, part, annotation }
  })
}

function convertCitations(citations: readonly Json[], text: string): readonly JsonObject[] {
  return citations
    .map((citation) => (isObject(citation) ? convertCitation(citation, text.length) : null))
    .filter((annotation) => annotation !== null)
}

export function endMessage(answer: AnswerState, isComplete: boolean): readonly StreamEvent[] {
  const { openMessage } = answer
  if (openMessage === null) return NO_OUTPUT
  answer.openMessage = null
  const { index, parts } = openMessage
  const annotationEvents = parts.flatMap((_, part) => endPart(openMessage, part))
  const citations = parts.map(({ citations }) => (citations.length === 0 ? null : citations))
  const item: Message = {
    type: 'message',
    role: 'assistant',
    content: parts.map(createTextPart),
    ...(citations.some((list) => list !== null) ? { native: { anthropic: { citations } } } : {}),
  }
  return [
    ...annotationEvents,
    { type: 'item-ended', index, item: markIfIncomplete(item, isComplete) },
  ]
}

function createTextPart({ text, citations }: OpenMessageState['parts'][number]): TextPart {
  const annotations = convertCitations(citations, text)
  return { type: 'output_text', text, ...(annotations.length === 0 ? {} : { annotations }) }
}

/**
 * Returns an annotation that covers the complete text block of `length` characters. Returns `null`
 * for citations that the Responses API cannot represent.
 */
export function convertCitation(citation: JsonObject, textLength: number): JsonObject | null {
  switch (citation['type']) {
    case 'web_search_result_location':
      return createUrlCitation(textOrEmpty(citation['url']), citation, textLength)
    case 'search_result_location':
      return createUrlCitation(textOrEmpty(citation['source']), citation, textLength)
    case 'char_location':
    case 'page_location':
    case 'content_block_location':
      return createFileCitation(citation, textLength)
    default:
      return null
  }
}

function createUrlCitation(url: string, { title }: JsonObject, length: number): JsonObject {
  return { type: 'url_citation', url, title: textOrEmpty(title), start_index: 0, end_index: length }
}

function createFileCitation(citation: JsonObject, length: number): JsonObject {
  const { file_id, document_title, document_index } = citation
  const number = typeof document_index === 'number' ? document_index + 1 : 1
  const filename = textOrEmpty(document_title) || `document ${number}`
  return { type: 'file_citation', file_id: textOrEmpty(file_id), filename, index: length }
}
