/** Text, and what it cites. */
import type { StreamEvent } from '../../../core/stream-event.ts'
import type { Message, TextPart } from '../../../core/item.ts'
import {
  isObject,
  listOrEmpty,
  textOrEmpty,
  type Json,
  type JsonObject,
} from '../../../core/json/json.ts'
import { NO_OUTPUT } from '../../../core/stream/stage.ts'
import { convertCitation } from './citations.ts'
import {
  markIfIncomplete,
  encodeStartInput,
  type AnswerState,
  type StartedBlock,
  type OpenMessageState,
} from './decoding-state.ts'
import type { ContentBlock } from '../api-types.ts'

export function startTextBlock(answer: AnswerState, start: ContentBlock): StartedBlock {
  const speaker = speakerIn(answer, listOrEmpty(start['citations']))
  return {
    events: speaker.say(textOrEmpty(start['text'])),
    block: {
      delta(delta) {
        if (delta['type'] !== 'citations_delta') return speaker.say(textOrEmpty(delta['text']))
        if (isObject(delta['citation'])) speaker.cite(delta['citation'])
        return NO_OUTPUT
      },
      stop: speaker.end,
    },
  }
}

/** The tool that stands for structured output: its input is the text of the answer. */
export function startAnswerToolBlock(answer: AnswerState, start: ContentBlock): StartedBlock {
  const speaker = speakerIn(answer, [])
  let isSaid = false
  return {
    events: NO_OUTPUT,
    block: {
      delta(delta) {
        const json = textOrEmpty(delta['partial_json'])
        isSaid ||= json !== ''
        return speaker.say(json)
      },
      stop: () => [...speaker.say(isSaid ? '' : encodeStartInput(start)), ...speaker.end()],
    },
  }
}

interface Speaker {
  readonly say: (text: string) => readonly StreamEvent[]
  readonly cite: (citation: Json) => void
  readonly end: () => readonly StreamEvent[]
}

/**
 * Writes one part of the open message. The part begins with its first character, because the wire
 * sends empty text blocks as well; and anew, should the message have been closed in between.
 */
function speakerIn(answer: AnswerState, cited: readonly Json[]): Speaker {
  const citations = [...cited]
  let message: OpenMessageState | null = null
  let part = -1
  return {
    say(text) {
      if (text === '') return NO_OUTPUT
      const own = message?.parts[part]
      if (own !== undefined && message !== null && message === answer.message) {
        own.text += text
        return [{ type: 'text-delta', index: message.index, part, text }]
      }
      const opened = openMessage(answer)
      message = opened.message
      part = message.parts.push({ text, citations, isOver: false }) - 1
      return [...opened.events, { type: 'text-delta', index: message.index, part, text }]
    },
    cite: (citation) => citations.push(citation),
    end: () =>
      message === null || message !== answer.message ? NO_OUTPUT : endPart(message, part),
  }
}

function openMessage(answer: AnswerState): {
  readonly message: OpenMessageState
  readonly events: readonly StreamEvent[]
} {
  if (answer.message !== null) return { message: answer.message, events: NO_OUTPUT }
  const index = answer.nextIndex++
  answer.message = { index, parts: [] }
  const item: Message = { type: 'message', role: 'assistant', content: [] }
  return { message: answer.message, events: [{ type: 'item-started', index, item }] }
}

/** How far a citation reaches is known only now. */
function endPart({ index, parts }: OpenMessageState, part: number): readonly StreamEvent[] {
  const own = parts[part]
  if (own === undefined || own.isOver) return NO_OUTPUT
  own.isOver = true
  return annotationsOf(own.citations, own.text).map((annotation) => {
    return { type: 'annotation-added', index, part, annotation }
  })
}

function annotationsOf(citations: readonly Json[], text: string): readonly JsonObject[] {
  return citations
    .map((citation) => (isObject(citation) ? convertCitation(citation, text.length) : null))
    .filter((annotation) => annotation !== null)
}

export function endMessage(answer: AnswerState, isWhole: boolean): readonly StreamEvent[] {
  const { message } = answer
  if (message === null) return NO_OUTPUT
  answer.message = null
  const { index, parts } = message
  const untold = parts.flatMap((_, part) => endPart(message, part))
  const citations = parts.map((own) => (own.citations.length === 0 ? null : own.citations))
  const item: Message = {
    type: 'message',
    role: 'assistant',
    content: parts.map(textPart),
    ...(citations.some((own) => own !== null) ? { native: { anthropic: { citations } } } : {}),
  }
  return [...untold, { type: 'item-ended', index, item: markIfIncomplete(item, isWhole) }]
}

function textPart({ text, citations }: OpenMessageState['parts'][number]): TextPart {
  const annotations = annotationsOf(citations, text)
  return { type: 'output_text', text, ...(annotations.length === 0 ? {} : { annotations }) }
}
