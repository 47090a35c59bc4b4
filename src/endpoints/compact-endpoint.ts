/**
 * `POST /v1/responses/compact`: a conversation as what may stand for it from now on, the messages of
 * the user and one compaction. It is no response: nothing is kept, and nothing can go on from its
 * id. Who makes compactions itself is asked for one; for all others the model writes a summary.
 */
import type { Caller } from '../conversation/caller.ts'
import { compactionItem } from '../conversation/compaction.ts'
import { itemId, responseId } from '../conversation/ids.ts'
import type { Message } from '../conversation/item.ts'
import type { JsonObject } from '../conversation/json.ts'
import { parseWished } from '../dialect/parse-wished.ts'
import { usageOf } from '../dialect/responses/echo.ts'
import { responses } from '../dialect/responses/responses.ts'
import type { Exchange } from '../edge/exchange.ts'
import { loadHistory } from '../history/load-history.ts'
import { resolveReferences } from '../history/resolve-references.ts'
import { hasEndpoint } from '../provider/endpoints.ts'
import { route } from '../upstream/accounts.ts'
import { askEndpoint } from '../upstream/ask-endpoint.ts'
import { windowOf } from '../upstream/budget.ts'
import { planFor, unshortened } from '../upstream/compact.ts'
import { encodePlan } from '../upstream/encode-plan.ts'
import { planned } from '../upstream/planned.ts'
import { summarise } from '../upstream/summarise.ts'
import { watchLeaving } from '../upstream/watch-leaving.ts'
import type { World } from '../world.ts'

export async function compact(
  body: JsonObject,
  caller: Caller,
  world: World,
  exchange: Exchange,
): Promise<JsonObject> {
  const asked = { ...body, stream: false, store: false }
  const parsed = parseWished(responses, asked)
  const inbound = await resolveReferences(parsed, caller, world)
  const { model } = inbound.params
  const targets = route(world, model, inbound.dialect)
  const history = await loadHistory(inbound, caller, world)
  const client = watchLeaving(exchange)
  const whole = unshortened(planned(targets[0], { inbound, history }, world), world)
  if (hasEndpoint(whole.account, 'compact')) {
    return askEndpoint('/responses/compact', UNDERSTOOD, encodePlan(whole), world, client.onCall)
  }
  const plan = planFor(whole, windowOf(whole))
  const { text, usage } = await summarise(plan, { targets, model, ...client }, world)
  const id = world.newTurnId()
  const compaction = compactionItem(itemId('compaction', id, plan.kept.length), text)
  return {
    id: responseId(id),
    object: 'response.compaction',
    created_at: Math.floor(world.nowMs() / 1000),
    output: [...plan.kept.map((message, at) => shown(message, id, at)), compaction.raw],
    usage: usageOf(usage),
  }
}

/** The fields of the endpoint; all else belongs to an answer. */
const UNDERSTOOD = [
  'model',
  'input',
  'instructions',
  'prompt_cache_key',
  'prompt_cache_options',
  'prompt_cache_retention',
  'service_tier',
]

function shown(message: Message, turnId: string, at: number): JsonObject {
  const { native: _native, origin: _origin, ...own } = message
  const id = own.id ?? itemId('message', turnId, at)
  return { ...(own as unknown as JsonObject), id, status: 'completed' }
}
