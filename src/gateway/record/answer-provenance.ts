/** Describes how an answer was made (origin, fingerprint, token usage), as it is stored with its turn. */
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
import { resolveTargetCapabilities } from '../../upstream/resolve-target-capabilities.ts'
import type { PreparedRequest } from '../prompt/planned-request.ts'
import { estimateBodyTokens, hasBodyEstimate } from '../prompt/size/estimate-tokens-and-window.ts'
import type { AnswerProvenance } from './recorder-interface.ts'

/** `sent`: all requests that were sent upstream for the answer, in order. */
export function describeAnswerProvenance(
  prepared: PreparedRequest,
  { items, usage }: Outcome,
  sent: readonly PreparedRequest[] = [prepared],
): AnswerProvenance {
  const { account, history } = prepared
  const { segments } = history
  // A copy: the caller may add requests to the list before `origin` is called.
  const requests = [...sent]
  const wasReasoningRejected = requests.some((request) => request.wasReasoningRejected)
  return {
    origin: createLazyValue(() => {
      const prefixHash = hasEncryptedReasoning(items) ? hashSentPrefix(requests, items) : null
      return { ...resolveAnswerOrigin(prepared), prefixHash }
    }),
    fingerprint: () => (segments === null ? null : fingerprintAnswer(segments, items)),
    reasoningRejectedBy: wasReasoningRejected ? account.name : null,
    // After gateway tools or a compaction the usage is the sum of several requests, so no estimate fits.
    ...(items.some((item) => isGatewayToolItem(item) || isUpstreamCompaction(item))
      ? {}
      : addInputEstimate(usage, prepared)),
  }
}

/**
 * Hashes the prompt that the answer's reasoning depends on. If a later tool round had another prefix than
 * the round before it (after a cut, for example), no future prompt can match all of the reasoning: the
 * result then combines the hashes of all requests, and matches nothing.
 */
function hashSentPrefix(sent: readonly PreparedRequest[], answerItems: readonly Item[]): string {
  const [first] = sent
  if (first === undefined) return ''
  if (sent.every((request, index) => extendsRequest(request, sent[index - 1])))
    return hashAnswerPrefix(first, answerItems)
  const hashes = sent.map((request) => hashAnswerPrefix(request, answerItems))
  return startPrefixHash(hashes.join(' ')).hash()
}

/** Hashes the prompt; after an upstream compaction only the items that the upstream kept before it. */
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

/** True if the prompt is that of the previous request, followed by unchanged new items. */
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

/** True for a tool output with media. Each request loads them again, so equal content is a new object. */
function hasMediaOutput(item: Item): boolean {
  return item.type === 'function_call_output' && typeof item.output !== 'string'
}

/** Adds the estimate to the reported usage; the ratio of both corrects the estimate of the next turn. */
function addInputEstimate(
  usage: TokenUsage | null,
  prepared: PreparedRequest,
): Pick<AnswerProvenance, 'usage'> {
  if (usage === null || !hasBodyEstimate(prepared)) return {}
  return { usage: { ...usage, estimatedInputTokens: estimateBodyTokens(prepared) } }
}

/** Returns the origin without `prefixHash`, which depends on the answer. */
export function resolveAnswerOrigin({ account, prompt }: PreparedRequest): Origin {
  const { wire, name } = account
  return { wire, account: name, model: prompt.params.model, prefixHash: null }
}
