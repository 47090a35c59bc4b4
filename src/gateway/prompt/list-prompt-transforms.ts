/**
 * Lists every transform that a request goes through, in order: those of the context policy, then media,
 * additions beside the conversation, and last the check of reasoning, which every change before it
 * can make invalid.
 */
import { listAdditionTransforms, listTransforms } from '../../context/list-and-run-transforms.ts'
import { dropInvalidReasoning } from '../../context/reasoning/drop-invalid-reasoning.ts'
import { computePrefixSeed } from '../../context/reasoning/hash-prompt-prefix.ts'
import { moveItemsAfterCompaction } from '../../context/summaries/move-items-after-compaction.ts'
import type { Transform } from '../../context/transform-interface.ts'
import type { ContextPolicy } from '../../core/context-policy.ts'
import type { Item } from '../../core/item.ts'
import type { PromptParameters } from '../../core/prompt.ts'
import type { TargetCapabilities } from '../../upstream/resolve-target-capabilities.ts'
import type { LoadedHistory } from '../history/loaded-history.ts'
import { selectSummary } from '../summaries/add-summary-to-history.ts'
import { listLayerTransforms } from './additions/load-memory-blocks.ts'
import { listUpstreamMediaTransforms } from './list-upstream-media-transforms.ts'
import type { Ports } from '../dependencies-interface.ts'

export interface PromptTransformOptions {
  readonly policy: ContextPolicy
  readonly params: PromptParameters
  /** The complete conversation: the history and the items of the request. */
  readonly items: readonly Item[]
  readonly history: LoadedHistory
  /** The max weight of the items in tokens; null if the conversation is not cut to fit. */
  readonly tokenBudget: number | null
  readonly budgetWarning: readonly Transform[]
  /** True if the same gateway tools were offered when the conversation had this many items. */
  readonly hadSameTools: (length: number) => boolean
}

export function listPromptTransforms(
  target: TargetCapabilities,
  options: PromptTransformOptions,
  ports: Ports<'memoryLayers' | 'settings'>,
): readonly Transform[] {
  const { policy, params, items, history, tokenBudget, budgetWarning, hadSameTools } = options
  const { account, provider } = target
  const { UNANSWERED_CALLS, MEDIA_FETCH_ALLOW } = ports.settings
  return [
    ...listTransforms({
      policy,
      unansweredCalls: UNANSWERED_CALLS,
      hasNames: target.acceptsAuthorNames,
      reader: target.compaction,
      summary: selectSummary(policy, history),
      sees: target.mediaKinds,
      room: tokenBudget,
      // Media handles (`media_1`) are numbered over the complete conversation.
      conversation: items,
    }),
    // Media are adapted to the upstream after the policy has decided which of them are sent.
    ...listUpstreamMediaTransforms(target.mediaSupport, history.media ?? null, MEDIA_FETCH_ALLOW),
    ...listAdditionTransforms(policy),
    // Memory layers come after the policy texts, whose `depth` counts the messages after them.
    ...listLayerTransforms(policy, history, items, ports),
    // Moves all inserted items too: an upstream does not read items before its own compaction.
    ...(provider.ignoresItemsBeforeCompaction === true ? [moveItemsAfterCompaction()] : []),
    ...budgetWarning,
    dropInvalidReasoning({
      wire: account.wire,
      account: account.name,
      seed: () => computePrefixSeed(params, account.wire),
      checksPrefix: target.checksReasoningPrefix,
      hadSameTools,
      refusedBefore: history.reasoningRejections.flatMap((rejection) =>
        rejection.account === account.name ? rejection.origin : [],
      ),
    }),
  ]
}
