/** How an answer came about, as it is kept with it. */
import { runTransforms } from '../../context/list-and-run-transforms.ts'
import { startPrefixHash, hashPromptPrefix } from '../../context/reasoning/hash-prompt-prefix.ts'
import { applyCompaction } from '../../context/summaries/apply-compaction.ts'
import { canReadCompaction } from '../../context/summaries/can-read-compaction.ts'
import { moveItemsAfterCompaction } from '../../context/summaries/move-items-after-compaction.ts'
import { createLazyValue } from '../../core/caching/lazy-value.ts'
import type { Outcome } from '../../core/fold-answer-outcome.ts'
import type { Item, Origin } from '../../core/item.ts'
import { isUpstreamCompaction } from '../../core/items/compaction-item.ts'
import { isGatewayToolItem } from '../../core/items/gateway-tool-items.ts'
import { hasEncryptedReasoning } from '../../core/reasoning/is-encrypted-or-signed.ts'
import type { TokenUsage } from '../../core/stream-event.ts'
import { fingerprintAnswer } from '../../recall/split-and-fingerprint-segments.ts'
import { describeTarget } from '../../upstream/describe-target.ts'
import type { PreparedRequest } from '../prompt/planned-request.ts'
import { estimateBodyTokens, hasBodyEstimate } from '../prompt/size/estimate-tokens-and-window.ts'
import type { AnswerProvenance } from './recorder-interface.ts'

/** `sent` is all that was sent for it, in order. */
export function describeAnswerProvenance(
  prepared: PreparedRequest,
  { items, usage }: Outcome,
  sent: readonly PreparedRequest[] = [prepared],
): AnswerProvenance {
  const { account, history } = prepared
  const { segments } = history
  // As it is now: the list is the journey's own, and may be added to before anybody asks.
  const all = [...sent]
  const reasoningRefused = all.some((one) => one.wasReasoningRejected)
  return {
    origin: createLazyValue(() => {
      const prefixHash = hasEncryptedReasoning(items) ? prefixOf(all, items) : null
      return { ...resolveAnswerOrigin(prepared), prefixHash }
    }),
    fingerprint: () => (segments === null ? null : fingerprintAnswer(segments, items)),
    reasoningRejectedBy: reasoningRefused ? account.name : null,
    // Where the house was called, or the upstream has compacted, the usage is that of several requests.
    ...(items.some((item) => isGatewayToolItem(item) || isUpstreamCompaction(item))
      ? {}
      : withEstimate(usage, prepared)),
  }
}

/**
 * What the answer stands on. Where a later round was not sent behind what the one before it was sent
 * behind, its reasoning stands on something else than that of the first, and all of it together on
 * nothing that will ever be sent.
 */
function prefixOf(sent: readonly PreparedRequest[], said: readonly Item[]): string {
  const isInLine = sent.every((one, at) => goesOnFrom(one, sent[at - 1]))
  const names = sent.map((one) => () => hashAnswerPrefix(one, said))
  const [first = () => ''] = names
  return isInLine ? first() : startPrefixHash(names.map((name) => name()).join(' ')).hash()
}

/** Where the upstream has compacted, what its answer stands on is what was left in front of that. */
export function hashAnswerPrefix(
  { account, prompt }: PreparedRequest,
  said: readonly Item[],
): string {
  const { items, params } = prompt
  const reader = describeTarget({ account, model: params.model }).compaction
  const compaction = said.findLast(
    (item) => isUpstreamCompaction(item) && canReadCompaction(item, reader),
  )
  if (compaction === undefined) return hashPromptPrefix(prompt, account.wire)
  const before = [...items, ...said.slice(0, said.indexOf(compaction) + 1)]
  const left = runTransforms(before, [applyCompaction(reader), moveItemsAfterCompaction()]).items
  const inFront = left.slice(0, left.indexOf(compaction))
  return hashPromptPrefix({ params, items: inFront }, account.wire)
}

/** Nothing is different in front, and behind it stands what was said, as it was said. */
function goesOnFrom(
  { prompt, items }: PreparedRequest,
  before: PreparedRequest | undefined,
): boolean {
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
function withEstimate(
  usage: TokenUsage | null,
  prepared: PreparedRequest,
): Pick<AnswerProvenance, 'usage'> {
  if (usage === null || !hasBodyEstimate(prepared)) return {}
  return { usage: { ...usage, estimatedInputTokens: estimateBodyTokens(prepared) } }
}

/** Who was asked. What the answer stands on is known when it is there. */
export function resolveAnswerOrigin({ account, prompt }: PreparedRequest): Origin {
  const { wire, name } = account
  return { wire, account: name, model: prompt.params.model, prefixHash: null }
}
