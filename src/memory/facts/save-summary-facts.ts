/**
 * Saves the facts that a model wrote with a summary, so that other conversations can use them. In
 * the summarized conversation they are not sent, because the summary contains them.
 *
 * If saving fails, the error is logged, and the answer is not affected.
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
  readonly jobStartedAtMs: number
  /** Id of the response (stored answer) after which the summary was made; `null` if there is none. */
  readonly afterResponseId: string | null
  /** Number of items at the start of the conversation that the summary replaces. */
  readonly itemCount: number
}

/**
 * Saves at most 8 of the facts. Resolves to the number of facts that were added or that replaced or
 * renewed a similar stored fact. Never rejects.
 */
export async function saveSummaryFacts(
  {
    owner,
    facts,
    scope: requestedScope,
    thread,
    jobStartedAtMs,
    afterResponseId,
    itemCount,
  }: SummaryFacts,
  ports: FactSaveDependencies & Pick<LayerPorts, 'log'>,
): Promise<number> {
  const scope = resolveFactScope(owner, requestedScope, thread)
  if (scope === null) return 0
  const source = { thread, response: afterResponseId, items: [0, itemCount] as const }
  const fields = { scope, area: null, importance: null, validUntilMs: null, source }
  let savedCount = 0
  try {
    const validFacts = facts.map((fact) => fact.trim()).filter(isFact)
    for (const text of validFacts.slice(-MAX_FACTS)) {
      await saveFact({ ...fields, text }, owner, ports, { jobStartedAtMs, thread })
      savedCount += 1
    }
  } catch (error) {
    ports.log('warn', 'facts-not-kept', { why: errorMessage(error) })
  }
  return savedCount
}

/**
 * Each summary of a conversation repeats the facts of the previous summary and adds new ones at the
 * end. So only the last 8 facts are saved.
 */
const MAX_FACTS = 8

function isFact(text: string): boolean {
  return (
    text.length >= FACT_CHAR_LIMITS.min &&
    text.length <= FACT_CHAR_LIMITS.max &&
    hasSearchTerms(text)
  )
}
