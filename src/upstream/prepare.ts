/**
 * Finds out what an upstream will be sent: what is remembered, what of it is left out, and how the
 * rest is said in the upstream's wire. By itself it is a dry run, which is what `explain` shows.
 */
import type { Item } from '../conversation/item.ts'
import type { Note } from '../conversation/note.ts'
import type { Prompt } from '../conversation/prompt.ts'
import { route, type Target } from './accounts.ts'
import { clientNotes } from './client-notes.ts'
import type { Inbound } from '../dialect/dialect.ts'
import { loadHistory, type History } from '../history/load-history.ts'
import { resolveReferences } from '../history/resolve-references.ts'
import type { Caller } from '../keys.ts'
import { hasEndpoint } from '../provider/endpoints.ts'
import type { Account, Encoded, Provider } from '../provider/provider.ts'
import { PROVIDERS } from '../provider/providers.ts'
import { withAccountStops } from '../provider/with-account-stops.ts'
import { planFor, rebuild, type Policy } from '../rebuild/plan.ts'
import type { Transform } from '../rebuild/transform.ts'
import type { Settings } from '../settings.ts'
import type { UpstreamRequest } from '../transport/transport.ts'
import type { World } from '../world.ts'

export interface Prepared {
  readonly inbound: Inbound
  readonly account: Account
  readonly provider: Provider
  readonly history: History
  /** Everything there is, before anything is left out. */
  readonly items: readonly Item[]
  readonly prompt: Prompt
  readonly encoded: Encoded
  readonly notes: readonly Note[]
}

/** What would be sent to the upstream that is asked first. */
export async function prepare(asked: Inbound, caller: Caller, world: World): Promise<Prepared> {
  const inbound = await resolveReferences(asked, caller, world)
  const [target] = route(world, inbound.params.model, inbound.dialect)
  const history = await loadHistory(inbound, caller, world)
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
  const rebuilt = rebuild(items, [...planFor(policyOf(world.settings, account)), ...more])
  const { stream, dialect, body, bytes } = inbound
  const { items: asked, given = asked, params: said } = inbound
  const source = { dialect, body, bytes, items: given, params: said }
  const own = withAccountStops(inbound.params, account)
  const params = model === own.model ? own : { ...own, model }
  const prompt = { items: rebuilt.items, params, stream, source }
  const encoded = provider.encode(prompt, account)
  const notes = [...rebuilt.notes, ...clientNotes(encoded.notes, rebuilt.places, body)]
  return { inbound, account, provider, history, items, prompt, encoded, notes }
}

function policyOf(settings: Settings, account: Account): Policy {
  return {
    historyMaxItems: settings.HISTORY_MAX_ITEMS,
    toolOutputRetentionRounds: settings.TOOL_OUTPUT_RETENTION_TURNS,
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
    body: body instanceof Uint8Array ? body : JSON.stringify(body),
  }
}
