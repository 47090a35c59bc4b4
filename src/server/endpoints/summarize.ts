/**
 * `POST /v1/conversations/{id}/summarize` for a stored conversation, and `POST
 * /v1/context/summarize` for one that the client sends as a Chat Completions or Responses request.
 * Both immediately summarize all items that are older than the policy's `keepTurns` and
 * `keepTokens`, and return the covered turns and the saved tokens.
 */
import type { Caller } from '../../core/client/caller.ts'
import type { JsonObject } from '../../core/json/json.ts'
import {
  asString,
  readOptional,
  rejectUnknownFields,
} from '../../dialects/checks/check-json-types.ts'
import { asIntegerBetween } from '../../dialects/checks/check-value-limits.ts'
import { renderResponsesUsage } from '../../dialects/responses/render/render-response-fields.ts'
import type { HttpExchange } from '../../gateway/http-exchange-interface.ts'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { loadRequestHistory } from '../../gateway/history/load-request-history.ts'
import { parseClientRequest } from '../parse-client-request.ts'
import { routeModel } from '../../upstream/accounts-and-model-routing.ts'
import { planRequest } from '../../gateway/prompt/plan-request.ts'
import type { PlannedRequest } from '../../gateway/prompt/planned-request.ts'
import { summarizeOnRequest } from '../../gateway/summaries/summarize-on-request.ts'
import { cancelOnDisconnect } from '../../gateway/send/cancel-on-disconnect.ts'
import { areSummariesEnabled } from '../../gateway/summaries/add-summary-to-history.ts'
import type { GatewayDependencies, Ports } from '../../gateway/dependencies-interface.ts'
import type { AuthenticatedRequest } from '../authenticate-request.ts'
import { selectDialectAndBody } from './explain-request.ts'
import { planStoredConversation } from './plan-stored-conversation.ts'
import { renderSummary } from './list-summaries.ts'

export async function summarizeConversation(
  request: AuthenticatedRequest,
  ports: GatewayDependencies,
): Promise<JsonObject> {
  const body = await request.readOptionalJsonObject()
  rejectUnknownFields(body, FIELDS, null)
  const model = readOptional(asString, body['model'], 'model')
  const focus = readOptional(asString, body['focus'], 'focus')
  const keepTurns = readOptional(asIntegerBetween(1, 1_000_000), body['keep_turns'], 'keep_turns')
  const keepTokens = readOptional(
    asIntegerBetween(0, 1_000_000_000),
    body['keep_tokens'],
    'keep_tokens',
  )
  const summaries = {
    ...(model === null ? {} : { model }),
    ...(focus === null ? {} : { focus }),
    ...(keepTurns === null ? {} : { keepTurns, keepTokens: 0 }),
    ...(keepTokens === null ? {} : { keepTokens }),
  }
  const { caller, exchange } = request
  const id = request.getPathParameter('id')
  const plan = await planStoredConversation(id, { model, summaries }, caller, ports)
  if (plan === null) return NO_SUMMARY
  return createSummary(plan, { replacesExisting: focus !== null, caller, exchange }, ports)
}

const FIELDS = ['model', 'focus', 'keep_turns', 'keep_tokens']

export async function summarizeContext(
  { caller, exchange, headers, readJsonObject }: AuthenticatedRequest,
  ports: GatewayDependencies,
): Promise<JsonObject> {
  const { dialect, body } = selectDialectAndBody(await readJsonObject())
  const parsed = parseClientRequest(dialect, { json: body }, headers, ports.settings)
  if (parsed.storage.store === false) throw createNotStoredError()
  const [target] = routeModel(ports, parsed.params.model, parsed)
  const { clientRequest, history } = await loadRequestHistory(parsed, caller, ports)
  const plan = planRequest(target, { clientRequest, history }, ports)
  const replacesExisting = typeof clientRequest.policyOverrides?.summaries?.focus === 'string'
  return createSummary(plan, { replacesExisting, caller, exchange }, ports)
}

function createNotStoredError(): GatewayError {
  const message =
    'A summary is stored for later requests, so it cannot be made with `store: false`.'
  return new GatewayError('invalid_value', message, { param: 'store' })
}

interface SummaryOptions {
  /**
   * True if a new summary is written even if a stored one covers the same turns, for example
   * because the request has a `focus`.
   */
  readonly replacesExisting: boolean
  readonly caller: Caller
  readonly exchange: HttpExchange
}

async function createSummary(
  plan: PlannedRequest,
  { replacesExisting, caller, exchange }: SummaryOptions,
  ports: Ports<
    | 'accounts'
    | 'facts'
    | 'log'
    | 'memoryLayers'
    | 'newTurnId'
    | 'nowMs'
    | 'settings'
    | 'summaries'
    | 'transport'
  >,
): Promise<JsonObject> {
  const options = { replacesExisting, ...cancelOnDisconnect(exchange) }
  const requested = await summarizeOnRequest(plan, caller, options, ports)
  const { result, conversationRounds: turns, conversationItems: items } = requested
  if (result === null) return { ...NO_SUMMARY, kept: { turns, items } }
  const { summary, usage } = result
  const isActive = areSummariesEnabled(plan.policy.summaries)
  return {
    ...renderSummary(summary, isActive),
    created: usage !== null,
    kept: { turns: turns - summary.prefix.rounds, items: items - summary.prefix.endIndex },
    usage: usage === null ? null : renderResponsesUsage(usage),
  }
}

/** The result if no turn is old enough to be summarized, or the old turns have too few tokens. */
const NO_SUMMARY: JsonObject = {
  object: 'context.summary',
  id: null,
  active: false,
  text: null,
  facts: [],
  covered: { turns: 0, items: 0 },
  kept: { turns: 0, items: 0 },
  tokens: { before: 0, after: 0 },
  created: false,
  usage: null,
}
