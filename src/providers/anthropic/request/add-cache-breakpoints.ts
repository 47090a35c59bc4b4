/**
 * Adds at most four cache breakpoints to a request: after the tools, after the system prompt,
 * before the last question, and after the last user message. The API caches the content before each
 * breakpoint, so the next request with the same beginning costs less.
 *
 * https://platform.claude.com/docs/en/build-with-claude/prompt-caching
 */
import type { JsonObject } from '../../../core/json/json.ts'
import { isBlankText, type ContentBlock, type AnthropicMessage } from '../api-types.ts'

interface CacheableParts {
  readonly tools: readonly JsonObject[]
  readonly system: readonly ContentBlock[]
  readonly messages: readonly AnthropicMessage[]
}

export function addCacheBreakpoints(
  parts: CacheableParts,
  cacheControl: JsonObject | null,
): CacheableParts {
  if (cacheControl === null) return parts
  const { tools, system, messages } = parts
  const lastUserIndex = messages.findLastIndex(({ role }) => role === 'user')
  const lastQuestionIndex = messages.findLastIndex(({ role, content }) => {
    return role === 'user' && content.some(({ type }) => type !== 'tool_result')
  })
  return {
    tools: markLast(tools, cacheControl, () => true),
    system: markLast(system, cacheControl, isMarkable),
    messages: messages.map((message, index) => {
      if (index !== lastUserIndex && index !== lastQuestionIndex - 1) return message
      return { ...message, content: markLast(message.content, cacheControl, isMarkable) }
    }),
  }
}

function markLast(
  blocks: readonly ContentBlock[],
  cacheControl: JsonObject,
  isMarkable: (block: ContentBlock) => boolean,
): readonly ContentBlock[] {
  const last = blocks.findLastIndex(isMarkable)
  return blocks.map((block, index) => {
    return index === last ? { ...block, cache_control: cacheControl } : block
  })
}

/**
 * The types of blocks that may carry a breakpoint. Other blocks, e.g. thinking, must be sent
 * unchanged.
 */
const MARKABLE_TYPES: ReadonlySet<unknown> = new Set(
  'text image document tool_use tool_result'.split(' '),
)

function isMarkable(block: ContentBlock): boolean {
  return MARKABLE_TYPES.has(block['type']) && !isBlankText(block)
}
