/** A finished item taken apart into what a stream tells of it, in the order of its parts. */
import type { Item, Part } from '../../../core/item.ts'
import type { Json, JsonObject } from '../../../core/json/json.ts'
import { renderPart } from './render-item.ts'
import type { TextChannel } from './text-event-names.ts'

export interface ItemPiece {
  /** `null` for a part that has no text and is told in one go. */
  readonly channel: TextChannel | null
  readonly part: number
  readonly text: string
  /** The part as a client sees it; `null` where it is seen otherwise, or is not a part. */
  readonly shown: JsonObject | null
  readonly annotations: readonly JsonObject[]
  readonly logprobs: readonly Json[]
}

export function splitItemForStreaming(item: Item): readonly ItemPiece[] {
  switch (item.type) {
    case 'message':
      return item.content.map(pieceOfMessage)
    case 'reasoning':
      return [
        ...item.summary.map(({ text }, part) => plain('summary', part, text)),
        ...(item.content ?? []).map(({ text }, part) => plain('content', part, text)),
      ]
    case 'function_call':
      return [plain('arguments', 0, item.arguments)]
    case 'custom_tool_call':
      return [plain('arguments', 0, item.input)]
    case 'function_call_output':
    case 'custom_tool_call_output':
    case 'opaque':
      return []
  }
}

function plain(channel: TextChannel, part: number, text: string): ItemPiece {
  return { channel, part, text, shown: null, annotations: [], logprobs: [] }
}

function pieceOfMessage(part: Part, at: number): ItemPiece {
  const shown = renderPart(part)
  if (part.type === 'refusal') return { ...plain('refusal', at, part.refusal), shown }
  if (part.type !== 'output_text' && part.type !== 'input_text') {
    return { ...plain('text', at, ''), channel: null, shown }
  }
  const { text, annotations = [], logprobs = [] } = part
  return { channel: 'text', part: at, text, shown, annotations, logprobs }
}
