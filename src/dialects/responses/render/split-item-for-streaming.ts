/** Splits a finished item into the pieces that a stream writes, in the order of its parts. */
import type { Item, Part } from '../../../core/item.ts'
import type { Json, JsonObject } from '../../../core/json/json.ts'
import { renderPart } from './render-item.ts'
import type { TextChannel } from './text-event-names.ts'

export interface ItemPiece {
  /**
   * The kind of text in the piece; `null` for a part without text, e.g. an image, which is written
   * in one event.
   */
  readonly channel: TextChannel | null
  readonly partNumber: number
  readonly text: string
  /**
   * The part of a message as the client is sent it; `null` for reasoning and for the input of a
   * call.
   */
  readonly renderedPart: JsonObject | null
  readonly annotations: readonly JsonObject[]
  readonly logprobs: readonly Json[]
}

export function splitItemForStreaming(item: Item): readonly ItemPiece[] {
  switch (item.type) {
    case 'message':
      return item.content.map(createMessagePiece)
    case 'reasoning':
      return [
        ...item.summary.map(({ text }, part) => createTextPiece('summary', part, text)),
        ...(item.content ?? []).map(({ text }, part) => createTextPiece('content', part, text)),
      ]
    case 'function_call':
      return [createTextPiece('arguments', 0, item.arguments)]
    case 'custom_tool_call':
      return [createTextPiece('arguments', 0, item.input)]
    case 'function_call_output':
    case 'custom_tool_call_output':
    case 'opaque':
      return []
  }
}

function createTextPiece(channel: TextChannel, partNumber: number, text: string): ItemPiece {
  return { channel, partNumber, text, renderedPart: null, annotations: [], logprobs: [] }
}

function createMessagePiece(part: Part, index: number): ItemPiece {
  const renderedPart = renderPart(part)
  if (part.type === 'refusal')
    return { ...createTextPiece('refusal', index, part.refusal), renderedPart }
  if (part.type !== 'output_text' && part.type !== 'input_text') {
    return { ...createTextPiece('text', index, ''), channel: null, renderedPart }
  }
  const { text, annotations = [], logprobs = [] } = part
  return { channel: 'text', partNumber: index, text, renderedPart, annotations, logprobs }
}
