/** How an answer came about, as it is kept with it. */
import type { Usage } from '../conversation/event.ts'
import { isOfHouse } from '../conversation/house.ts'
import type { Origin } from '../conversation/item.ts'
import type { Outcome } from '../conversation/outcome.ts'
import { holdsSealedReasoning } from '../conversation/sealed-reasoning.ts'
import type { Made } from '../history/record-turn.ts'
import { fingerprintOf } from '../rebuild/plan-recall.ts'
import { prefixHashOf } from '../rebuild/prefix.ts'
import { estimateOf, isEstimated } from './budget.ts'
import type { Prepared } from './prepare.ts'

export function madeOf(prepared: Prepared, { items, usage }: Outcome): Made {
  const { account, prompt, history, reasoningRefused } = prepared
  const { plan } = history
  const prefixHash = holdsSealedReasoning(items) ? prefixHashOf(prompt, account.wire) : null
  return {
    origin: { ...originOf(prepared), prefixHash },
    fingerprint: plan === null ? null : fingerprintOf(plan, items),
    reasoningRefusedBy: reasoningRefused ? account.name : null,
    // Where the house was called, the usage is that of several requests.
    ...(items.some(isOfHouse) ? {} : withEstimate(usage, prepared)),
  }
}

/** What it was taken for stands beside what it was, so that the next estimate is set right. */
function withEstimate(usage: Usage | null, prepared: Prepared): Pick<Made, 'usage'> {
  if (usage === null || !isEstimated(prepared)) return {}
  return { usage: { ...usage, estimatedInputTokens: estimateOf(prepared) } }
}

/** Who was asked. What the answer stands on is known when it is there. */
export function originOf({ account, prompt }: Prepared): Origin {
  const { wire, name } = account
  return { wire, account: name, model: prompt.params.model, prefixHash: null }
}
