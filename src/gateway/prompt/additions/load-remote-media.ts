/**
 * What a request needs of media that its upstreams do not load themselves, loaded before any of them
 * is asked. By far the most requests need nothing, and pay a look at their parts.
 */
import type { ClientRequest } from '../../../core/client-request.ts'
import type { Caller } from '../../../core/client/caller.ts'
import {
  hasRemoteMedia,
  listMediaUrlsToLoad,
  type MediaUrlsToLoad,
} from '../../../media/loading/list-urls-to-load.ts'
import { resolveMediaSupport } from '../../../media/resolve-upstream-media-support.ts'
import { routeModel, type UpstreamTarget } from '../../../upstream/accounts-and-model-routing.ts'
import type { LoadedHistory } from '../../history/loaded-history.ts'
import { mayStoreRequest } from '../../history/memory-thread-and-storage-permission.ts'
import type { PlannedRequest } from '../planned-request.ts'
import { addMediaLookupTimeout } from './add-media-lookup-timeout.ts'
import { createLoadedMediaCache } from './stored-media-cache.ts'
import type { Ports } from '../../dependencies-interface.ts'

export interface HistoryWithRemoteMedia {
  readonly history: LoadedHistory
  /** When nobody needs the media any more: they take room that others wait for. */
  readonly releaseMedia: () => void
}

export interface MediaLoadOptions {
  readonly clientRequest: ClientRequest
  readonly history: LoadedHistory
  readonly caller: Caller
  /** That of the answer; `null` if there is to be none. */
  readonly turnId: string | null
  /** What each would be sent, as far as it decides what is to be loaded. */
  readonly plan: (target: UpstreamTarget) => PlannedRequest
  /** Is told of what goes on behind the answer. */
  readonly waitUntil: (work: Promise<unknown>) => void
}

export async function loadRemoteMedia(
  asking: MediaLoadOptions,
  ports: Ports<'accounts' | 'log' | 'media' | 'mediaLoader' | 'nowMs' | 'settings'>,
): Promise<HistoryWithRemoteMedia> {
  const { clientRequest, history, caller, turnId, waitUntil } = asking
  const none = { history, releaseMedia: () => undefined }
  const { mediaLoader } = ports
  if (mediaLoader === undefined || !mayNameMedia(clientRequest, history)) return none
  const plan = planFor(asking, ports)
  if (plan.size === 0) return none
  const thread = (history.parent ?? history.recallResult?.latestTurn)?.thread ?? turnId
  const { tenant, user } = caller
  const kept = createLoadedMediaCache(
    { tenant, user, thread },
    ports,
    mayKeep(clientRequest, history),
    waitUntil,
  )
  const { loaded, release } = await mediaLoader.load(plan, addMediaLookupTimeout(kept, ports.log))
  return { history: { ...history, media: loaded }, releaseMedia: release }
}

function mayNameMedia(clientRequest: ClientRequest, { items }: LoadedHistory): boolean {
  return hasRemoteMedia(clientRequest.items) || hasRemoteMedia(items)
}

/** Of what is left when everything that is not shown is left out, for whoever may be asked. */
function planFor(
  { clientRequest, history, plan }: MediaLoadOptions,
  ports: Ports<'accounts' | 'settings'>,
): MediaUrlsToLoad {
  const targets = routeModel(ports, clientRequest.params.model, clientRequest.dialect)
  const plans = targets.flatMap((target) => {
    const reader = resolveMediaSupport(target.account)
    const all = listMediaUrlsToLoad([...history.items, ...clientRequest.items], reader)
    if (all.size === 0) return []
    const { policy, prompt } = plan(target)
    return policy.media.fetch === 'never' ? [] : [...listMediaUrlsToLoad(prompt.items, reader)]
  })
  return new Map(plans)
}

/** What is not to be remembered, or not to last, is not kept either, be it only loaded for it. */
function mayKeep(clientRequest: ClientRequest, history: LoadedHistory): boolean {
  const { storage, client } = clientRequest
  const isTemporary = client.isTemporary && storage.store !== true
  return !isTemporary && mayStoreRequest(clientRequest, history)
}
