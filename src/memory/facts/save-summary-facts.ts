/**
 * Takes over what a summary keeps word for word as facts, where facts are wanted: they outlive the
 * conversation that is summed up. In that conversation itself the summary tells them.
 *
 * A fact that cannot be kept costs nothing but itself.
 */
import { messageOf } from '../../core/errors/gateway-error.ts'
import type { Caller } from '../../core/client/caller.ts'
import type { LayerPorts } from '../memory-layer-interface.ts'
import { FACT_CHARS, hasWords, keepFact, scopeOf, type FactKeeper } from './save-fact.ts'

export interface SummedFacts {
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
export async function factsOfSummary(
  { owner, facts, scope: wanted, thread, begunAtMs, response, items }: SummedFacts,
  ports: FactKeeper & Pick<LayerPorts, 'log'>,
): Promise<number> {
  const scope = scopeOf(owner, wanted, thread)
  if (scope === null) return 0
  const source = { thread, response, items: [0, items] as const }
  const said = { scope, area: null, importance: null, validUntilMs: null, source }
  let kept = 0
  try {
    for (const text of facts
      .map((fact) => fact.trim())
      .filter(isFact)
      .slice(-MOST_FACTS)) {
      await keepFact({ ...said, text }, owner, ports, { begunAtMs, thread })
      kept += 1
    }
  } catch (error) {
    ports.log('warn', 'facts-not-kept', { why: messageOf(error) })
  }
  return kept
}

/** A summary repeats those of the one before it; the newest come last. */
const MOST_FACTS = 8

function isFact(text: string): boolean {
  return text.length >= FACT_CHARS.least && text.length <= FACT_CHARS.most && hasWords(text)
}
