/**
 * `POST /v1/responses/compact`: replaces a conversation by the user's messages and one compaction
 * item. The upstream creates the compaction if it has a compaction endpoint; otherwise the model
 * writes a summary. Nothing is stored, so the returned id cannot be used as `previous_response_id`.
 */
import { createCompactionItem } from '../../core/items/compaction-item.ts'
import { itemId, responseId } from '../../core/turn-derived-ids.ts'
import type { Message } from '../../core/item.ts'
import type { JsonObject } from '../../core/json/json.ts'
import { parseRequestAndBackstoryFields } from '../../dialects/context-policy/parse-request-and-backstory-fields.ts'
import { renderResponsesUsage } from '../../dialects/responses/render/render-response-fields.ts'
import { responsesDialect } from '../../dialects/responses/responses-dialect.ts'
import { loadHistoryById } from '../../gateway/history/load-history-by-id.ts'
import { resolveItemReferences } from '../../gateway/history/resolve-item-references.ts'
import { hasCompactOrCountEndpoint } from '../../providers/has-compact-or-count-endpoint.ts'
import { routeModel } from '../../upstream/accounts-and-model-routing.ts'
import { callCompactOrCountEndpoint } from '../../gateway/send/call-compact-or-count-endpoint.ts'
import { resolveRequestLimit } from '../../gateway/prompt/size/estimate-tokens-and-window.ts'
import {
  planConversationCompaction,
  planWithoutWindows,
} from '../../gateway/summaries/compact-conversation-if-due.ts'
import { encodePlannedRequest } from '../../gateway/prompt/encode-planned-request.ts'
import { planRequest } from '../../gateway/prompt/plan-request.ts'
import { requestSummary } from '../../gateway/summaries/request-summary.ts'
import { cancelOnDisconnect } from '../../gateway/send/cancel-on-disconnect.ts'
import type { AuthenticatedRequest } from '../authenticate-request.ts'
import type { Ports } from '../../gateway/dependencies-interface.ts'

export async function compactInput(
  { caller, exchange, readJsonObject }: AuthenticatedRequest,
  ports: Ports<
    | 'accounts'
    | 'archive'
    | 'conversations'
    | 'log'
    | 'memoryLayers'
    | 'newTurnId'
    | 'nowMs'
    | 'settings'
    | 'store'
    | 'transport'
  >,
): Promise<JsonObject> {
  const body = { ...(await readJsonObject()), stream: false, store: false }
  const parsed = parseRequestAndBackstoryFields(responsesDialect, body)
  const clientRequest = await resolveItemReferences(parsed, caller, ports)
  const { model } = clientRequest.params
  const targets = routeModel(ports, model, clientRequest)
  const history = await loadHistoryById(clientRequest, caller, ports)
  const client = cancelOnDisconnect(exchange)
  const planned = planRequest(targets[0], { clientRequest, history }, ports)
  const complete = planWithoutWindows(planned, ports)
  if (hasCompactOrCountEndpoint(complete.account, 'compact')) {
    const request = encodePlannedRequest(complete)
    return callCompactOrCountEndpoint(
      '/responses/compact',
      COMPACT_FIELDS,
      request,
      ports,
      client.onCall,
    )
  }
  const limit = resolveRequestLimit(complete)?.tokens ?? null
  const plan = planConversationCompaction(complete, limit)
  const { text, usage } = await requestSummary(plan, { targets, model, ...client }, ports)
  const id = ports.newTurnId()
  const compaction = createCompactionItem(itemId('compaction', id, plan.userMessages.length), text)
  return {
    id: responseId(id),
    object: 'response.compaction',
    created_at: Math.floor(ports.nowMs() / 1000),
    output: [
      ...plan.userMessages.map((message, index) => renderMessage(message, id, index)),
      compaction.raw,
    ],
    usage: renderResponsesUsage(usage),
  }
}

/** The fields that the upstream's compaction endpoint accepts; it rejects others. */
const COMPACT_FIELDS = [
  'model',
  'input',
  'instructions',
  'prompt_cache_key',
  'prompt_cache_options',
  'prompt_cache_retention',
  'service_tier',
]

function renderMessage(message: Message, turnId: string, index: number): JsonObject {
  const { native: _native, origin: _origin, ...fields } = message
  const id = fields.id ?? itemId('message', turnId, index)
  return { ...(fields as unknown as JsonObject), id, status: 'completed' }
}
