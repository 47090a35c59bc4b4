/**
 * `POST /v1/responses/compact`: a conversation as what may stand for it from now on, the messages of
 * the user and one compaction. It is no response: nothing is kept, and nothing can go on from its
 * id. Who makes compactions itself is asked for one; for all others the model writes a summary.
 */
import type { Caller } from '../../core/client/caller.ts'
import type { Message } from '../../core/item.ts'
import { createCompactionItem } from '../../core/items/compaction-item.ts'
import type { JsonObject } from '../../core/json/json.ts'
import { itemId, responseId } from '../../core/turn-derived-ids.ts'
import { parseRequestWithOverrides } from '../../dialects/context-policy/parse-request-with-overrides.ts'
import { renderResponsesUsage } from '../../dialects/responses/render/render-response-fields.ts'
import { responsesDialect } from '../../dialects/responses/responses-dialect.ts'
import type { GatewayDependencies } from '../../gateway/dependencies-interface.ts'
import { loadHistoryById } from '../../gateway/history/load-history-by-id.ts'
import { resolveItemReferences } from '../../gateway/history/resolve-item-references.ts'
import type { HttpExchange } from '../../gateway/http-exchange-interface.ts'
import { encodePlannedRequest } from '../../gateway/prompt/encode-planned-request.ts'
import { planRequest } from '../../gateway/prompt/plan-request.ts'
import { resolveContextWindow } from '../../gateway/prompt/size/estimate-tokens-and-window.ts'
import { callOtherEndpoint } from '../../gateway/send/call-other-endpoint.ts'
import { cancelOnDisconnect } from '../../gateway/send/cancel-on-disconnect.ts'
import {
  planConversationCompaction,
  planWithoutWindows,
} from '../../gateway/summaries/compact-conversation.ts'
import { requestSummary } from '../../gateway/summaries/request-summary.ts'
import { hasResponsesEndpoint } from '../../providers/has-responses-endpoint.ts'
import { routeModel } from '../../upstream/accounts-and-model-routing.ts'

export async function compactInput(
  body: JsonObject,
  caller: Caller,
  world: GatewayDependencies,
  exchange: HttpExchange,
): Promise<JsonObject> {
  const asked = { ...body, stream: false, store: false }
  const parsed = parseRequestWithOverrides(responsesDialect, asked)
  const clientRequest = await resolveItemReferences(parsed, caller, world)
  const { model } = clientRequest.params
  const targets = routeModel(world, model, clientRequest.dialect)
  const history = await loadHistoryById(clientRequest, caller, world)
  const client = cancelOnDisconnect(exchange)
  const whole = planWithoutWindows(
    planRequest(targets[0], { clientRequest, history }, world),
    world,
  )
  if (hasResponsesEndpoint(whole.account, 'compact')) {
    return callOtherEndpoint(
      '/responses/compact',
      UNDERSTOOD,
      encodePlannedRequest(whole),
      world,
      client.onCall,
    )
  }
  const plan = planConversationCompaction(whole, resolveContextWindow(whole))
  const { text, usage } = await requestSummary(plan, { targets, model, ...client }, world)
  const id = world.newTurnId()
  const compaction = createCompactionItem(itemId('compaction', id, plan.kept.length), text)
  return {
    id: responseId(id),
    object: 'response.compaction',
    created_at: Math.floor(world.nowMs() / 1000),
    output: [...plan.kept.map((message, at) => shown(message, id, at)), compaction.raw],
    usage: renderResponsesUsage(usage),
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
