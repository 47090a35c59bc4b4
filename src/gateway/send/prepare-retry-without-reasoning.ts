/**
 * Prepares the second request to an upstream that rejected the reasoning in the first: without reasoning items, and
 * without signatures in other items. The turn is stored with this prompt as its prefix.
 */
import type { Note } from '../../core/note.ts'
import { stripReasoning } from '../../core/reasoning/strip-reasoning.ts'
import type { PreparedRequest } from '../prompt/planned-request.ts'
import { replacePrompt } from './replace-prompt.ts'

/** Returns null if the prompt has no reasoning. */
export function prepareRetryWithoutReasoning(prepared: PreparedRequest): PreparedRequest | null {
  const { provider, prompt, originalPositions } = prepared
  const items: (typeof prompt.items)[number][] = []
  const positions: (number | null)[] = []
  const notes: Note[] = []
  for (const [index, item] of prompt.items.entries()) {
    const stripped = stripReasoning(item, provider.wire)
    const position = originalPositions[index] ?? null
    if (stripped !== null) {
      items.push(stripped)
      positions.push(position)
    }
    if (stripped === item) continue
    const did = stripped === null ? 'dropped' : 'changed'
    notes.push({ did, ...(position === null ? {} : { at: position }), ...REASONING_REFUSED })
  }
  if (notes.length === 0) return null
  const retry = replacePrompt(prepared, { ...prompt, items }, positions, notes)
  return { ...retry, wasReasoningRejected: true }
}

const REASONING_REFUSED = {
  why: 'reasoning-refused',
  detail:
    'The upstream refused the reasoning of this conversation, and was asked again without it.',
}
