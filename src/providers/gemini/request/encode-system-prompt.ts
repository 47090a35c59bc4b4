/** Encodes the system instruction: the request's instructions and the leading system messages. */
import { countLeadingInstructions } from '../../../core/items/leading-instructions.ts'
import { isText, textOf, type Item } from '../../../core/item.ts'
import type { EncodingContext } from './encoding-context.ts'
import type { GeminiContent, GeminiPart } from '../api-types.ts'

export interface SystemPrompt {
  readonly parts: readonly GeminiPart[]
  /** Number of leading items that the system instruction contains. */
  readonly itemCount: number
}

export function encodeSystemPrompt(
  items: readonly Item[],
  instructions: readonly (string | null)[],
  context: EncodingContext,
): SystemPrompt {
  const parts: GeminiPart[] = []
  for (const text of instructions) if (text !== null && text !== '') parts.push({ text })
  const itemCount = countLeadingInstructions(items)
  for (const [at, item] of items.slice(0, itemCount).entries()) {
    if (item.type !== 'message') continue
    const text = textOf(item.content)
    if (text !== '') parts.push({ text })
    if (!item.content.every(isText)) context.notes.write('media-in-system', { at })
  }
  return { parts, itemCount }
}

/** Moves the system prompt to the first user turn, for a model without a system instruction. */
export function moveSystemPromptToUser(
  parts: readonly GeminiPart[],
  contents: readonly GeminiContent[],
  context: EncodingContext,
): readonly GeminiContent[] {
  if (parts.length === 0) return contents
  context.notes.write('system-as-user')
  const [first, ...rest] = contents
  return [{ role: 'user', parts: [...parts, ...(first?.parts ?? [])] }, ...rest]
}
