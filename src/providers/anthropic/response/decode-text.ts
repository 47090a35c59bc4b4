/** Text, and what it cites. */
import type { StreamEvent } from '../../../core/stream-event.ts'
import type { Message, TextPart } from '../../../core/item.ts'
import { isObject, listIn, textIn, type Json, type JsonObject } from '../../../core/json/json.ts'
import { NOTHING } from '../../../core/stream/stage.ts'
import { annotationOf } from './citations.ts'
import { ended, wholeInput, type Answer, type Opened, type OpenMessage } from './decoding-state.ts'
import type { Block } from '../api-types.ts'

export function openText(answer: Answer, start: Block): Opened {
  const speaker = speakerIn(answer, listIn(start['citations']))
  return {
    events: speaker.say(textIn(start['text'])),
    block: {
      delta(delta) {
        if (delta['type'] !== 'citations_delta') return speaker.say(textIn(delta['text']))
        if (isObject(delta['citation'])) speaker.cite(delta['citation'])
        return NOTHING
      },
      stop: speaker.end,
    },
  }
}

/** The tool that stands for structured output: its input is the text of the answer. */
export function openAnswerTool(answer: Answer, start: Block): Opened {
  const speaker = speakerIn(answer, [])
  let isSaid = false
  return {
    events: NOTHING,
    block: {
      delta(delta) {
        const json = textIn(delta['partial_json'])
        isSaid ||= json !== ''
        return speaker.say(json)
      },
      stop: () => [...speaker.say(isSaid ? '' : wholeInput(start)), ...speaker.end()],
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
function speakerIn(answer: Answer, cited: readonly Json[]): Speaker {
  const citations = [...cited]
  let message: OpenMessage | null = null
  let part = -1
  return {
    say(text) {
      if (text === '') return NOTHING
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
    end: () => (message === null || message !== answer.message ? NOTHING : endPart(message, part)),
  }
}

function openMessage(answer: Answer): {
  readonly message: OpenMessage
  readonly events: readonly StreamEvent[]
} {
  if (answer.message !== null) return { message: answer.message, events: NOTHING }
  const index = answer.nextIndex++
  answer.message = { index, parts: [] }
  const item: Message = { type: 'message', role: 'assistant', content: [] }
  return { message: answer.message, events: [{ type: 'item-started', index, item }] }
}

/** How far a citation reaches is known only now. */
function endPart({ index, parts }: OpenMessage, part: number): readonly StreamEvent[] {
  const own = parts[part]
  if (own === undefined || own.isOver) return NOTHING
  own.isOver = true
  return annotationsOf(own.citations, own.text).map((annotation) => {
    return { type: 'annotation-added', index, part, annotation }
  })
}

function annotationsOf(citations: readonly Json[], text: string): readonly JsonObject[] {
  return citations
    .map((citation) => (isObject(citation) ? annotationOf(citation, text.length) : null))
    .filter((annotation) => annotation !== null)
}

export function closeMessage(answer: Answer, isWhole: boolean): readonly StreamEvent[] {
  const { message } = answer
  if (message === null) return NOTHING
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
  return [...untold, { type: 'item-ended', index, item: ended(item, isWhole) }]
}

function textPart({ text, citations }: OpenMessage['parts'][number]): TextPart {
  const annotations = annotationsOf(citations, text)
  return { type: 'output_text', text, ...(annotations.length === 0 ? {} : { annotations }) }
}
