/**
 * `POST /v1/conversations/{id}/summarize`, and `POST /v1/context/summarize` for whoever keeps their
 * conversations themselves, with a request as they would send it: sums up at once what the policy does
 * not keep word for word. The answer says what the summary stands for, and what that saves.
 */
import type { Caller } from '../../core/client/caller.ts'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import type { JsonObject } from '../../core/json/json.ts'
import {
  asOneOf,
  asString,
  readOptional,
  rejectUnknownFields,
} from '../../dialects/checks/check-json-types.ts'
import { asIntegerBetween } from '../../dialects/checks/check-value-limits.ts'
import { renderResponsesUsage } from '../../dialects/responses/render/render-response-fields.ts'
import type { GatewayDependencies } from '../../gateway/dependencies-interface.ts'
import { loadRequestHistory } from '../../gateway/history/load-request-history.ts'
import type { HttpExchange } from '../../gateway/http-exchange-interface.ts'
import { planRequest } from '../../gateway/prompt/plan-request.ts'
import type { PlannedRequest } from '../../gateway/prompt/planned-request.ts'
import { cancelOnDisconnect } from '../../gateway/send/cancel-on-disconnect.ts'
import { areSummariesEnabled } from '../../gateway/summaries/add-summary-to-history.ts'
import { summarizeOnRequest } from '../../gateway/summaries/summarize-on-request.ts'
import { routeModel } from '../../upstream/accounts-and-model-routing.ts'
import { readRequest } from '../read-request.ts'
import { detectDialect } from './explain-request.ts'
import { planStoredConversation } from './plan-stored-conversation.ts'
import { renderSummary } from './render-summary.ts'

export async function summarizeConversation(
  id: string,
  body: JsonObject,
  caller: Caller,
  world: GatewayDependencies,
  exchange: HttpExchange,
): Promise<JsonObject> {
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
  const plan = await planStoredConversation(id, { model, summaries }, caller, world)
  if (plan === null) return NOTHING_SAID
  return summarized(plan, focus !== null, caller, world, exchange)
}

const FIELDS = ['model', 'focus', 'keep_turns', 'keep_tokens']

export async function summarizeContext(
  request: JsonObject,
  caller: Caller,
  world: GatewayDependencies,
  exchange: HttpExchange,
  headers: Headers,
): Promise<JsonObject> {
  const { api, ...body } = request
  const dialect = detectDialect(readOptional(asOneOf(['chat', 'responses']), api, 'api'), body)
  const given = readRequest(dialect, { json: body }, headers, world.settings)
  if (given.storage.store === false) throw notToBeKept()
  const [target] = routeModel(world, given.params.model, dialect.name)
  const { clientRequest, history } = await loadRequestHistory(given, caller, world)
  const plan = planRequest(target, { clientRequest, history }, world)
  const isAnew = typeof clientRequest.policyOverrides?.summaries?.focus === 'string'
  return summarized(plan, isAnew, caller, world, exchange)
}

function notToBeKept(): GatewayError {
  return new GatewayError(
    'invalid_value',
    'A summary is kept, so that later requests are told it: it cannot be made with `store: false`.',
    { param: 'store' },
  )
}

async function summarized(
  plan: PlannedRequest,
  isAnew: boolean,
  caller: Caller,
  world: GatewayDependencies,
  exchange: HttpExchange,
): Promise<JsonObject> {
  const asked = { isAnew, ...cancelOnDisconnect(exchange) }
  const { made, turns, items } = await summarizeOnRequest(plan, caller, asked, world)
  if (made === null) return { ...NOTHING_SAID, kept: { turns, items } }
  const { summary, usage } = made
  const isTold = areSummariesEnabled(plan.policy.summaries)
  return {
    ...renderSummary(summary, isTold),
    created: usage !== null,
    kept: { turns: turns - summary.border.turns, items: items - summary.border.at },
    usage: usage === null ? null : renderResponsesUsage(usage),
  }
}

/** There are not more turns than are kept, or too few tokens. */
const NOTHING_SAID: JsonObject = {
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
