/**
 * Chooses the decoder of a content block. Consecutive text blocks become parts of one message; any
 * other block becomes an item. Parts and items are in the order of the blocks, so encoding them
 * again restores the same blocks.
 */
import { startCompactionBlock } from './decode-compaction.ts'
import { endMessage, startAnswerToolBlock, startTextBlock } from './decode-text.ts'
import { startOpaqueBlock } from './decode-opaque.ts'
import { startRedactedThinkingBlock, startThinkingBlock } from './decode-thinking.ts'
import { startToolUseBlock } from './decode-tool-use.ts'
import type { AnswerState, StartedBlock, BlockDecoder } from './decoding-state.ts'
import { ANSWER_TOOL } from '../request/choose-structured-output-method.ts'
import type { ContentBlock } from '../api-types.ts'

export function startBlock(answer: AnswerState, start: ContentBlock): StartedBlock {
  const { type, name } = start
  if (type === 'text') return startTextBlock(answer, start)
  if (type === 'tool_use' && name === ANSWER_TOOL) return startAnswerToolBlock(answer, start)
  const endEvents = endMessage(answer, true)
  const { events, block } = (ITEM_DECODERS.get(type) ?? startOpaqueBlock)(answer, start)
  return endEvents.length === 0 ? { events, block } : { events: [...endEvents, ...events], block }
}

/** Decoders by block type. Blocks of other types become opaque items. */
const ITEM_DECODERS: ReadonlyMap<unknown, BlockDecoder> = new Map([
  ['compaction', startCompactionBlock],
  ['thinking', startThinkingBlock],
  ['redacted_thinking', startRedactedThinkingBlock],
  ['tool_use', startToolUseBlock],
])
