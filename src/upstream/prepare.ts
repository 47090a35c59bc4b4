/**
 * Finds out what an upstream will be sent: what is remembered, what of it is left out, and how the
 * rest is said in the upstream's wire. By itself it is a dry run, which is what `explain` shows.
 */
import type { Item } from '../conversation/item.ts'
import type { Note } from '../conversation/note.ts'
import type { ContextPolicy } from '../conversation/policy.ts'
import { wellFormedJson } from '../conversation/well-formed-json.ts'
import type { Params, Prompt } from '../conversation/prompt.ts'
import { route, type Target } from './accounts.ts'
import { clientNotes } from './client-notes.ts'
import type { Inbound } from '../dialect/dialect.ts'
import type { History } from '../history/load-history.ts'
import { remember } from '../history/remember.ts'
import type { Caller } from '../keys.ts'
import { checksPrefix } from '../provider/checks-prefix.ts'
import { hasEndpoint } from '../provider/endpoints.ts'
import type { Account, Encoded, Provider } from '../provider/provider.ts'
import { PROVIDERS } from '../provider/providers.ts'
import { withAccountStops } from '../provider/with-account-stops.ts'
import { keepValidReasoning, type Validity } from '../rebuild/keep-valid-reasoning.ts'
import { planFor, rebuild, type Rules } from '../rebuild/plan.ts'
import { prefixSeed } from '../rebuild/prefix.ts'
import type { Transform } from '../rebuild/transform.ts'
import { policyFor } from './policy-for.ts'
import { refuseEmpty } from './refuse-empty.ts'
import type { Settings } from '../settings.ts'
import type { UpstreamRequest } from '../transport/transport.ts'
import type { World } from '../world.ts'

export interface Prepared {
  readonly inbound: Inbound
  readonly account: Account
  readonly provider: Provider
  readonly history: History
  readonly policy: ContextPolicy
  /** Everything there is, before anything is left out. */
  readonly items: readonly Item[]
  readonly prompt: Prompt
  readonly encoded: Encoded
  readonly notes: readonly Note[]
  /** Where each item of the prompt stands in `items`; `null` for one that was added. */
  readonly places: readonly (number | null)[]
  /** Whether the upstream has refused reasoning that stood in the prompt before. */
  readonly reasoningRefused: boolean
}

/** What would be sent to the upstream that is asked first. */
export async function prepare(given: Inbound, caller: Caller, world: World): Promise<Prepared> {
  const [target] = route(world, given.params.model, given.dialect)
  const { inbound, history } = await remember(given, caller, world)
  return prepareFor(target, inbound, history, world)
}

export function prepareFor(
  { account, model }: Target,
  inbound: Inbound,
  history: History,
  world: World,
  more: readonly Transform[] = [],
): Prepared {
  const provider = PROVIDERS[account.wire]
  // The very same list, if there is nothing to add: that is how a wire knows that nothing changed.
  const items = history.items.length > 0 ? [...history.items, ...inbound.items] : inbound.items
  const own = withAccountStops(inbound.params, account)
  const params = model === own.model ? own : { ...own, model }
  const policy = policyFor(model, inbound, history, world.settings)
  const rebuilt = rebuild(items, [
    ...planFor(rulesOf(policy, account, world.settings)),
    ...more,
    // Last, because every change before it is one of the prefix that reasoning is bound to.
    keepValidReasoning(validityFor(account, params, history)),
  ])
  const { stream, dialect, body, bytes } = inbound
  const { items: asked, given = asked, params: said } = inbound
  const source = { dialect, body, bytes, items: given, params: said }
  const wantsUsage = inbound.client.isOpenWebUi
  const prompt = { items: rebuilt.items, params, stream, wantsUsage, source }
  const encoded = provider.encode(prompt, account)
  const notes = [
    ...history.notes,
    ...rebuilt.notes,
    ...clientNotes(encoded.notes, rebuilt.places, body),
  ]
  const { places } = rebuilt
  const parts = {
    inbound,
    account,
    provider,
    history,
    policy,
    items,
    prompt,
    encoded,
    notes,
    places,
  }
  return refuseEmpty({ ...parts, reasoningRefused: false })
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

function rulesOf(policy: ContextPolicy, account: Account, settings: Settings): Rules {
  return {
    policy,
    unansweredCalls: settings.UNANSWERED_CALLS,
    reader: {
      wire: account.wire,
      account: account.name,
      compacts: hasEndpoint(account, 'compact'),
    },
  }
}

export function upstreamRequest({ account, provider, encoded }: Prepared): UpstreamRequest {
  const { body, path } = encoded
  return {
    method: 'POST',
    url: account.baseUrl + path,
    headers: {
      'content-type': 'application/json',
      ...provider.headers(account),
      ...account.headers,
    },
    body: body instanceof Uint8Array ? body : wellFormedJson(body),
  }
}
