/**
 * Counts the characters of an item as a provider charges for them, approximately: those of its texts, and for each
 * image or file the characters of a text with as many tokens. Fast, because it reads only lengths.
 *
 * A transform that runs a second time must decide the same again, so some items that it has made smaller count like the
 * originals: an image that a notice replaces counts as an image. For a shortened tool output,
 * `countItemCharsBeforeShortening` returns the original size.
 */
import type { Item, Part } from '../../core/item.ts'
import { estimateItemTokens } from '../../core/items/item-tokens.ts'
import { estimateTokens, IMAGE_TOKENS } from '../../core/text/estimate-tokens.ts'
import { countHiddenMedia, readNoticeMediaIdentities } from '../../core/text/gateway-notice.ts'

export function countItemChars(item: Item): number {
  return FIELD_NAME_CHARS + countContentChars(item)
}

/** Characters of the field names, ids and punctuation of an item, e.g. `{"type":"function_call_output","call_id":…}`. */
const FIELD_NAME_CHARS = 80

const CHARS_PER_TOKEN = 4

export const IMAGE_CHARS = IMAGE_TOKENS * CHARS_PER_TOKEN

/** Approximate characters of the notice in the place of hidden images. */
export const NOTICE_CHARS = 200

function countContentChars(item: Item): number {
  switch (item.type) {
    case 'message':
      return countPartChars(item.content)
    case 'function_call':
      return item.name.length + item.arguments.length
    case 'custom_tool_call':
      return item.name.length + item.input.length
    case 'function_call_output':
    case 'custom_tool_call_output':
      return typeof item.output === 'string' ? item.output.length : countPartChars(item.output)
    case 'reasoning': {
      let chars = item.encrypted_content?.length ?? 0
      for (const { text } of item.summary) chars += text.length
      for (const { text } of item.content ?? []) chars += text.length
      return chars
    }
    case 'opaque':
      return estimateItemTokens(item) * CHARS_PER_TOKEN
  }
}

function countPartChars(parts: readonly Part[]): number {
  let chars = 0
  for (const part of parts) {
    if (part.type === 'refusal') chars += part.refusal.length
    else if (!('text' in part)) {
      chars += estimateTokens(part) * CHARS_PER_TOKEN
    } else if (readNoticeMediaIdentities(part) === null) chars += part.text.length
    else chars += countHiddenMedia(part, 'image') * IMAGE_CHARS
  }
  return chars
}
