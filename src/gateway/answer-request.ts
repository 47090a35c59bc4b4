/**
 * The whole journey of a request on one screen: what is remembered, what is sent, who answers, and
 * how the answer is given and kept. Each step has a room of its own.
 */
import type { Caller } from '../core/client/caller.ts'
import type { Failure } from '../core/stream-event.ts'
import { foldAnswerOutcome, type Outcome } from '../core/fold-answer-outcome.ts'
import type { Dialect } from '../core/ports/dialect-interface.ts'
import type { ClientRequest } from '../core/client-request.ts'
import type { HttpExchange } from './http-exchange-interface.ts'
import { GatewayError, type ErrorCode } from '../core/errors/gateway-error.ts'
import { lockRequestConversation, type ConversationLock } from './history/lock-conversation.ts'
import { touchLoadedTurns } from './history/touch-loaded-turns.ts'
import type { LoadedHistory } from './history/load-history-by-id.ts'
import { chooseRecorder, type TurnIdentity } from './record/choose-recorder.ts'
import { loadRequestHistory } from './history/load-request-history.ts'
import { filterEventList } from './respond/event-filters/apply-event-filters.ts'
import { streamAnswerToClient, type AnswerStreamTarget } from './respond/stream-answer-to-client.ts'
import {
  buildResponseHeaders,
  createResponseWriter,
  createEventResponseWriter,
  renderResponseBody,
  type ResponseParts,
} from './respond/create-response-writer.ts'
import { routeModel } from '../upstream/accounts-and-model-routing.ts'
import type { UpstreamAnswer } from './send/upstream-answer-types.ts'
import { sendWithTools } from './tools/send-with-tools.ts'
import { attachAfterAnswerTasks } from './after-answer/run-after-answer.ts'
import { selectEventFilters } from './respond/event-filters/select-event-filters.ts'
import { describeAnswerProvenance, resolveAnswerOrigin } from './record/answer-provenance.ts'
import { prepareRequest, type PreparedRequest } from './prompt/prepare-request.ts'
import { readBufferedAnswer } from './send/read-buffered-answer.ts'
import { prepareFittingRequest } from './prompt/prepare-fitting-request.ts'
import { summarizeAfterAnswer } from './summaries/summarize-after-answer.ts'
import { updateMemoryLayers } from './after-answer/update-memory-layers.ts'
import { filterCapableTargets } from './prompt/reject-unsupported-features.ts'
import { cancelOnDisconnect } from './send/cancel-on-disconnect.ts'
import { loadAdditions } from './prompt/additions/load-additions.ts'
import type { GatewayDependencies } from './dependencies-interface.ts'

export async function answerRequest(
  dialect: Dialect,
  given: ClientRequest,
  caller: Caller,
  world: GatewayDependencies,
  exchange: HttpExchange,
  { turnId, createdAtMs }: AnswerIdentity = createAnswerIdentity(world),
): Promise<Response> {
  const hold = await lockRequestConversation(given, caller, turnId, world)
  try {
    const { originalRequest, clientRequest, history } = await loadRequestHistory(
      given,
      caller,
      world,
      hold,
    )
    exchange.waitUntil(touchLoadedTurns(history, caller, world))
    const asking = { clientRequest, history, caller, turnId, waitUntil: exchange.waitUntil }
    const whole = await loadAdditions(asking, world)
    const turn = {
      id: turnId,
      createdAtMs,
      hold,
      history: whole.history,
      originalRequest,
      clientRequest,
    }
    return await answerFrom(turn, dialect, caller, world, exchange).finally(whole.releaseMedia)
  } catch (error) {
    // However it ended, the conversation is free again.
    if (hold !== null) exchange.waitUntil(hold.release())
    throw error
  }
}

/** What an answer is known by, to its client and in the store. */
export interface AnswerIdentity {
  readonly turnId: string
  readonly createdAtMs: number
}

export function createAnswerIdentity(world: GatewayDependencies): AnswerIdentity {
  return { turnId: world.newTurnId(), createdAtMs: world.nowMs() }
}

/** What an answer begins with. */
interface Beginning {
  readonly id: string
  readonly createdAtMs: number
  readonly hold: ConversationLock | null
  readonly history: LoadedHistory
  /** The request as its client means it, before anything was put into it. */
  readonly originalRequest: ClientRequest
  /** The same with what was put into it. */
  readonly clientRequest: ClientRequest
}

