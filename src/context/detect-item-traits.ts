/**
 * Determines in one pass which traits a list of items has, e.g. whether any text may contain a marker. This saves time:
 * a transform is skipped if the list has none of the traits that the transform requires. A trait that is present is
 * always reported. A trait may also be reported by mistake; the transform then runs and finds nothing to change.
 */
import { isCompaction, isCompactionTrigger } from '../core/items/compaction-item.ts'
import { readClientGivenAuthor, readHistoryReset } from '../core/items/gateway-fields.ts'
import type { Item, Part } from '../core/item.ts'
import { mayContainMarker } from '../core/markers/format-and-extract-markers.ts'
import { mayHaveBracket } from '../core/text/notice-words.ts'
import { mayContainDetailsBlock } from '../core/text/remove-details-blocks.ts'

/**
 * One bit per trait, so that a set of traits is one number: the sum of their bits, e.g. 16 + 512 = 528 for `author` and
 * `media`.
 */
export const ITEM_TRAITS = {
  reset: 1,
  markerText: 2,
  detailsBlock: 4,
  noticeText: 8,
  author: 16,
  compaction: 32,
  /** Any item other than a message: a call, output, reasoning or an item of a hosted tool. */
  modelItem: 64,
  toolOutput: 128,
  reasoning: 256,
  /** A content part other than text and refusals, e.g. an image. */
  media: 512,
  /** A Markdown image, e.g. `![cat](https://…)`, in the text of an assistant. */
  markdownImage: 1024,
} as const

export function detectItemTraits(items: readonly Item[]): number {
  let traits = 0
  for (const item of items) traits |= scanItem(item)
  return traits
}

function scanItem(item: Item): number {
  let traits = item.native === undefined ? 0 : scanGatewayFields(item)
  switch (item.type) {
    case 'message': {
      const isAssistant = item.role === 'assistant'
      for (const part of item.content) traits |= scanPart(part, isAssistant)
      return traits
    }
    case 'function_call_output':
    case 'custom_tool_call_output': {
      traits |= ITEM_TRAITS.modelItem | ITEM_TRAITS.toolOutput
      if (typeof item.output === 'string') return traits | scanText(item.output, false)
      for (const part of item.output) traits |= scanPart(part, false)
      return traits
    }
    case 'function_call':
      return traits | ITEM_TRAITS.modelItem | scanText(item.arguments, false)
    case 'custom_tool_call':
      return traits | ITEM_TRAITS.modelItem | scanText(item.input, false)
    case 'reasoning': {
      const texts = [...item.summary, ...(item.content ?? [])]
      const mayImitate = texts.some(({ text }) => mayHaveBracket(text))
      traits |= ITEM_TRAITS.modelItem | ITEM_TRAITS.reasoning
      return traits | (mayImitate ? ITEM_TRAITS.noticeText : 0)
    }
    case 'opaque': {
      const isCompacting = isCompaction(item) || isCompactionTrigger(item)
      traits |= ITEM_TRAITS.modelItem | ITEM_TRAITS.noticeText
      return traits | (isCompacting ? ITEM_TRAITS.compaction : 0)
    }
  }
}

function scanGatewayFields(item: Item): number {
  const reset = readHistoryReset(item) === null ? 0 : ITEM_TRAITS.reset
  return reset | (readClientGivenAuthor(item) === null ? 0 : ITEM_TRAITS.author)
}

function scanPart(part: Part, isAssistant: boolean): number {
  switch (part.type) {
    case 'input_text':
    case 'output_text':
      return scanText(part.text, isAssistant)
    case 'refusal':
      return scanText(part.refusal, isAssistant)
    case 'input_image':
    case 'input_audio':
      return ITEM_TRAITS.media
    case 'input_file':
    case 'opaque':
      return ITEM_TRAITS.media | ITEM_TRAITS.noticeText
  }
}

function scanText(text: string, isAssistant: boolean): number {
  const marker = mayContainMarker(text) ? ITEM_TRAITS.markerText : 0
  const traits = marker | (mayHaveBracket(text) ? ITEM_TRAITS.noticeText : 0)
  if (!isAssistant) return traits
  const details = mayContainDetailsBlock(text) ? ITEM_TRAITS.detailsBlock : 0
  return traits | details | (text.includes('![') ? ITEM_TRAITS.markdownImage : 0)
}
