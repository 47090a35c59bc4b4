/**
 * Chooses the decoder of a content block by its type. Consecutive text blocks become the parts of
 * one message; each other block becomes an item.
 */
import { startCompactionBlock } from './decode-compaction.ts'
import { endMessage, startAnswerToolBlock, startTextBlock } from './decode-text.ts'
import { startOpaqueBlock } from './decode-opaque.ts'
import { startRedactedThinkingBlock, startThinkingBlock } from './decode-thinking.ts'
import { startToolUseBlock } from './decode-tool-use.ts'
import type { AnswerState, StartedBlock, BlockDecoder } from './decoding-state.ts'
import { ANSWER_TOOL } from '../request/encode-structured-output.ts'
import type { ContentBlock } from '../api-types.ts'

export function startBlock(answer: AnswerState, start: ContentBlock): StartedBlock {
  const { type, name } = start
  if (type === 'text') return startTextBlock(answer, start)
  if (type === 'tool_use' && name === ANSWER_TOOL) return startAnswerToolBlock(answer, start)
  const endEvents = endMessage(answer, true)
  const { events, builder } = (ITEM_DECODERS.get(type) ?? startOpaqueBlock)(answer, start)
  return { events: [...endEvents, ...events], builder }
}

/** The decoders by block type. A block of any other type becomes an opaque item. */
const ITEM_DECODERS: ReadonlyMap<unknown, BlockDecoder> = new Map([
  ['compaction', startCompactionBlock],
  ['thinking', startThinkingBlock],
  ['redacted_thinking', startRedactedThinkingBlock],
  ['tool_use', startToolUseBlock],
])
