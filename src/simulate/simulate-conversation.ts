/**
 * Simulates a conversation under a policy with the gateway's own transforms and measures the requests.
 *
 * The model's answers are those of the script, whatever it is sent. Reasoning is bound to its prefix
 * in two independent ways: by the gateway's hash (`startPrefixHash`), which the transforms check, and
 * by the node in the simulated provider's tree, which the provider checks. So an error in one does not
 * hide in the other.
 */
import type { Item } from '../core/item.ts'
import { runTransforms } from '../context/list-and-run-transforms.ts'
import { startPrefixHash, computePrefixSeed } from '../context/reasoning/hash-prompt-prefix.ts'
import type { PolicyCandidate } from './policy-candidates.ts'
import { ZERO_COST_METRICS, type PolicyCostMetrics } from './policy-cost-metrics.ts'
import { createSimulatedProvider } from './simulated-provider.ts'
import { SIMULATED_ORIGIN, SIMULATED_PARAMETERS } from './encode-request-text.ts'
import type { ConversationScript } from './conversation-script.ts'

export function simulateConversation(
  { exchanges }: ConversationScript,
  candidate: PolicyCandidate,
  binds: boolean,
): PolicyCostMetrics {
  const provider = createSimulatedProvider(binds)
  const hashPrefix = createPrefixHasher()
  const history: Item[] = []
  let reasoningCount = 0
  let step: string | null = null
  let measures = ZERO_COST_METRICS
  for (const { asked, answer } of exchanges) {
    history.push(...asked)
    const { items } = runTransforms([...history], candidate.transforms)
    const { chars, cached, breaks, reasoning, invalid } = provider.read(items)
    const newStep = candidate.stepOf?.(history) ?? null
    measures = {
      requests: measures.requests + 1,
      sent: measures.sent + chars,
      cached: measures.cached + cached,
      breaks: measures.breaks + Number(breaks),
      breaksOutsideSteps:
        measures.breaksOutsideSteps + Number(breaks && newStep !== null && newStep === step),
      reasoning: measures.reasoning + reasoning,
      reasoningMade: measures.reasoningMade + reasoningCount,
      reasoningInvalid: measures.reasoningInvalid + invalid,
      largest: Math.max(measures.largest, chars),
    }
    step = newStep
    const prefixHash = candidate.keepsToPrefix ? hashPrefix(items, !breaks) : null
    const origin = { ...SIMULATED_ORIGIN, prefixHash }
    const generated = answer.map((item): Item => ({ ...item, origin }))
    provider.make(generated)
    history.push(...generated)
    reasoningCount += generated.filter(({ type }) => type === 'reasoning').length
  }
  return measures
}

/**
 * Returns a function that hashes a request's items. If a request continues the previous one, only
 * its new items are added to the hash.
 */
function createPrefixHasher(): (items: readonly Item[], continues: boolean) => string {
  const startHash = () =>
    startPrefixHash(computePrefixSeed(SIMULATED_PARAMETERS, SIMULATED_ORIGIN.wire))
  let prefix = startHash()
  let added = 0
  return (items, continues) => {
    if (!continues || items.length < added) {
      prefix = startHash()
      added = 0
    }
    for (const item of items.slice(added)) prefix.add(item)
    added = items.length
    return prefix.hash()
  }
}
