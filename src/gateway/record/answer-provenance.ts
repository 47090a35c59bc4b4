/** How an answer came about, as it is kept with it. */
import { isMadeUpstream } from '../../core/items/compaction-item.ts'
import type { Usage } from '../../core/stream-event.ts'
import { isOfHouse } from '../../core/items/gateway-tool-items.ts'
import type { Item, Origin } from '../../core/item.ts'
import { once } from '../../core/caching/lazy-value.ts'
import type { Outcome } from '../../core/fold-answer-outcome.ts'
import { holdsSealedReasoning } from '../../core/reasoning/is-encrypted-or-signed.ts'
import type { Made } from './recorder-interface.ts'
import { applyCompaction } from '../../context/summaries/apply-compaction.ts'
import { behindCompaction } from '../../context/summaries/move-items-after-compaction.ts'
import { rebuild } from '../../context/list-and-run-transforms.ts'
import { fingerprintOf } from '../../recall/split-and-fingerprint-segments.ts'
import { openPrefix, prefixHashOf } from '../../context/reasoning/hash-prompt-prefix.ts'
import { readsCompaction } from '../../context/summaries/can-read-compaction.ts'
import { estimateOf, isEstimated } from '../prompt/size/estimate-tokens-and-window.ts'
import type { Prepared } from '../prompt/prepare-request.ts'
import { readerOf } from '../prompt/describe-compaction-support.ts'

/** `sent` is all that was sent for it, in order. */
export function madeOf(
  prepared: Prepared,
  { items, usage }: Outcome,
  sent: readonly Prepared[] = [prepared],
): Made {
  const { account, history } = prepared
  const { plan } = history
  // As it is now: the list is the journey's own, and may be added to before anybody asks.
  const all = [...sent]
  const reasoningRefused = all.some((one) => one.reasoningRefused)
  return {
    origin: once(() => {
      const prefixHash = holdsSealedReasoning(items) ? prefixOf(all, items) : null
      return { ...originOf(prepared), prefixHash }
    }),
    fingerprint: () => (plan === null ? null : fingerprintOf(plan, items)),
    reasoningRefusedBy: reasoningRefused ? account.name : null,
    // Where the house was called, or the upstream has compacted, the usage is that of several requests.
    ...(items.some((item) => isOfHouse(item) || isMadeUpstream(item))
      ? {}
      : withEstimate(usage, prepared)),
  }
}

/**
 * What the answer stands on. Where a later round was not sent behind what the one before it was sent
 * behind, its reasoning stands on something else than that of the first, and all of it together on
 * nothing that will ever be sent.
 */
function prefixOf(sent: readonly Prepared[], said: readonly Item[]): string {
  const isInLine = sent.every((one, at) => goesOnFrom(one, sent[at - 1]))
  const names = sent.map((one) => () => standsOn(one, said))
  const [first = () => ''] = names
  return isInLine ? first() : openPrefix(names.map((name) => name()).join(' ')).hash()
}

/** Where the upstream has compacted, what its answer stands on is what was left in front of that. */
export function standsOn({ account, prompt }: Prepared, said: readonly Item[]): string {
  const { items, params } = prompt
  const reader = readerOf({ account, model: params.model })
  const compaction = said.findLast((item) => isMadeUpstream(item) && readsCompaction(item, reader))
  if (compaction === undefined) return prefixHashOf(prompt, account.wire)
  const before = [...items, ...said.slice(0, said.indexOf(compaction) + 1)]
  const left = rebuild(before, [applyCompaction(reader), behindCompaction()]).items
  const inFront = left.slice(0, left.indexOf(compaction))
  return prefixHashOf({ params, items: inFront }, account.wire)
}

/** Nothing is different in front, and behind it stands what was said, as it was said. */
function goesOnFrom({ prompt, items }: Prepared, before: Prepared | undefined): boolean {
  if (before === undefined) return true
  const { prompt: then } = before
  const moved = then.items.length - before.items.length
  return (
    prompt.params.tools === then.params.tools &&
    prompt.items.length - items.length === moved &&
    prompt.items.every((item, at) =>
      at < then.items.length
        ? item === then.items[at]
        : item === items[at - moved] || showsMedia(item),
    )
  )
}

/** They are loaded anew each time that they are sent, and are the same. */
function showsMedia(item: Item): boolean {
  return item.type === 'function_call_output' && typeof item.output !== 'string'
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
