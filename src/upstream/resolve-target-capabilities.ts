/**
 * Resolves the capabilities of a target (an account and a model) on which its prompts depend, e.g. which
 * media the model can read.
 */
import type { CompactionReader } from '../context/summaries/can-read-compaction.ts'
import { cachePerObject } from '../core/caching/cache-per-object.ts'
import type { MediaKind } from '../core/media/content-part-media.ts'
import {
  resolveMediaUrlsAndLimits,
  type UpstreamMediaUrlsAndLimits,
} from '../media/resolve-upstream-media-urls-and-limits.ts'
import type { Provider } from '../providers/provider-interface.ts'
import { PROVIDERS } from '../providers/provider-registry.ts'
import { requiresUnchangedReasoningPrefix } from '../providers/requires-unchanged-reasoning-prefix.ts'
import type { UpstreamTarget } from './accounts-and-model-routing.ts'
import { resolveMediaKinds } from './model-media-kinds.ts'

export interface TargetCapabilities extends UpstreamTarget {
  readonly provider: Provider
  /** The kinds of media that the model can see, hear or read. */
  readonly mediaKinds: ReadonlySet<MediaKind>
  readonly mediaSupport: UpstreamMediaUrlsAndLimits
  readonly compaction: CompactionReader
  /**
   * The lowest threshold in tokens that the upstream accepts for its own compaction; null if it
   * cannot compact.
   */
  readonly minCompactionTokens: number | null
  /** True if the upstream's API has a field for the author of a message. */
  readonly acceptsAuthorNames: boolean
  /** True if the upstream accepts reasoning only after exactly the items after which it was generated. */
  readonly checksReasoningPrefix: boolean
}

/**
 * Returns the capabilities of a target, cached for each target object, that is, for one request.
 */
export const resolveTargetCapabilities = cachePerObject(
  (target: UpstreamTarget): TargetCapabilities => {
    const { account, model } = target
    const provider = PROVIDERS[account.wire]
    const minCompactionTokens = provider.getMinCompactionTokens?.(account, model) ?? null
    return {
      account,
      model,
      provider,
      mediaKinds: resolveMediaKinds(account, model),
      mediaSupport: resolveMediaUrlsAndLimits(account),
      compaction: {
        wire: account.wire,
        account: account.name,
        makesCompactions: minCompactionTokens !== null,
      },
      minCompactionTokens,
      acceptsAuthorNames: provider.acceptsAuthorNames?.(account) ?? false,
      checksReasoningPrefix: requiresUnchangedReasoningPrefix(account, provider, model),
    }
  },
)
