/**
 * `POST /v1/responses/compact`: a conversation as what may stand for it from now on, the messages of
 * the user and one compaction. It is no response: nothing is kept, and nothing can go on from its
 * id. Who makes compactions itself is asked for one; for all others the model writes a summary.
 */
import type { Caller } from '../../core/client/caller.ts'
import { compactionItem } from '../../core/items/compaction-item.ts'
import { itemId, responseId } from '../../core/turn-derived-ids.ts'
import type { Message } from '../../core/item.ts'
import type { JsonObject } from '../../core/json/json.ts'
import { parseWished } from '../../dialects/context-policy/parse-request-with-overrides.ts'
import { usageOf } from '../../dialects/responses/render/render-response-fields.ts'
import { responses } from '../../dialects/responses/responses-dialect.ts'
import type { Exchange } from '../../gateway/http-exchange-interface.ts'
import { loadHistory } from '../../gateway/history/load-history-by-id.ts'
import { resolveReferences } from '../../gateway/history/resolve-item-references.ts'
import { hasEndpoint } from '../../providers/has-responses-endpoint.ts'
import { route } from '../../upstream/accounts-and-model-routing.ts'
import { askEndpoint } from '../../gateway/send/call-other-endpoint.ts'
import { windowOf } from '../../gateway/prompt/size/estimate-tokens-and-window.ts'
import { planFor, unshortened } from '../../gateway/summaries/compact-conversation.ts'
import { encodePlan } from '../../gateway/prompt/encode-planned-request.ts'
import { planned } from '../../gateway/prompt/plan-request.ts'
import { summarise } from '../../gateway/summaries/request-summary.ts'
import { watchLeaving } from '../../gateway/send/cancel-on-disconnect.ts'
import type { World } from '../../gateway/dependencies-interface.ts'

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
