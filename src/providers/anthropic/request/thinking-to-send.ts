/**
 * Decides which thinking can be sent back. The thinking of an answer is sent completely or not at all, because each
 * block is bound to the block before it. If a block has no signature, e.g. because its stream broke off, the signed
 * blocks of the same answer are left out, too.
 */
import { isToolOutput, type Item, type Reasoning } from '../../../core/item.ts'
import type { JsonObject } from '../../../core/json/json.ts'
import { packThinkingBlock, unpackThinkingBlock } from '../pack-thinking-block.ts'

/**
 * Returns the original thinking block, or the code of the note that explains why it cannot be sent.
 */
export function restoreThinkingBlock({
  native,
  origin,
  summary,
  encrypted_content: packed,
}: Reasoning): JsonObject | ThinkingNote {
  if (origin !== undefined && origin.wire !== 'anthropic') return 'reasoning-of-another-provider'
  const block = native?.['anthropic']
  if (block !== undefined) return packThinkingBlock(block) === null ? 'thinking-unsigned' : block
  if (packed?.startsWith('anthropic:') !== true) {
    return origin === undefined ? 'reasoning-of-another-provider' : 'thinking-unsigned'
  }
  return unpackThinkingBlock(packed, summary.map(({ text }) => text).join('')) ?? 'thinking-changed'
}

type ThinkingNote = 'reasoning-of-another-provider' | 'thinking-unsigned' | 'thinking-changed'

/** Returns the reasoning items that could be sent, but whose answer has other thinking that cannot. */
export function findIncompleteThinking(items: readonly Item[]): ReadonlySet<Item> {
  const answers = new Map<unknown, Reasoning[]>()
  let unrecordedAnswer = {}
  for (const item of items) {
    if (item.type === 'message' ? item.role !== 'assistant' : isToolOutput(item))
      unrecordedAnswer = {}
    if (item.type !== 'reasoning') continue
    // All items of a recorded answer share one `origin`. Items that only the client stored have none.
    const answer = item.origin ?? unrecordedAnswer
    const thinking = answers.get(answer)
    if (thinking === undefined) answers.set(answer, [item])
    else thinking.push(item)
  }
  const incomplete = new Set<Item>()
  for (const thinking of answers.values()) {
    if (thinking.length === 1) continue
    const sendable = thinking.filter((item) => typeof restoreThinkingBlock(item) !== 'string')
    if (sendable.length < thinking.length) for (const item of sendable) incomplete.add(item)
  }
  return incomplete
}
