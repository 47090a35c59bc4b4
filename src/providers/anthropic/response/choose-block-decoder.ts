/**
 * The kinds of content blocks. Text blocks that follow each other are parts of one message, everything
 * else is an item of its own; so the order of parts and items is the order of blocks, and encoding
 * gives back what came.
 */
import { openCompaction } from './decode-compaction.ts'
import { closeMessage, openAnswerTool, openText } from './decode-text.ts'
import { openOpaque } from './decode-opaque.ts'
import { openRedacted, openThinking } from './decode-thinking.ts'
import { openToolUse } from './decode-tool-use.ts'
import type { Answer, Opened, Opener } from './decoding-state.ts'
import { ANSWER_TOOL } from '../request/choose-structured-output-method.ts'
import type { Block } from '../api-types.ts'

export function openBlock(answer: Answer, start: Block): Opened {
  const { type, name } = start
  if (type === 'text') return openText(answer, start)
  if (type === 'tool_use' && name === ANSWER_TOOL) return openAnswerTool(answer, start)
  const closed = closeMessage(answer, true)
  const { events, block } = (ITEMS.get(type) ?? openOpaque)(answer, start)
  return closed.length === 0 ? { events, block } : { events: [...closed, ...events], block }
}

/** Everything else is carried as it is. */
const ITEMS: ReadonlyMap<unknown, Opener> = new Map([
  ['compaction', openCompaction],
  ['thinking', openThinking],
  ['redacted_thinking', openRedacted],
  ['tool_use', openToolUse],
])
