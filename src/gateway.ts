/**
 * The whole journey of a request on one screen: what is remembered, what is sent, who answers, and
 * how the answer is given and kept. Each step has a room of its own.
 */
import type { Origin } from './conversation/item.ts'
import { foldOutcome, type OutcomeFold } from './conversation/outcome.ts'
import { route } from './accounts.ts'
import { ask } from './attempts.ts'
import type { Answering, Dialect, Inbound } from './dialect/dialect.ts'
import type { Exchange } from './edge/exchange.ts'
import { GatewayError } from './errors.ts'
import { loadHistory } from './history/load-history.ts'
import { NOT_RECORDED, recordTurn, type Recorder } from './history/record-turn.ts'
import type { Caller } from './keys.ts'
import { prepareFor, type Prepared } from './prepare.ts'
import { REFUSED } from './provider/degrade.ts'
import { relay } from './stream/relay.ts'
import type { Rendition } from './stream/rendition.ts'
import { sameLanguage } from './stream/same-language.ts'
import { translated } from './stream/translated.ts'
import type { Call, Reply } from './transport/transport.ts'
import { readJson } from './transport/read-body.ts'
import type { World } from './world.ts'

export async function answer(
  dialect: Dialect,
  inbound: Inbound,
  caller: Caller,
  world: World,
  exchange: Exchange,
): Promise<Response> {
  const targets = route(world, inbound.params.model, inbound.dialect)
  const history = await loadHistory(inbound, caller, world.store)
  const first = prepareFor(targets[0], inbound, history, world)
  const turnId = world.newTurnId()
  const createdAtMs = world.nowMs()
  const client = clientOf(exchange)
  const asked = ask(
    {
      targets,
      prepare: (target) =>
        target === targets[0] ? first : prepareFor(target, inbound, history, world),
      onCall: client.onCall,
      isGone: client.isGone,
    },
    world,
  )
  const recorder = recorderFor(first, turnId, createdAtMs, caller, world)
  const fold = foldOutcome(recorder.itemEnded)
  try {
    const [{ prepared, call, reply }, stored] = await Promise.all([asked, recorder.opened])
    if (!stored && inbound.memory.store === true) throw notKept(call)
    const answering: Answering = { inbound, turnId, createdAtMs, stored }
    const parts = { dialect, prepared, answering, fold, recorder, world }
    return inbound.stream ? streamed(call, reply, parts, exchange) : await whole(call, reply, parts)
  } catch (error) {
    // Whatever went wrong, a turn that was opened does not stay open.
    const failure = error instanceof GatewayError ? error.failure : null
    const ending = client.isGone() ? 'cancelled' : 'finished'
    const outcome = { ...fold.now(), finish: null, failure }
    exchange.waitUntil(recorder.settle(outcome, ending, originOf(first)))
    throw error
  }
}

/** A client that leaves takes back the call that is under way. */
function clientOf(exchange: Exchange) {
  let isGone = false
  let newest: Call | null = null
  exchange.onGone(() => {
    isGone = true
    newest?.cancel()
  })
  return {
    isGone: () => isGone,
    onCall: (call: Call): void => {
      newest = call
      if (isGone) call.cancel()
    },
  }
}

interface Parts {
  readonly dialect: Dialect
  readonly prepared: Prepared
  readonly answering: Answering
  readonly fold: OutcomeFold
  readonly recorder: Recorder
  readonly world: World
}

function streamed(call: Call, reply: Reply, parts: Parts, exchange: Exchange): Response {
  const headers = { ...STREAM_HEADERS, ...ourHeaders(parts) }
  return exchange.stream(200, headers, (client) => {
    relay({
      call,
      reply,
      client,
      rendition: renditionFor(parts),
      settle(outcome, ending) {
        const settled = parts.recorder.settle(outcome, ending, originOf(parts.prepared))
        exchange.waitUntil(settled)
        return settled
      },
      heartbeatMs: parts.world.settings.HEARTBEAT_SECONDS * 1000,
    })
  })
}

const STREAM_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache',
  'x-accel-buffering': 'no',
}

/** The client's own language goes through as it is, but for what must be ours. */
function renditionFor({ dialect, prepared, answering, fold, world }: Parts): Rendition {
  const decoder = prepared.provider.decode(prepared.account, prepared.prompt)
  return speaks(prepared, dialect)
    ? sameLanguage({
        decoder,
        fold,
        retouch: dialect.retouch(answering),
        isKept: answering.stored,
      })
    : translated({ decoder, fold, renderer: dialect.stream(answering), now: world.nowMs })
}

async function whole(call: Call, reply: Reply, parts: Parts): Promise<Response> {
  const { dialect, prepared, answering, fold, recorder, world } = parts
  const { bytes, json } = await readJson(call, reply)
  const { provider, account, prompt } = prepared
  for (const event of provider.decodeWhole(json, account, prompt)) fold.push(event)
  const outcome = await recorder.settle(fold.now(), 'finished', originOf(prepared))
  if (outcome.failure !== null) throw new GatewayError(outcome.failure)
  const headers = { 'content-type': 'application/json', ...ourHeaders(parts) }
  if (!speaks(prepared, dialect)) {
    const body = dialect.whole(outcome, answering, world.nowMs())
    return new Response(JSON.stringify(body), { headers })
  }
  const body = dialect.retouch(answering).whole(json)
  return new Response(body === json ? (bytes as BodyInit) : JSON.stringify(body), { headers })
}

/** Whether the answer comes in the client's own language. */
function speaks({ provider, account, prompt }: Prepared, dialect: Dialect): boolean {
  return provider.speaks(prompt, account) === dialect.name
}

/** What was left out because an upstream refused it is told, not only noted. */
function ourHeaders({ answering, prepared }: Parts): Readonly<Record<string, string>> {
  const headers = { 'x-request-id': `req_${answering.turnId}` }
  const refused = prepared.notes.filter(({ why }) => why === REFUSED)
  if (refused.length === 0) return headers
  return { ...headers, 'x-backstory-dropped': refused.map(({ field }) => field).join(', ') }
}

function recorderFor(
  prepared: Prepared,
  id: string,
  createdAtMs: number,
  { tenant, user }: Caller,
  world: World,
): Recorder {
  const { inbound, history } = prepared
  const { memory, dialect, items, body } = inbound
  if (!(memory.store ?? memory.storeByDefault)) return NOT_RECORDED
  const { input: _input, messages: _messages, ...request } = body
  return recordTurn(
    {
      id,
      tenant,
      user,
      thread: history.parent?.thread ?? id,
      parent: history.parent?.id ?? null,
      depth: history.parent === null ? 0 : history.parent.depth + 1,
      conversation: null,
      background: false,
      owner: null,
      dialect,
      origin: originOf(prepared),
      createdAtMs,
      request,
      input: items,
    },
    world,
  )
}

function originOf({ account, prompt }: Prepared): Origin {
  const { wire, name } = account
  return { wire, account: name, model: prompt.params.model, prefixHash: null }
}

/** An id that cannot be kept is not promised. */
function notKept(call: Call): GatewayError {
  call.cancel()
  return new GatewayError(
    'store_unavailable',
    'The answer cannot be stored because the database does not answer. Try again in a moment, or send `store: false`.',
    { headers: { 'retry-after': '1' } },
  )
}
