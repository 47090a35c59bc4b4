/**
 * The whole journey of a request on one screen: what is remembered, what is sent, who answers, and
 * how the answer is given and kept. Each step has a room of its own.
 */
import type { Caller } from '../core/client/caller.ts'
import type { Failure } from '../core/stream-event.ts'
import { foldOutcome, type Outcome } from '../core/fold-answer-outcome.ts'
import type { Dialect } from '../core/ports/dialect-interface.ts'
import type { Inbound } from '../core/client-request.ts'
import type { Exchange } from './http-exchange-interface.ts'
import { GatewayError, type ErrorCode } from '../core/errors/gateway-error.ts'
import { holdFor, type Hold } from './history/lock-conversation.ts'
import { keepNeeded } from './history/touch-loaded-turns.ts'
import type { History } from './history/load-history-by-id.ts'
import { recorderFor, type BareTurn } from './record/choose-recorder.ts'
import { remember } from './history/load-request-history.ts'
import { guardedWhole } from './respond/event-filters/apply-event-filters.ts'
import { relay, type Receiving } from './respond/stream-answer-to-client.ts'
import {
  ourHeaders,
  renditionFor,
  renditionOfEvents,
  wholeFor,
  type Parts,
} from './respond/create-response-writer.ts'
import { route } from '../upstream/accounts-and-model-routing.ts'
import type { Answer } from './send/upstream-answer-types.ts'
import { askWithHouse } from './tools/send-with-tools.ts'
import { followed } from './after-answer/run-after-answer.ts'
import { guardsFor } from './respond/event-filters/select-event-filters.ts'
import { madeOf, originOf } from './record/answer-provenance.ts'
import { prepareFor, type Prepared } from './prompt/prepare-request.ts'
import { readAnswer } from './send/read-buffered-answer.ts'
import { readied } from './prompt/prepare-fitting-request.ts'
import { summariseAfter } from './summaries/summarize-after-answer.ts'
import { tellLayers } from './after-answer/update-memory-layers.ts'
import { ableTargets } from './prompt/reject-unsupported-features.ts'
import { watchLeaving } from './send/cancel-on-disconnect.ts'
import { withAdditions } from './prompt/additions/load-additions.ts'
import type { World } from './dependencies-interface.ts'

export async function answer(
  dialect: Dialect,
  given: Inbound,
  caller: Caller,
  world: World,
  exchange: Exchange,
  { turnId, createdAtMs }: Named = newlyNamed(world),
): Promise<Response> {
  const hold = await holdFor(given, caller, turnId, world)
  try {
    const { asked, inbound, history } = await remember(given, caller, world, hold)
    exchange.waitUntil(keepNeeded(history, caller, world))
    const asking = { inbound, history, caller, turnId, after: exchange.waitUntil }
    const whole = await withAdditions(asking, world)
    const turn = { id: turnId, createdAtMs, hold, history: whole.history, asked, inbound }
    return await answerFrom(turn, dialect, caller, world, exchange).finally(whole.letGo)
  } catch (error) {
    // However it ended, the conversation is free again.
    if (hold !== null) exchange.waitUntil(hold.letGo())
    throw error
  }
}

/** What an answer is known by, to its client and in the store. */
export interface Named {
  readonly turnId: string
  readonly createdAtMs: number
}

export function newlyNamed(world: World): Named {
  return { turnId: world.newTurnId(), createdAtMs: world.nowMs() }
}

/** What an answer begins with. */
interface Beginning {
  readonly id: string
  readonly createdAtMs: number
  readonly hold: Hold | null
  readonly history: History
  /** The request as its client means it, before anything was put into it. */
  readonly asked: Inbound
  /** The same with what was put into it. */
  readonly inbound: Inbound
}

