/** A summary as its clients see it. `isActive`: it is told to models instead of what it stands for. */
import type { JsonObject } from '../../core/json/json.ts'
import type { ActiveSummary } from '../../gateway/history/loaded-history.ts'

export function renderSummary({ stored }: ActiveSummary, isActive: boolean): JsonObject {
  return {
    object: 'context.summary',
    id: stored.id,
    created_at: Math.floor(stored.createdAtMs / 1000),
    active: isActive,
    conversation: stored.conversation,
    model: stored.model,
    text: stored.text,
    facts: stored.facts,
    covered: { turns: stored.turns, items: stored.items },
    tokens: { before: stored.tokensBefore, after: stored.tokensAfter },
    made_from: stored.madeFrom,
  }
}
