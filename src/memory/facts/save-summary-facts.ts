/**
 * Saves the facts of a summary, if facts are enabled, because they outlive the summarized
 * conversation. In that conversation, the summary itself contains them.
 *
 * A failure is logged and does not affect the answer.
 */
import { errorMessage } from '../../core/errors/gateway-error.ts'
import type { Caller } from '../../core/client/caller.ts'
import type { LayerPorts } from '../memory-layer-interface.ts'
import {
  FACT_CHAR_LIMITS,
  hasSearchTerms,
  saveFact,
  resolveFactScope,
  type FactSaveDependencies,
} from './save-fact.ts'

export interface SummaryFacts {
  readonly owner: Caller
  readonly facts: readonly string[]
  readonly scope: 'conversation' | 'user'
  readonly thread: string | null
  readonly begunAtMs: number
  /** The stored answer after which the summary was made, if any. */
  readonly response: string | null
  /** The number of items that the summary replaces. */
  readonly items: number
}

/** Never rejects. Resolves to the number of saved and renewed facts. */
export async function saveSummaryFacts(
  { owner, facts, scope: requestedScope, thread, begunAtMs, response, items }: SummaryFacts,
  ports: FactSaveDependencies & Pick<LayerPorts, 'log'>,
): Promise<number> {
  const scope = resolveFactScope(owner, requestedScope, thread)
  if (scope === null) return 0
  const source = { thread, response, items: [0, items] as const }
  const fields = { scope, area: null, importance: null, validUntilMs: null, source }
  let savedCount = 0
  try {
    for (const text of facts
      .map((fact) => fact.trim())
      .filter(isFact)
      .slice(-MAX_FACTS)) {
      await saveFact({ ...fields, text }, owner, ports, { begunAtMs, thread })
      savedCount += 1
    }
  } catch (error) {
    ports.log('warn', 'facts-not-kept', { why: errorMessage(error) })
  }
  return savedCount
}

/** A summary repeats the facts of the previous summary, with the latest facts last. */
const MAX_FACTS = 8

function isFact(text: string): boolean {
  return (
    text.length >= FACT_CHAR_LIMITS.min &&
    text.length <= FACT_CHAR_LIMITS.max &&
    hasSearchTerms(text)
  )
}
