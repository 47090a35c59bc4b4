/**
 * Plays a conversation under a policy, as the gateway would have sent it, and measures the requests.
 *
 * A model's answers are those of the script, whatever it was given. What it thinks is bound to what
 * was really sent to it: to the prefix that the plan then knows it by (`startPrefixHash`), and, apart
 * from that, to the place in the tree of all that was sent, by which its provider checks here what
 * comes back. The two have nothing in common, so the one cannot hide a fault of the other.
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
  contestant: PolicyCandidate,
  binds: boolean,
): PolicyCostMetrics {
  const provider = createSimulatedProvider(binds)
  const mint = openMint()
  const said: Item[] = []
  let thoughts = 0
  let step: string | null = null
  let measures = ZERO_COST_METRICS
  for (const { asked, answer } of exchanges) {
    said.push(...asked)
    const { items } = runTransforms([...said], contestant.transforms)
    const { chars, cached, breaks, reasoning, invalid } = provider.read(items)
    const stepNow = contestant.stepOf?.(said) ?? null
    measures = {
      requests: measures.requests + 1,
      sent: measures.sent + chars,
      cached: measures.cached + cached,
      breaks: measures.breaks + Number(breaks),
      breaksOutsideSteps:
        measures.breaksOutsideSteps + Number(breaks && stepNow !== null && stepNow === step),
      reasoning: measures.reasoning + reasoning,
      reasoningMade: measures.reasoningMade + thoughts,
      reasoningInvalid: measures.reasoningInvalid + invalid,
      largest: Math.max(measures.largest, chars),
    }
    step = stepNow
    const prefixHash = contestant.keepsToPrefix ? mint(items, !breaks) : null
    const origin = { ...SIMULATED_ORIGIN, prefixHash }
    const made = answer.map((item): Item => ({ ...item, origin }))
    provider.make(made)
    said.push(...made)
    thoughts += made.filter(({ type }) => type === 'reasoning').length
  }
  return measures
}

/** Names what was sent. A request that goes on where the one before ended is not read from its beginning. */
function openMint(): (items: readonly Item[], goesOn: boolean) => string {
  const opened = () =>
    startPrefixHash(computePrefixSeed(SIMULATED_PARAMETERS, SIMULATED_ORIGIN.wire))
  let prefix = opened()
  let added = 0
  return (items, goesOn) => {
    if (!goesOn || items.length < added) {
      prefix = opened()
      added = 0
    }
    for (const item of items.slice(added)) prefix.add(item)
    added = items.length
    return prefix.hash()
  }
}
