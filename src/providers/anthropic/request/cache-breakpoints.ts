/**
 * Marks the ends of what the provider may cache, at most four: the tools, the system prompt, the
 * history in front of the newest question, and the newest message. The next request reads what this
 * one wrote; marks move, and what is marked stays the same.
 *
 * https://platform.claude.com/docs/en/build-with-claude/prompt-caching
 */
import type { JsonObject } from '../../../core/json/json.ts'
import type { ContentBlock, AnthropicMessage } from '../api-types.ts'

interface Cacheable {
  readonly tools: readonly JsonObject[]
  readonly system: readonly ContentBlock[]
  readonly messages: readonly AnthropicMessage[]
}

export function addCacheBreakpoints(parts: Cacheable, cacheControl: JsonObject | null): Cacheable {
  if (cacheControl === null) return parts
  const { tools, system, messages } = parts
  const mark = (block: ContentBlock): ContentBlock => ({ ...block, cache_control: cacheControl })
  const newest = messages.findLastIndex(({ role }) => role === 'user')
  const question = messages.findLastIndex(({ role, content }) => {
    return role === 'user' && content.some(({ type }) => type !== 'tool_result')
  })
  return {
    tools: markedLast(tools, mark, () => true),
    system: markedLast(system, mark, isMarkable),
    messages: messages.map((message, at) => {
      if (at !== newest && at !== question - 1) return message
      return { ...message, content: markedLast(message.content, mark, isMarkable) }
    }),
  }
}

function markedLast(
  blocks: readonly ContentBlock[],
  mark: (block: ContentBlock) => ContentBlock,
  isMarkable: (block: ContentBlock) => boolean,
): readonly ContentBlock[] {
  const at = blocks.findLastIndex(isMarkable)
  return blocks.map((block, index) => (index === at ? mark(block) : block))
}

/** Thinking and the results of the provider's own tools are left exactly as they came. */
const MARKABLE: ReadonlySet<unknown> = new Set([
  'text',
  'image',
  'document',
  'tool_use',
  'tool_result',
])

function isMarkable({ type, text }: ContentBlock): boolean {
  return MARKABLE.has(type) && (type !== 'text' || (typeof text === 'string' && text.trim() !== ''))
}
