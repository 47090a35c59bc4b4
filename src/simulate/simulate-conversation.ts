/**
 * Plays a conversation under a policy, as the gateway would have sent it, and measures the requests.
 *
 * A model's answers are those of the script, whatever it was given. What it thinks is bound to what
 * was really sent to it: to the prefix that the plan then knows it by (`openPrefix`), and, apart
 * from that, to the place in the tree of all that was sent, by which its provider checks here what
 * comes back. The two have nothing in common, so the one cannot hide a fault of the other.
 */
import type { Item } from '../core/item.ts'
import { rebuild } from '../context/list-and-run-transforms.ts'
import { openPrefix, prefixSeed } from '../context/reasoning/hash-prompt-prefix.ts'
import type { Contestant } from './policy-candidates.ts'
import { NOTHING_YET, type Measures } from './policy-cost-metrics.ts'
import { openProvider } from './simulated-provider.ts'
import { MAKER, PARAMS } from './encode-request-text.ts'
import type { Script } from './conversation-script.ts'

export function play({ exchanges }: Script, contestant: Contestant, binds: boolean): Measures {
  const provider = openProvider(binds)
  const mint = openMint()
  const said: Item[] = []
  let thoughts = 0
  let step: string | null = null
  let measures = NOTHING_YET
  for (const { asked, answer } of exchanges) {
    said.push(...asked)
    const { items } = rebuild([...said], contestant.transforms)
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
    const origin = { ...MAKER, prefixHash }
    const made = answer.map((item): Item => ({ ...item, origin }))
    provider.make(made)
    said.push(...made)
    thoughts += made.filter(({ type }) => type === 'reasoning').length
  }
  return measures
}

/** Names what was sent. A request that goes on where the one before ended is not read from its beginning. */
function openMint(): (items: readonly Item[], goesOn: boolean) => string {
  const opened = () => openPrefix(prefixSeed(PARAMS, MAKER.wire))
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
