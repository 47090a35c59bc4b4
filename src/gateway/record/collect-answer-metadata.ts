/** Collects the values that a turn stores about its answer: origin, fingerprint, token usage, rejected reasoning. */
import { runTransforms } from '../../context/list-and-run-transforms.ts'
import { hasReasoningOf } from '../../context/reasoning/find-prefix-change.ts'
import { startPrefixHash, hashPromptPrefix } from '../../context/reasoning/hash-prompt-prefix.ts'
import { applyCompaction } from '../../context/summaries/apply-compaction.ts'
import { canReadCompaction } from '../../context/summaries/can-read-compaction.ts'
import { moveItemsAfterCompaction } from '../../context/summaries/move-items-after-compaction.ts'
import { createLazyValue } from '../../core/caching/lazy-value.ts'
import type { Outcome } from '../../core/collect-answer-outcome.ts'
import type { Item, Origin } from '../../core/item.ts'
import { isUpstreamCompaction } from '../../core/items/compaction-item.ts'
import { isGatewayToolItem } from '../../core/items/gateway-tool-items.ts'
import { hasEncryptedOrSignedReasoning } from '../../core/reasoning/is-encrypted-or-signed.ts'
import type { TokenUsage } from '../../core/stream-event.ts'
import { fingerprintAnswer } from '../../recall/split-and-fingerprint-segments.ts'
import { resolveTargetCapabilities } from '../../upstream/resolve-target-capabilities.ts'
import type { PreparedRequest } from '../prompt/planned-request.ts'
import { estimateBodyTokens, hasBodyEstimate } from '../prompt/size/estimate-tokens-and-window.ts'
import type { AnswerMetadata } from './recorder-interface.ts'

/** `prepared`: the first upstream request of the answer; `sent`: all of them, in order. */
export function collectAnswerMetadata(
  prepared: PreparedRequest,
  { items, usage }: Outcome,
  sent: readonly PreparedRequest[] = [prepared],
): AnswerMetadata {
  const { account, history } = prepared
  const { fingerprintInput } = history
  // Copies the list, because the caller may add requests to it before `origin` is called.
  const requests = [...sent]
  const wasReasoningRejected = requests.some((request) => request.wasReasoningRejected)
  return {
    origin: createLazyValue(() => {
      const origin = resolveAnswerOrigin(prepared)
      // An answer without reasoning is hashed, too: it shows whether reasoning before it was already lost.
      const isHashed =
        hasEncryptedOrSignedReasoning(items) || hasReasoningOf(prepared.items, origin)
      return { ...origin, prefixHash: isHashed ? hashSentPrefix(requests, items) : null }
    }),
    fingerprint: () =>
      fingerprintInput === null ? null : fingerprintAnswer(fingerprintInput, items),
    reasoningRejectedBy: wasReasoningRejected ? account.name : null,
    // After gateway tools or a compaction, the usage is the sum of several requests, so no estimate matches it.
    ...(items.some((item) => isGatewayToolItem(item) || isUpstreamCompaction(item))
      ? {}
      : addInputEstimate(usage, prepared)),
  }
}

/**
 * Hashes the prompt before the answer's reasoning, because later requests may send the reasoning only after the same
 * prompt. If a tool round did not continue the prompt of the previous round (e.g. after a cut), no prompt is valid for
 * the reasoning of both rounds. The result is then a hash that matches no prompt.
 */
function hashSentPrefix(sent: readonly PreparedRequest[], answerItems: readonly Item[]): string {
  const [first] = sent
  if (first === undefined) return ''
  if (sent.every((request, index) => extendsRequest(request, sent[index - 1])))
    return hashAnswerPrefix(first, answerItems)
  const hashes = sent.map((request) => hashAnswerPrefix(request, answerItems))
  return startPrefixHash(hashes.join(' ')).hash()
}

/** Hashes the prompt. If the answer has an upstream compaction, hashes only the items that remain before that item. */
export function hashAnswerPrefix(
  { account, prompt }: PreparedRequest,
  answerItems: readonly Item[],
): string {
  const { items, params } = prompt
  const reader = resolveTargetCapabilities({ account, model: params.model }).compaction
  const compaction = answerItems.findLast(
    (item) => isUpstreamCompaction(item) && canReadCompaction(item, reader),
  )
  if (compaction === undefined) return hashPromptPrefix(prompt, account.wire)
  const untilCompaction = [...items, ...answerItems.slice(0, answerItems.indexOf(compaction) + 1)]
  const transforms = [applyCompaction(reader), moveItemsAfterCompaction()]
  const remaining = runTransforms(untilCompaction, transforms).items
  const prefix = remaining.slice(0, remaining.indexOf(compaction))
  return hashPromptPrefix({ params, items: prefix }, account.wire)
}

/** True if the prompt is the previous tool round's prompt, followed by all new items, both unchanged. */
function extendsRequest(
  { prompt, items }: PreparedRequest,
  previous: PreparedRequest | undefined,
): boolean {
  if (previous === undefined) return true
  const previousItems = previous.prompt.items
  const offset = previousItems.length - previous.items.length
  return (
    prompt.params.tools === previous.prompt.params.tools &&
    prompt.items.length - items.length === offset &&
    prompt.items.every((item, index) =>
      index < previousItems.length
        ? item === previousItems[index]
        : item === items[index - offset] || hasMediaOutput(item),
    )
  )
}

/** True if a tool output may have media. Each request embeds media again, so equal outputs may be different objects. */
function hasMediaOutput(item: Item): boolean {
  return item.type === 'function_call_output' && typeof item.output !== 'string'
}

/** Adds the gateway's estimate to the reported usage, because the ratio of both corrects estimates in the next turn. */
function addInputEstimate(
  usage: TokenUsage | null,
  prepared: PreparedRequest,
): Pick<AnswerMetadata, 'usage'> {
  if (usage === null || !hasBodyEstimate(prepared)) return {}
  return { usage: { ...usage, estimatedInputTokens: estimateBodyTokens(prepared) } }
}

/** Returns the origin of an answer whose items are not known yet, so that `prefixHash` is null. */
export function resolveAnswerOrigin({ account, prompt }: PreparedRequest): Origin {
  const { wire, name } = account
  return { wire, account: name, model: prompt.params.model, prefixHash: null }
}