async function answerFrom(
  beginning: Beginning,
  dialect: Dialect,
  caller: Caller,
  world: GatewayDependencies,
  exchange: HttpExchange,
): Promise<Response> {
  const { id: turnId, createdAtMs, history, clientRequest } = beginning
  const { waitUntil } = exchange
  const served = routeModel(world, clientRequest.params.model, clientRequest.dialect)
  const targets = filterCapableTargets(
    served,
    (to) => prepareRequest(to, { clientRequest, history }, world),
    world,
  )
  const client = cancelOnDisconnect(exchange)
  const asking = { targets, caller, ...client }
  const { first, prepare, localAnswer } = await prepareFittingRequest(
    clientRequest,
    history,
    turnId,
    asking,
    world,
  )
  const asker = { caller, turnId, waitUntil }
  const asked = localAnswer ?? sendWithTools({ ...asking, prepare }, asker, world)
  const recorder = chooseRecorder(
    bareTurn(first, beginning, caller, world),
    beginning,
    world,
    waitUntil,
  )
  const fold = foldAnswerOutcome(recorder)
  let begun: PreparedRequest | null = null
  let told: Response | GatewayError
  try {
    const [given, stored] = await Promise.all([asked, recorder.opened])
    const { prepared, sent = () => [prepared] } = given
    begun = prepared
    if (!stored && clientRequest.storage.store === true) throw notKept()
    const answered = { prepared, sent, caller, turnId, recorder }
    const parts = {
      dialect,
      prepared,
      eventFilters: selectEventFilters(prepared, world.settings),
      answerContext: { clientRequest, turnId, createdAtMs, stored },
      fold,
      recorder: attachAfterAnswerTasks(
        answered,
        localAnswer === null
          ? [world.hooks.storeSentRequests, updateMemoryLayers, summarizeAfterAnswer]
          : [],
        waitUntil,
        world,
      ),
      world,
      contextHeader: await world.hooks.formatContextHeader(prepared, caller, world),
    }
    told = clientRequest.stream ? streamed(given, parts, exchange) : await whole(given, parts)
  } catch (error) {
    const ending = client.isDisconnected() ? 'cancelled' : 'finished'
    client.cancel()
    // Whatever went wrong, a turn that was opened does not stay open.
    const failure = error instanceof GatewayError ? error.failure : null
    const outcome = { ...fold.currentOutcome(), finish: null, failure }
    // Whoever did not begin to answer is told of where it was asked.
    if (begun !== null && ending === 'finished') logFailure(outcome, begun, world)
    waitUntil(recorder.settle(outcome, ending, describeAnswerProvenance(first, outcome)))
    throw error
  }
  if (told instanceof GatewayError) throw told
  return told
}

function streamed(asked: UpstreamAnswer, parts: ResponseParts, exchange: HttpExchange): Response {
  const headers = { ...SSE_HEADERS, ...buildResponseHeaders(parts) }
  return exchange.startStream(200, headers, (client) => {
    const receiving: AnswerStreamTarget = {
      client,
      settle(outcome, ending) {
        if (ending === 'finished') logFailure(outcome, asked.prepared, parts.world)
        const made = describeAnswerProvenance(asked.prepared, outcome, asked.sent?.())
        const settled = parts.recorder.settle(outcome, ending, made)
        exchange.waitUntil(settled)
        return settled
      },
      heartbeatMs: parts.world.settings.HEARTBEAT_SECONDS * 1000,
      log: parts.world.log,
    }
    if ('events' in asked) {
      const { events } = asked
      return streamAnswerToClient({
        ...receiving,
        source: events,
        writer: createEventResponseWriter(events, parts),
      })
    }
    streamAnswerToClient({
      ...receiving,
      source: asked.body,
      writer: createResponseWriter(parts),
    })
  })
}

export const SSE_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache',
  'x-accel-buffering': 'no',
}

/** One that has failed by its end is settled like any other, and then refused. */
async function whole(
  asked: UpstreamAnswer,
  parts: ResponseParts,
): Promise<Response | GatewayError> {
  const { prepared } = asked
  const { eventFilters, fold, recorder } = parts
  const { events, body: theirs } = await readBufferedAnswer(asked)
  for (const event of filterEventList(events, eventFilters)) fold.push(event)
  const said = fold.currentOutcome()
  logFailure(said, prepared, parts.world)
  const outcome = await recorder.settle(
    said,
    'finished',
    describeAnswerProvenance(prepared, said, asked.sent?.()),
  )
  if (outcome.failure !== null) return refusalFor(outcome.failure, asked)
  const headers = { 'content-type': 'application/json', ...buildResponseHeaders(parts) }
  return new Response(renderResponseBody(parts, outcome, theirs), { headers })
}

/** An upstream that fails in the middle of its answer. */
function logFailure(
  { failure }: Outcome,
  { account }: PreparedRequest,
  { log }: GatewayDependencies,
): void {
  if (failure === null || NOT_THEIRS.has(failure.code)) return
  const { code, message: why } = failure
  log('warn', 'answer-failed', { upstream: account.name, code, why })
}

const NOT_THEIRS: ReadonlySet<string | null> = new Set<ErrorCode>([
  'gateway_stopped',
  'internal_error',
  'store_unavailable',
])

/** Who was refused in a later round is told when to try again, as in the first. */
function refusalFor(failure: Failure, { refusal }: UpstreamAnswer): GatewayError {
  const later = refusal?.() ?? null
  return later?.failure === failure ? later : new GatewayError(failure)
}

function bareTurn(
  prepared: PreparedRequest,
  { id, createdAtMs, originalRequest: { dialect } }: Beginning,
  { tenant, user }: Caller,
  { replica }: GatewayDependencies,
): TurnIdentity {
  return {
    id,
    tenant,
    user,
    owner: replica.id,
    origin: resolveAnswerOrigin(prepared),
    createdAtMs,
    dialect,
  }
}

/** An id that cannot be kept is not promised. */
function notKept(): GatewayError {
  return new GatewayError(
    'store_unavailable',
    'The answer cannot be stored because the database does not answer. Try again in a moment, or send `store: false`.',
    { headers: { 'retry-after': '1' } },
  )
}
