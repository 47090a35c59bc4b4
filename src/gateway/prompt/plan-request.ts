/**
 * What of all that there is an upstream will be sent: what is remembered, what of it is left out, and
 * what is put beside it. Nothing is said in the upstream's wire yet (`encode-planned-request.ts`).
 */
import type { Item } from '../../core/item.ts'
import type { Note } from '../../core/note.ts'
import type { ContextPolicy } from '../../core/context-policy.ts'
import type { Params, Prompt } from '../../core/prompt.ts'
import type { Target } from '../../upstream/accounts-and-model-routing.ts'
import { spentOn, wayOutOf } from './size/end-tool-loop-near-limit.ts'
import { compactAboveFor } from './size/upstream-compaction-threshold.ts'
import type { Inbound } from '../../core/client-request.ts'
import type { History } from '../history/load-history-by-id.ts'
import type { Remembered } from '../history/load-request-history.ts'
import { mayKeepMemory } from '../history/memory-thread-and-storage-permission.ts'
import { mediaSteps } from './list-upstream-media-transforms.ts'
import type { Asking, HouseTool } from '../tools/gateway-tool-interface.ts'
import { offerTools, type Offered } from '../tools/offer-tools.ts'
import { checksPrefix } from '../../providers/requires-unchanged-reasoning-prefix.ts'
import { compactingWithout } from '../../providers/response/record-hidden-authors-in-compactions.ts'
import type { Account, Provider } from '../../providers/provider-interface.ts'
import { PROVIDERS } from '../../providers/registry.ts'
import { withAccountStops } from '../../providers/request/add-account-stop-sequences.ts'
import { behindCompaction } from '../../context/summaries/move-items-after-compaction.ts'
import {
  keepValidReasoning,
  type Validity,
} from '../../context/reasoning/drop-invalid-reasoning.ts'
import { lookBack, type Past } from '../../context/reasoning/recompute-prefixes.ts'
import {
  additionsFor,
  planFor,
  rebuild,
  rebuildOn,
  type Rebuilt,
  type Rules,
} from '../../context/list-and-run-transforms.ts'
import { prefixSeed } from '../../context/reasoning/hash-prompt-prefix.ts'
import type { Transform } from '../../context/transform-interface.ts'
import { policyFor } from './resolve-request-policy.ts'
import { kindsSeen } from '../../upstream/model-media-kinds.ts'
import { unmarkedInstructions } from './strip-instruction-markers.ts'
import { readerOf } from './describe-compaction-support.ts'
import { refuseEmpty } from './reject-empty-prompt.ts'
import { summaryFor } from '../summaries/add-summary-to-history.ts'
import { refuseTooLarge } from './reject-large-media.ts'
import type { Settings } from '../../settings/read-settings.ts'
import type { World } from '../dependencies-interface.ts'
import { layerSteps } from './additions/load-memory-blocks.ts'

export interface Planned {
  readonly inbound: Inbound
  readonly account: Account
  readonly provider: Provider
  readonly history: History
  readonly policy: ContextPolicy
  /** The tools among those of the prompt that the gateway answers. */
  readonly house: readonly HouseTool[]
  /** Everything there is, before anything is left out. */
  readonly items: readonly Item[]
  readonly prompt: Prompt
  readonly notes: readonly Note[]
  /** Where each item of the prompt stands in `items`; `null` for one that was added. */
  readonly places: readonly (number | null)[]
  /** What the answer begins with, in front of all that its model says. */
  readonly begins?: Item
  /** Whether the upstream has refused reasoning that stood in the prompt before. */
  readonly reasoningRefused: boolean
}

/** A request, with what is remembered for it. */
export interface ToBePlanned extends Pick<Remembered, 'inbound' | 'history'> {
  /** What it is to fit, in tokens as items are weighed; without a word, it may be as long as it is. */
  readonly room?: number | null
}

