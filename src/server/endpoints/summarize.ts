/**
 * `POST /v1/conversations/{id}/summarize`, and `POST /v1/context/summarize` for whoever keeps their
 * conversations themselves, with a request as they would send it: sums up at once what the policy does
 * not keep word for word. The answer says what the summary stands for, and what that saves.
 */
import type { Caller } from '../../core/client/caller.ts'
import type { JsonObject } from '../../core/json/json.ts'
import { asOneOf, asString, maybe, refuseOthers } from '../../dialects/checks/check-json-types.ts'
import { asIntegerIn } from '../../dialects/checks/check-value-limits.ts'
import { usageOf } from '../../dialects/responses/render/render-response-fields.ts'
import type { Exchange } from '../../gateway/http-exchange-interface.ts'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { remember } from '../../gateway/history/load-request-history.ts'
import { understand } from '../read-request.ts'
import { route } from '../../upstream/accounts-and-model-routing.ts'
import { planned, type Planned } from '../../gateway/prompt/plan-request.ts'
import { summariseNow } from '../../gateway/summaries/summarize-on-request.ts'
import { watchLeaving } from '../../gateway/send/cancel-on-disconnect.ts'
import { wantsSummaries } from '../../gateway/summaries/add-summary-to-history.ts'
import type { World } from '../../gateway/dependencies-interface.ts'
import { dialectOf } from './explain-request.ts'
import { ofConversation } from './plan-stored-conversation.ts'
import { shownSummary } from './render-summary.ts'

export async function summarizeConversation(
  id: string,
  body: JsonObject,
  caller: Caller,
  world: World,
  exchange: Exchange,
): Promise<JsonObject> {
  refuseOthers(body, FIELDS, null)
  const model = maybe(asString, body['model'], 'model')
  const focus = maybe(asString, body['focus'], 'focus')
  const keepTurns = maybe(asIntegerIn(1, 1_000_000), body['keep_turns'], 'keep_turns')
  const keepTokens = maybe(asIntegerIn(0, 1_000_000_000), body['keep_tokens'], 'keep_tokens')
  const summaries = {
    ...(model === null ? {} : { model }),
    ...(focus === null ? {} : { focus }),
    ...(keepTurns === null ? {} : { keepTurns, keepTokens: 0 }),
    ...(keepTokens === null ? {} : { keepTokens }),
  }
  const plan = await ofConversation(id, { model, summaries }, caller, world)
  if (plan === null) return NOTHING_SAID
  return summarized(plan, focus !== null, caller, world, exchange)
}

const FIELDS = ['model', 'focus', 'keep_turns', 'keep_tokens']

export async function summarizeContext(
  request: JsonObject,
  caller: Caller,
  world: World,
  exchange: Exchange,
  headers: Headers,
): Promise<JsonObject> {
  const { api, ...body } = request
  const dialect = dialectOf(maybe(asOneOf(['chat', 'responses']), api, 'api'), body)
  const given = understand(dialect, { json: body }, headers, world.settings)
  if (given.memory.store === false) throw notToBeKept()
  const [target] = route(world, given.params.model, dialect.name)
  const { inbound, history } = await remember(given, caller, world)
  const plan = planned(target, { inbound, history }, world)
  const isAnew = typeof inbound.wishes?.summaries?.focus === 'string'
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
  plan: Planned,
  isAnew: boolean,
  caller: Caller,
  world: World,
  exchange: Exchange,
): Promise<JsonObject> {
  const asked = { isAnew, ...watchLeaving(exchange) }
  const { made, turns, items } = await summariseNow(plan, caller, asked, world)
  if (made === null) return { ...NOTHING_SAID, kept: { turns, items } }
  const { summary, usage } = made
  const isTold = wantsSummaries(plan.policy.summaries)
  return {
    ...shownSummary(summary, isTold),
    created: usage !== null,
    kept: { turns: turns - summary.border.turns, items: items - summary.border.at },
    usage: usage === null ? null : usageOf(usage),
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
