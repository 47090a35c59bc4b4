/**
 * Loads the media of a request that its upstreams do not load by URL themselves, before the request is sent.
 * Most requests have no such media: they only cost one look at their parts.
 *
 * Loaded media are stored with their owner, because every later request sends the same bytes again, and
 * the URL may not work any more by then.
 */
import type { ClientRequest } from '../../../core/client-request.ts'
import type { Caller } from '../../../core/client/caller.ts'
import { errorMessage } from '../../../core/errors/gateway-error.ts'
import {
  hasRemoteMedia,
  listMediaUrlsToLoad,
  type MediaUrlsToLoad,
} from '../../../media/loading/list-urls-to-load.ts'
import type { LoadedMediaCache } from '../../../media/loading/media-loader.ts'
import { resolveMediaSupport } from '../../../media/resolve-upstream-media-support.ts'
import type { UpstreamTarget } from '../../../upstream/accounts-and-model-routing.ts'
import type { LoadedHistory } from '../../history/loaded-history.ts'
import {
  isTemporaryChat,
  mayStoreRequest,
} from '../../history/memory-thread-and-storage-permission.ts'
import type { PlannedRequest } from '../planned-request.ts'
import { addMediaLookupTimeout } from './add-media-lookup-timeout.ts'
import type { GatewayDependencies, Ports } from '../../dependencies-interface.ts'

export interface HistoryWithRemoteMedia {
  readonly history: LoadedHistory
  /** Frees the share of the memory limit that the media hold; called when the request is done. */
  readonly releaseMedia: () => void
}

export interface MediaLoadOptions {
  readonly clientRequest: ClientRequest
  readonly history: LoadedHistory
  /** The targets that the request may be sent to. */
  readonly targets: readonly UpstreamTarget[]
  readonly caller: Caller
  /** The turn of the answer; null if nothing is sent upstream. */
  readonly turnId: string | null
  /** Plans the request for a target: only media that the plan includes are loaded. */
  readonly plan: (target: UpstreamTarget) => PlannedRequest
  /** Keeps the process alive until the media are stored. */
  readonly waitUntil: (work: Promise<unknown>) => void
}

export async function loadRemoteMedia(
  options: MediaLoadOptions,
  ports: Ports<'log' | 'media' | 'mediaLoader' | 'nowMs'>,
): Promise<HistoryWithRemoteMedia> {
  const { clientRequest, history } = options
  const unchanged = { history, releaseMedia: () => undefined }
  const { mediaLoader } = ports
  if (mediaLoader === undefined) return unchanged
  if (!hasRemoteMedia(clientRequest.items) && !hasRemoteMedia(history.items)) return unchanged
  const urls = listUrls(options)
  if (urls.size === 0) return unchanged
  const cache = addMediaLookupTimeout(createLoadedMediaCache(options, ports), ports.log)
  const { loaded, release } = await mediaLoader.load(urls, cache)
  return { history: { ...history, media: loaded }, releaseMedia: release }
}

/** Lists the URLs in the prompts of all targets that do not load them. */
function listUrls({ clientRequest, history, targets, plan }: MediaLoadOptions): MediaUrlsToLoad {
  const urls = targets.flatMap((target) => {
    const support = resolveMediaSupport(target.account)
    const candidates = listMediaUrlsToLoad([...history.items, ...clientRequest.items], support)
    if (candidates.size === 0) return []
    const { policy, prompt } = plan(target)
    return policy.media.fetch === 'never' ? [] : [...listMediaUrlsToLoad(prompt.items, support)]
  })
  return new Map(urls)
}

/** Media of temporary chats and of requests that may not be stored are not cached. */
function createLoadedMediaCache(
  { clientRequest, history, caller, turnId, waitUntil }: MediaLoadOptions,
  { media, nowMs, log }: Ports<'media' | 'nowMs' | 'log'>,
): LoadedMediaCache {
  if (isTemporaryChat(clientRequest) || !mayStoreRequest(clientRequest, history))
    return { find: () => Promise.resolve(new Map()), save: () => undefined }
  const thread = (history.parent ?? history.recallResult?.latestTurn)?.thread ?? turnId
  // The media are deleted with this thread.
  const owner: MediaOwner = { tenant: caller.tenant, user: caller.user, thread }
  return {
    find: (urls, hasRoom) => media.findLoaded(owner, { urls, hasRoom, nowMs: nowMs() }),
    save(url, medium) {
      const stored = media.keepLoaded(owner, url, medium, nowMs()).catch((error: unknown) => {
        log('warn', 'media-not-kept', { why: errorMessage(error) })
      })
      waitUntil(stored)
    },
  }
}

type MediaOwner = Parameters<GatewayDependencies['media']['keepLoaded']>[0]