async function answerFrom(
  beginning: Beginning,
  dialect: Dialect,
  caller: Caller,
  world: World,
  exchange: Exchange,
): Promise<Response> {
  const { id: turnId, createdAtMs, history, inbound } = beginning
  const { waitUntil } = exchange
  const served = route(world, inbound.params.model, inbound.dialect)
  const targets = ableTargets(served, (to) => prepareFor(to, { inbound, history }, world), world)
  const client = watchLeaving(exchange)
  const asking = { targets, caller, ...client }
  const { first, prepare, own } = await readied(inbound, history, turnId, asking, world)
  const asker = { caller, turnId, after: waitUntil }
  const asked = own ?? askWithHouse({ ...asking, prepare }, asker, world)
  const recorder = recorderFor(
    bareTurn(first, beginning, caller, world),
    beginning,
    world,
    waitUntil,
  )
  const fold = foldOutcome(recorder)
  let begun: Prepared | null = null
  let told: Response | GatewayError
  try {
    const [given, stored] = await Promise.all([asked, recorder.opened])
    const { prepared, sent = () => [prepared] } = given
    begun = prepared
    if (!stored && inbound.memory.store === true) throw notKept()
    const answered = { prepared, sent, caller, turnId, recorder }
    const parts = {
      dialect,
      prepared,
      guards: guardsFor(prepared, world.settings),
      answering: { inbound, turnId, createdAtMs, stored },
      fold,
      recorder: followed(
        answered,
        own === null ? [world.hooks.storeSentRequests, tellLayers, summariseAfter] : [],
        waitUntil,
        world,
      ),
      world,
      contextLine: await world.hooks.formatContextHeader(prepared, caller, world),
    }
    told = inbound.stream ? streamed(given, parts, exchange) : await whole(given, parts)
  } catch (error) {
    const ending = client.isGone() ? 'cancelled' : 'finished'
    client.cancel()
    // Whatever went wrong, a turn that was opened does not stay open.
    const failure = error instanceof GatewayError ? error.failure : null
    const outcome = { ...fold.now(), finish: null, failure }
    // Whoever did not begin to answer is told of where it was asked.
    if (begun !== null && ending === 'finished') logFailure(outcome, begun, world)
    waitUntil(recorder.settle(outcome, ending, madeOf(first, outcome)))
    throw error
  }
  if (told instanceof GatewayError) throw told
  return told
}

function streamed(asked: Answer, parts: Parts, exchange: Exchange): Response {
  const headers = { ...STREAM_HEADERS, ...ourHeaders(parts) }
  return exchange.stream(200, headers, (client) => {
    const receiving: Receiving = {
      client,
      settle(outcome, ending) {
        if (ending === 'finished') logFailure(outcome, asked.prepared, parts.world)
        const made = madeOf(asked.prepared, outcome, asked.sent?.())
        const settled = parts.recorder.settle(outcome, ending, made)
        exchange.waitUntil(settled)
        return settled
      },
      heartbeatMs: parts.world.settings.HEARTBEAT_SECONDS * 1000,
      log: parts.world.log,
    }
    if ('events' in asked) {
      const { events } = asked
      return relay({ ...receiving, source: events, rendition: renditionOfEvents(events, parts) })
    }
    relay({ ...receiving, source: asked.body, rendition: renditionFor(parts) })
  })
}

export const STREAM_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache',
  'x-accel-buffering': 'no',
}

/** One that has failed by its end is settled like any other, and then refused. */
async function whole(asked: Answer, parts: Parts): Promise<Response | GatewayError> {
  const { prepared } = asked
  const { guards, fold, recorder } = parts
  const { events, body: theirs } = await readAnswer(asked)
  for (const event of guardedWhole(events, guards)) fold.push(event)
  const said = fold.now()
  logFailure(said, prepared, parts.world)
  const outcome = await recorder.settle(said, 'finished', madeOf(prepared, said, asked.sent?.()))
  if (outcome.failure !== null) return refusalFor(outcome.failure, asked)
  const headers = { 'content-type': 'application/json', ...ourHeaders(parts) }
  return new Response(wholeFor(parts, outcome, theirs), { headers })
}

/** An upstream that fails in the middle of its answer. */
function logFailure({ failure }: Outcome, { account }: Prepared, { log }: World): void {
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
function refusalFor(failure: Failure, { refusal }: Answer): GatewayError {
  const later = refusal?.() ?? null
  return later?.failure === failure ? later : new GatewayError(failure)
}

function bareTurn(
  prepared: Prepared,
  { id, createdAtMs, asked: { dialect } }: Beginning,
  { tenant, user }: Caller,
  { replica }: World,
): BareTurn {
  return { id, tenant, user, owner: replica.id, origin: originOf(prepared), createdAtMs, dialect }
}

/** An id that cannot be kept is not promised. */
function notKept(): GatewayError {
  return new GatewayError(
    'store_unavailable',
    'The answer cannot be stored because the database does not answer. Try again in a moment, or send `store: false`.',
    { headers: { 'retry-after': '1' } },
  )
}
