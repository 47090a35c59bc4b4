import type { Part, RefusalPart, TextPart } from '../../conversation/item.ts'

/** A refusal is text like any other to Gemini. */
export function isText(part: Part): part is TextPart | RefusalPart {
  return part.type === 'input_text' || part.type === 'output_text' || part.type === 'refusal'
}
