/**
 * Loads images and files from their URLs before a request is sent, for upstreams that do not load URLs.
 *
 * Loaded media are stored, because later requests of the conversation must send the same bytes, although the
 * URL may have stopped working.
 */
import type { ClientRequest } from '../../../core/client-request.ts'
import type { Caller } from '../../../core/client/caller.ts'
import { errorMessage } from '../../../core/errors/gateway-error.ts'
import type { Log } from '../../../core/ports/log-interface.ts'
import {
  hasRemoteMedia,
  listMediaUrlsToLoad,
  type MediaUrlsToLoad,
} from '../../../media/loading/list-media-urls-to-load.ts'
import type { LoadedMediaCache } from '../../../media/loading/media-loader.ts'
import { resolveMediaUrlsAndLimits } from '../../../media/resolve-upstream-media-urls-and-limits.ts'
import type { UpstreamTarget } from '../../../upstream/accounts-and-model-routing.ts'
import type { Ports } from '../../dependencies-interface.ts'
import { type LoadedHistory, getLatestStoredTurn } from '../../history/loaded-history.ts'
import {
  isTemporaryChat,
  mayStoreRequest,
} from '../../history/memory-thread-and-storage-permission.ts'
import { queryStoreOrNull } from '../../history/query-store-or-null.ts'
import type { PlannedRequest } from '../planned-request.ts'
import type { RunInBackground } from '../../../memory/memory-layer-interface.ts'

export interface HistoryWithRemoteMedia {
  readonly history: LoadedHistory
  /** Frees the memory that is reserved for the media. The caller must call it when the request is done. */
  readonly releaseMedia: () => void
}

export interface MediaLoadOptions {
  readonly clientRequest: ClientRequest
  readonly history: LoadedHistory
  readonly targets: readonly UpstreamTarget[]
  readonly caller: Caller
  /** The turn of the answer; null for a dry run, which has no answer. */
  readonly turnId: string | null
  /** Plans the request for a target, to learn which media remain in its prompt. Only these are loaded. */
  readonly plan: (target: UpstreamTarget) => PlannedRequest
  /** Keeps the process alive until the media are stored. */
  readonly waitUntil: RunInBackground
}

export type MediaLoadPorts = Ports<'log' | 'media' | 'mediaLoader' | 'nowMs'>

export async function loadRemoteMedia(
  options: MediaLoadOptions,
  ports: MediaLoadPorts,
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

/** Lists the media URLs in the prompts of all targets, except for URLs that the target loads itself. */
function listUrls({ clientRequest, history, targets, plan }: MediaLoadOptions): MediaUrlsToLoad {
  const urls = targets.flatMap((target) => {
    const support = resolveMediaUrlsAndLimits(target.account)
    const candidates = listMediaUrlsToLoad([...history.items, ...clientRequest.items], support)
    if (candidates.size === 0) return []
    const { policy, prompt } = plan(target)
    return policy.media.fetch === 'never' ? [] : [...listMediaUrlsToLoad(prompt.items, support)]
  })
  return new Map(urls)
}

/** Creates the cache of loaded media, in the database. It finds and saves nothing if the request may not be stored. */
function createLoadedMediaCache(
  { clientRequest, history, caller, turnId, waitUntil }: MediaLoadOptions,
  { media, nowMs, log }: MediaLoadPorts,
): LoadedMediaCache {
  if (isTemporaryChat(clientRequest) || !mayStoreRequest(clientRequest, history))
    return { find: () => Promise.resolve(new Map()), save: () => undefined }
  // The media belong to the thread (tree of turns), so that they are deleted with it.
  const thread = getLatestStoredTurn(history)?.thread ?? turnId
  const owner = { tenant: caller.tenant, user: caller.user, thread }
  return {
    find: (urls, fitsInMemory) => media.findMedia(owner, { urls, fitsInMemory, nowMs: nowMs() }),
    save(url, medium) {
      const stored = media.saveMedium(owner, url, medium, nowMs()).catch((error: unknown) => {
        log('warn', 'media-not-kept', { why: errorMessage(error) })
      })
      waitUntil(stored)
    },
  }
}

/** Limits a look-up of stored media to 1.5 s. Media that are not found in time are loaded from their URLs again. */
export function addMediaLookupTimeout(cache: LoadedMediaCache, log: Log): LoadedMediaCache {
  return {
    ...cache,
    async find(urls, hasRoom) {
      let isWaiting = true
      // After the timeout, the look-up must not reserve memory, because no caller would free it.
      const found = await queryStoreOrNull(
        () => cache.find(urls, (chars) => isWaiting && hasRoom(chars)),
        'media-not-kept',
        log,
      )
      isWaiting = false
      return found ?? new Map()
    },
  }
}
