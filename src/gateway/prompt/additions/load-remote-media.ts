/**
 * What a request needs of media that its upstreams do not load themselves, loaded before any of them
 * is asked. By far the most requests need nothing, and pay a look at their parts.
 */
import type { Caller } from '../../../core/client/caller.ts'
import type { Inbound } from '../../../core/client-request.ts'
import type { History } from '../../history/load-history-by-id.ts'
import { mayBeKept } from '../../history/memory-thread-and-storage-permission.ts'
import { keptMedia } from './stored-media-cache.ts'
import { mediaReader } from '../../../media/resolve-upstream-media-support.ts'
import {
  namesMedia,
  planLoading,
  type LoadingPlan,
} from '../../../media/loading/list-urls-to-load.ts'
import type { World } from '../../dependencies-interface.ts'
import { route, type Target } from '../../../upstream/accounts-and-model-routing.ts'
import { patientMedia } from './add-media-lookup-timeout.ts'
import type { Planned } from '../plan-request.ts'

export interface WithMedia {
  readonly history: History
  /** When nobody needs the media any more: they take room that others wait for. */
  readonly letGo: () => void
}

export interface Asking {
  readonly inbound: Inbound
  readonly history: History
  readonly caller: Caller
  /** That of the answer; `null` if there is to be none. */
  readonly turnId: string | null
  /** What each would be sent, as far as it decides what is to be loaded. */
  readonly plan: (target: Target) => Planned
  /** Is told of what goes on behind the answer. */
  readonly after: (work: Promise<unknown>) => void
}

export async function withMedia(asking: Asking, world: World): Promise<WithMedia> {
  const { inbound, history, caller, turnId, after } = asking
  const none = { history, letGo: () => undefined }
  const { mediaLoader } = world
  if (mediaLoader === undefined || !mayNameMedia(inbound, history)) return none
  const plan = planFor(asking, world)
  if (plan.size === 0) return none
  const thread = (history.parent ?? history.recollection?.newest)?.thread ?? turnId
  const { tenant, user } = caller
  const kept = keptMedia({ tenant, user, thread }, world, mayKeep(inbound, history), after)
  const { loaded, letGo } = await mediaLoader.load(plan, patientMedia(kept, world.log))
  return { history: { ...history, media: loaded }, letGo }
}

function mayNameMedia(inbound: Inbound, { items }: History): boolean {
  return namesMedia(inbound.items) || namesMedia(items)
}

/** Of what is left when everything that is not shown is left out, for whoever may be asked. */
function planFor({ inbound, history, plan }: Asking, world: World): LoadingPlan {
  const targets = route(world, inbound.params.model, inbound.dialect)
  const plans = targets.flatMap((target) => {
    const reader = mediaReader(target.account)
    const all = planLoading([...history.items, ...inbound.items], reader)
    if (all.size === 0) return []
    const { policy, prompt } = plan(target)
    return policy.media.fetch === 'never' ? [] : [...planLoading(prompt.items, reader)]
  })
  return new Map(plans)
}

/** What is not to be remembered, or not to last, is not kept either, be it only loaded for it. */
function mayKeep(inbound: Inbound, history: History): boolean {
  const { memory, client } = inbound
  const isTemporary = client.isTemporary && memory.store !== true
  return !isTemporary && mayBeKept(inbound, history)
}
