/**
 * Merges the streamed pieces of OpenRouter's `reasoning_details` into complete blocks (text,
 * summary or encrypted data), because later requests must contain complete blocks with their
 * signatures.
 *
 * https://openrouter.ai/docs/guides/best-practices/reasoning-tokens
 */
import { textOrEmpty, type Json, type JsonObject } from '../../../core/json/json.ts'

/**
 * Appends a piece to the block that it continues, or adds it as a new block. Changes the list
 * `blocks`.
 */
export function addReasoningDetail(blocks: JsonObject[], piece: JsonObject): void {
  const at = blocks.findLastIndex((block) => isSameBlock(block, piece))
  const block = blocks[at]
  if (block === undefined) blocks.push(piece)
  else blocks[at] = mergeBlock(block, piece)
}

/** True if a piece has text, data or a signature. Some services send an empty first piece. */
export function hasDetailContent(piece: JsonObject): boolean {
  return (
    CONTENT_FIELDS.some((name) => textOrEmpty(piece[name]) !== '') ||
    textOrEmpty(piece['signature']) !== ''
  )
}

/** Returns the readable text of a block; `''` if the block is encrypted. */
export function readDetailText(block: JsonObject): string {
  return textOrEmpty(block['text']) || textOrEmpty(block['summary'])
}

export function isSummaryDetail(block: JsonObject): boolean {
  return block['type'] === 'reasoning.summary'
}

const CONTENT_FIELDS = ['text', 'summary', 'data'] as const

function isSameBlock(block: JsonObject, piece: JsonObject): boolean {
  if (block['type'] !== piece['type']) return false
  return (
    isSameOrMissing(block['id'], piece['id']) && isSameOrMissing(block['index'], piece['index'])
  )
}

/**
 * True if two ids or indexes are equal, or if one of them is missing: later pieces of a block may
 * omit them.
 */
function isSameOrMissing(first: Json | undefined, second: Json | undefined): boolean {
  return first === second || (first ?? null) === null || (second ?? null) === null
}

function mergeBlock(block: JsonObject, piece: JsonObject): JsonObject {
  const out: Record<string, Json | undefined> = { ...block }
  for (const [name, value] of Object.entries(piece)) {
    const isContent = CONTENT_FIELDS.some((field) => field === name)
    if (isContent) out[name] = textOrEmpty(block[name]) + textOrEmpty(value)
    else if (value !== null && value !== '') out[name] = value
  }
  return out
}
