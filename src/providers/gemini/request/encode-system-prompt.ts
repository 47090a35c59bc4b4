/** The system instruction: what the request says in front, and the system messages that lead. */
import { countLeadingInstructions } from '../../../core/items/leading-instructions.ts'
import { isText, textOf, type Item } from '../../../core/item.ts'
import type { EncodingContext } from './encoding-context.ts'
import type { GeminiContent, GeminiPart } from '../api-types.ts'

export interface SystemPrompt {
  readonly parts: readonly GeminiPart[]
  /** How many items it has taken in. */
  readonly taken: number
}

export function encodeSystemPrompt(
  items: readonly Item[],
  instructions: readonly (string | null)[],
  context: EncodingContext,
): SystemPrompt {
  const parts: GeminiPart[] = []
  for (const text of instructions) if (text !== null && text !== '') parts.push({ text })
  const taken = countLeadingInstructions(items)
  for (const [at, item] of items.slice(0, taken).entries()) {
    if (item.type !== 'message') continue
    const text = textOf(item.content)
    if (text !== '') parts.push({ text })
    if (!item.content.every(isText)) context.notebook.write('media-in-system', { at })
  }
  return { parts, taken }
}

/** For a model that has no system instruction. */
export function moveSystemPromptToUser(
  parts: readonly GeminiPart[],
  contents: readonly GeminiContent[],
  context: EncodingContext,
): readonly GeminiContent[] {
  if (parts.length === 0) return contents
  context.notebook.write('system-as-user')
  const [first, ...rest] = contents
  return [{ role: 'user', parts: [...parts, ...(first?.parts ?? [])] }, ...rest]
}
