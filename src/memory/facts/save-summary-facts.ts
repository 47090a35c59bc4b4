/**
 * Takes over what a summary keeps word for word as facts, where facts are wanted: they outlive the
 * conversation that is summed up. In that conversation itself the summary tells them.
 *
 * A fact that cannot be kept costs nothing but itself.
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
  /** The answer behind which it was summed up, if that is kept. */
  readonly response: string | null
  /** How many items it stands for. */
  readonly items: number
}

/** Never rejects. Resolves to how many were kept or renewed. */
export async function saveSummaryFacts(
  { owner, facts, scope: wanted, thread, begunAtMs, response, items }: SummaryFacts,
  ports: FactSaveDependencies & Pick<LayerPorts, 'log'>,
): Promise<number> {
  const scope = resolveFactScope(owner, wanted, thread)
  if (scope === null) return 0
  const source = { thread, response, items: [0, items] as const }
  const said = { scope, area: null, importance: null, validUntilMs: null, source }
  let kept = 0
  try {
    for (const text of facts
      .map((fact) => fact.trim())
      .filter(isFact)
      .slice(-MOST_FACTS)) {
      await saveFact({ ...said, text }, owner, ports, { begunAtMs, thread })
      kept += 1
    }
  } catch (error) {
    ports.log('warn', 'facts-not-kept', { why: errorMessage(error) })
  }
  return kept
}

/** A summary repeats those of the one before it; the newest come last. */
const MOST_FACTS = 8

function isFact(text: string): boolean {
  return (
    text.length >= FACT_CHAR_LIMITS.least &&
    text.length <= FACT_CHAR_LIMITS.most &&
    hasSearchTerms(text)
  )
}
