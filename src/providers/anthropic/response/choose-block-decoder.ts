/**
 * The kinds of content blocks. Text blocks that follow each other are parts of one message, everything
 * else is an item of its own; so the order of parts and items is the order of blocks, and encoding
 * gives back what came.
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
  const closed = endMessage(answer, true)
  const { events, block } = (ITEMS.get(type) ?? startOpaqueBlock)(answer, start)
  return closed.length === 0 ? { events, block } : { events: [...closed, ...events], block }
}

/** Everything else is carried as it is. */
const ITEMS: ReadonlyMap<unknown, BlockDecoder> = new Map([
  ['compaction', startCompactionBlock],
  ['thinking', startThinkingBlock],
  ['redacted_thinking', startRedactedThinkingBlock],
  ['tool_use', startToolUseBlock],
])