/** Throws a GatewayError for what cannot be sent. */
export function planned(target: Target, asked: ToBePlanned, world: World): Planned {
  const { account, model } = target
  const { inbound, history, room = null } = asked
  // The very same list, if there is nothing to add: that is how a wire knows that nothing changed.
  const items = history.items.length > 0 ? [...history.items, ...inbound.items] : inbound.items
  const wished = policyFor(model, asked, world.settings)
  const provider = compactingWithout(PROVIDERS[account.wire], wished.speakers.hidden)
  const said = unmarkedInstructions(paramsFor(target, inbound))
  const sees = kindsSeen(account, model)
  const offer = offerOf({ policy: wished, params: said.params, sees }, asked, world)
  const { params: offered, policy, tools: house, notes: ofOffer } = offer(items)
  const wayOut = wayOutOf(target, { items, policy: wished, history })
  const { params, notes: ofBudget } = spentOn(offered, wayOut)
  const steps = [
    ...stepsFor(target, { items, policy, history, sees, room }, world),
    // Behind all that stands beside the conversation.
    ...wayOut.steps,
  ]
  const changed = rebuild(items, steps)
  const toolsOf = (length: number) => offer(items.slice(0, length)).tools
  const past = pastOf(changed, house, toolsOf)
  const validity = { ...validityFor(account, params, history), past }
  // Last, because every change before it is one of the prefix that reasoning is bound to.
  const rebuilt = rebuildOn(changed, [keepValidReasoning(validity)])
  const compactAbove = compactAboveFor(target, { inbound, history, policy })
  const compacting = compactAbove === null ? {} : { compactAbove }
  const prompt = promptOf(inbound, { items: rebuilt.items, params, ...compacting })
  const { places } = rebuilt
  const notes = [
    ...history.notes,
    ...said.notes,
    ...rebuilt.notes,
    ...(history.layers?.notes ?? []),
    ...ofOffer,
    ...ofBudget,
  ]
  const plan = { inbound, account, provider, history, policy, house, items }
  const sent = { prompt, notes, places, reasoningRefused: false }
  return refuseTooLarge(refuseEmpty({ ...plan, ...sent }))
}

function paramsFor({ account, model }: Target, { params }: Inbound): Params {
  const own = withAccountStops(params, account)
  return model === own.model ? own : { ...own, model }
}

/** Which tools stand in front of so much of the conversation. */
function offerOf(
  offering: Pick<Asking, 'policy' | 'params' | 'sees'>,
  { inbound, history }: ToBePlanned,
  { settings }: World,
): (items: readonly Item[]) => Offered {
  const { isTask } = inbound.client
  const mayKeep = mayKeepMemory(inbound, history, settings)
  return (items) => offerTools({ ...offering, items, isTask, mayKeep })
}

type Rebuilding = Pick<Planned, 'items' | 'policy' | 'history'> &
  Required<Pick<Rules, 'sees' | 'room'>>

function stepsFor(
  target: Target,
  { items, policy, history, sees, room }: Rebuilding,
  world: World,
): readonly Transform[] {
  const { account } = target
  return [
    ...planFor({
      ...rulesOf(policy, target, world.settings),
      summary: summaryFor(policy, history),
      sees,
      room,
      // Media are named by their place in all that there is.
      conversation: items,
    }),
    // Behind what decides which media are shown at all.
    ...mediaSteps(account, history.media ?? null, world.settings),
    ...additionsFor(policy),
    // Behind notes, which count the messages behind them.
    ...layerSteps(policy, history, items, world),
    // Behind all that may stand in front of what the upstream has compacted, and would not be read.
    ...(PROVIDERS[account.wire].compactionFirst === true ? [behindCompaction()] : []),
  ]
}

/** As it was then, if the same tools stood in front. */
function pastOf(
  changed: Rebuilt,
  house: readonly HouseTool[],
  toolsOf: (length: number) => readonly HouseTool[],
): Past {
  const past = lookBack(changed)
  if (house.length === 0) return past
  const had = (length: number) => toolsOf(length).length === house.length
  return { ...past, sentOf: (length) => (had(length) ? past.sentOf(length) : null) }
}

function promptOf(
  inbound: Inbound,
  sent: Pick<Prompt, 'items' | 'params' | 'compactAbove'>,
): Prompt {
  const { stream, dialect, body, bytes, client } = inbound
  const { items: asked, given = asked, params: said } = inbound
  const source = { dialect, body, bytes, items: given, params: said }
  return { ...sent, stream, wantsUsage: client.isOpenWebUi, source }
}

function validityFor(account: Account, params: Params, { refusals }: History): Validity {
  const { wire, name } = account
  return {
    wire,
    account: name,
    seed: () => prefixSeed(params, wire),
    checksPrefix: checksPrefix(account, PROVIDERS[wire], params.model),
    refusedBefore: refusals.flatMap((refusal) => (refusal.account === name ? refusal.origin : [])),
  }
}

function rulesOf(policy: ContextPolicy, target: Target, settings: Settings): Rules {
  return {
    policy,
    unansweredCalls: settings.UNANSWERED_CALLS,
    hasNames: PROVIDERS[target.account.wire].takesNames?.(target.account) ?? false,
    reader: readerOf(target),
  }
}
