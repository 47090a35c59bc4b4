/**
 * Prepares the retry of a request whose reasoning the upstream rejected: drops reasoning items, and removes
 * reasoning signatures from other items. The prefix hash of the answer is then that of the retry's prompt.
 */
import type { Note } from '../../core/note.ts'
import { stripReasoning } from '../../core/reasoning/strip-reasoning.ts'
import type { PreparedRequest } from '../prompt/planned-request.ts'
import { replacePrompt } from './replace-prompt.ts'

/**
 * Returns the request to send again; null if the prompt has no reasoning, because a retry would fail again.
 */
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
