/**
 * Simulates a conversation under a policy with the same transforms as the gateway, and measures the
 * requests. The model's answers are those of the script, whatever is sent.
 *
 * Some models accept reasoning only if the text before it is the same as when it was generated.
 * This is checked in two independent ways, so that an error in one of them is noticed: the
 * transforms check the gateway's hash (`startPrefixHash`), and the simulated provider checks the
 * node in its tree of prefixes.
 */
import type { Item } from '../core/item.ts'
import { runTransforms } from '../context/list-and-run-transforms.ts'
import { startPrefixHash, computePrefixSeed } from '../context/reasoning/hash-prompt-prefix.ts'
import type { PolicyCandidate } from './policy-candidates.ts'
import { addCostMetrics, ZERO_COST_METRICS, type PolicyCostMetrics } from './policy-cost-metrics.ts'
import { createSimulatedProvider } from './simulated-provider.ts'
import { SIMULATED_ORIGIN, SIMULATED_PARAMETERS } from './encode-request-text.ts'
import type { ConversationScript } from './conversation-script.ts'

export function simulateConversation(
  script: ConversationScript,
  candidate: PolicyCandidate,
  bindsReasoning: boolean,
): PolicyCostMetrics {
  return simulateRequests(script, candidate, bindsReasoning).reduce(
    addCostMetrics,
    ZERO_COST_METRICS,
  )
}

/** Returns the measurements of each request, in order. */
export function simulateRequests(
  { exchanges }: ConversationScript,
  candidate: PolicyCandidate,
  bindsReasoning: boolean,
): readonly PolicyCostMetrics[] {
  const provider = createSimulatedProvider(bindsReasoning)
  const hashPrefix = createPrefixHasher()
  const history: Item[] = []
  let reasoningCount = 0
  let step: string | null = null
  const requests: PolicyCostMetrics[] = []
  for (const { newItems, answer } of exchanges) {
    history.push(...newItems)
    const { items } = runTransforms([...history], candidate.transforms)
    const request = provider.receiveRequest(items)
    const newStep = candidate.computeStepKey?.(history) ?? null
    const isUnexpected = newStep !== null && newStep === step
    requests.push({
      ...request,
      requests: 1,
      unexpectedBreaks: isUnexpected ? request.prefixBreaks : 0,
      existingReasoning: reasoningCount,
      largestRequestChars: request.sentChars,
    })
    step = newStep
    const prefixHash = candidate.dropsInvalidReasoning
      ? hashPrefix(items, request.prefixBreaks === 0)
      : null
    const origin = { ...SIMULATED_ORIGIN, prefixHash }
    const generated = answer.map((item): Item => ({ ...item, origin }))
    provider.addAnswer(generated)
    history.push(...generated)
    reasoningCount += generated.filter(({ type }) => type === 'reasoning').length
  }
  return requests
}

/**
 * Returns a function that hashes the items of a request. If the request begins with the complete
 * previous one (`continues`), only its new items are added to the hash, which saves time.
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
