/**
 * Lists all transforms of a request in their order: first those of the context policy, then those for media,
 * then those that insert texts. The check of reasoning is last, because any change to the items before reasoning
 * can make the reasoning invalid.
 */
import { listPolicyTextTransforms, listTransforms } from '../../context/list-and-run-transforms.ts'
import { dropInvalidReasoning } from '../../context/reasoning/drop-invalid-reasoning.ts'
import { computePrefixSeed } from '../../context/reasoning/hash-prompt-prefix.ts'
import { moveItemsAfterCompaction } from '../../context/summaries/move-items-after-compaction.ts'
import type { Transform } from '../../context/transform-interface.ts'
import type { ContextPolicy } from '../../core/context-policy.ts'
import type { Item } from '../../core/item.ts'
import type { PromptParameters } from '../../core/prompt.ts'
import type { TargetCapabilities } from '../../upstream/resolve-target-capabilities.ts'
import type { Ports } from '../dependencies-interface.ts'
import type { LoadedHistory } from '../history/loaded-history.ts'
import { selectSummary } from '../summaries/add-summary-to-history.ts'
import { listLayerTransforms } from './additions/load-memory-blocks.ts'
import { listUpstreamMediaTransforms } from './list-upstream-media-transforms.ts'

export interface PromptTransformOptions {
  readonly policy: ContextPolicy
  readonly params: PromptParameters
  /** The complete conversation: the items of the history and of the request. */
  readonly items: readonly Item[]
  readonly history: LoadedHistory
  /** The maximum tokens of all items; null if the conversation need not be cut. */
  readonly tokenBudget: number | null
  readonly budgetWarningTransforms: readonly Transform[]
  /** True if the first `itemCount` items alone would be offered the same gateway tools as the complete list. */
  readonly hadSameTools: (itemCount: number) => boolean
}

export type PlanPorts = Ports<'memoryLayers' | 'settings' | 'upstreamKnowledge'>

export function listPromptTransforms(
  target: TargetCapabilities,
  options: PromptTransformOptions,
  ports: PlanPorts,
): readonly Transform[] {
  const { policy, params, items, history, tokenBudget, budgetWarningTransforms, hadSameTools } =
    options
  const { account, provider } = target
  const { UNANSWERED_CALLS, MEDIA_FETCH_ALLOW } = ports.settings
  return [
    ...listTransforms({
      policy,
      unansweredCalls: UNANSWERED_CALLS,
      hasNameField: target.acceptsAuthorNames,
      reader: target.compaction,
      summary: selectSummary(policy, history),
      acceptedMediaKinds: target.mediaKinds,
      tokenBudget,
      // Media are numbered (`media_1`) in the complete list, so that a number stays when earlier media are dropped.
      conversation: items,
    }),
    // After the policy's transforms, which decide which media are sent at all.
    ...listUpstreamMediaTransforms(target.mediaSupport, history.media ?? null, MEDIA_FETCH_ALLOW),
    ...listPolicyTextTransforms(policy),
    // After the operator's texts (`notes` of the policy), whose `depth` counts messages but not memory blocks.
    ...listLayerTransforms(policy, history, items, ports),
    // After all insertions: the upstream ignores all items before its own compaction, even inserted texts.
    ...(provider.ignoresItemsBeforeCompaction === true ? [moveItemsAfterCompaction()] : []),
    ...budgetWarningTransforms,
    dropInvalidReasoning({
      wire: account.wire,
      account: account.name,
      model: params.model,
      computeSeed: () => computePrefixSeed(params, account.wire),
      checksPrefix: target.checksReasoningPrefix,
      hadSameGatewayTools: hadSameTools,
      answersAfterRejection: history.reasoningRejections.flatMap((rejection) =>
        rejection.account === account.name ? rejection.origin : [],
      ),
    }),
  ]
}
