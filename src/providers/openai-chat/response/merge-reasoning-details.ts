/**
 * OpenRouter's reasoning_details: a list of blocks (text, summary, encrypted), streamed in pieces.
 * They have to go back as one block each, with its signature.
 * https://openrouter.ai/docs/guides/best-practices/reasoning-tokens
 */
import { textOrEmpty, type Json, type JsonObject } from '../../../core/json/json.ts'

/** Adds a piece to the block it belongs to, or as a block of its own. `blocks` is changed. */
export function addReasoningDetail(blocks: JsonObject[], piece: JsonObject): void {
  const at = blocks.findLastIndex((block) => isSameBlock(block, piece))
  const block = blocks[at]
  if (block === undefined) blocks.push(piece)
  else blocks[at] = mergeBlock(block, piece)
}

/** Services announce a block with a piece that says nothing yet. */
export function hasDetailContent(piece: JsonObject): boolean {
  return (
    CONTENT_FIELDS.some((name) => textOrEmpty(piece[name]) !== '') ||
    textOrEmpty(piece['signature']) !== ''
  )
}

/** What a block shows to a person. */
export function readDetailText(block: JsonObject): string {
  return textOrEmpty(block['text']) || textOrEmpty(block['summary'])
}

export function isSummaryDetail(block: JsonObject): boolean {
  return block['type'] === 'reasoning.summary'
}

const CONTENT_FIELDS = ['text', 'summary', 'data'] as const

function isSameBlock(block: JsonObject, piece: JsonObject): boolean {
  if (block['type'] !== piece['type']) return false
  const sameId = isSameOrMissing(block['id'], piece['id'])
  // Without a number a piece goes on with the block in front of it.
  return sameId && isSameOrMissing(block['index'], piece['index'])
}

/** A piece may leave out what its block has said already. */
function isSameOrMissing(one: Json | undefined, other: Json | undefined): boolean {
  return one === other || one === undefined || one === null || other === undefined || other === null
}

function mergeBlock(block: JsonObject, piece: JsonObject): JsonObject {
  const out: Record<string, Json | undefined> = { ...block }
  for (const [name, value] of Object.entries(piece)) {
    const isContent = CONTENT_FIELDS.some((known) => known === name)
    if (isContent) out[name] = textOrEmpty(block[name]) + textOrEmpty(value)
    else if (value !== null && value !== '') out[name] = value
  }
  return out
}
