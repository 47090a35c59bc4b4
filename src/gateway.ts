/**
 * The whole journey of a request on one screen: what is remembered, what is sent, who answers, and
 * how the answer is given and kept. Each step has a room of its own.
 */
import type { Origin } from './conversation/item.ts'
import { foldOutcome, type OutcomeFold } from './conversation/outcome.ts'
import { route, type Target } from './upstream/accounts.ts'
import { ask } from './upstream/attempts.ts'
import { clientOf } from './upstream/client-of.ts'
import type { Answering, Dialect, Inbound } from './dialect/dialect.ts'
import type { Exchange } from './edge/exchange.ts'
import { GatewayError } from './errors.ts'
import { guardsFor } from './upstream/guards.ts'
import { holdFor, type Hold } from './history/hold-conversation.ts'
import { keptOf } from './history/kept-of.ts'
import { loadHistory, type History } from './history/load-history.ts'
import { NOT_RECORDED, recordTurn, type Recorder } from './history/record-turn.ts'
import { resolveReferences } from './history/resolve-references.ts'
import type { Caller } from './keys.ts'
import { prepareFor, type Prepared } from './upstream/prepare.ts'
import { REFUSED } from './provider/degrade.ts'
import { readied } from './upstream/readied.ts'
import { guarded, guardedWhole, type Guard } from './stream/guarded.ts'
import { relay } from './stream/relay.ts'
import type { Rendition } from './stream/rendition.ts'
import { sameLanguage } from './stream/same-language.ts'
import { translated } from './stream/translated.ts'
import type { NewTurn } from './store/store.ts'
import type { Call, Reply } from './transport/transport.ts'
import { readJson } from './transport/read-body.ts'
import { ableTargets } from './upstream/unsupported.ts'
import type { World } from './world.ts'

export async function answer(
  dialect: Dialect,
  asked: Inbound,
  caller: Caller,
  world: World,
  exchange: Exchange,
  { turnId, createdAtMs }: Named = newlyNamed(world),
): Promise<Response> {
  const hold = await holdFor(asked, caller, turnId, world)
  try {
    const inbound = await resolveReferences(asked, caller, world)
    const history = await loadHistory(inbound, caller, world, hold)
    const turn = { id: turnId, createdAtMs, hold, history }
    return await answerFrom(turn, dialect, inbound, caller, world, exchange)
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
}

async function answerFrom(
  beginning: Beginning,
  dialect: Dialect,
  inbound: Inbound,
  caller: Caller,
  world: World,
  exchange: Exchange,
): Promise<Response> {
  const { id: turnId, createdAtMs, history } = beginning
  const served = route(world, inbound.params.model, inbound.dialect)
  const targets = ableTargets(served, (to) => prepareFor(to, inbound, history, world), world)
  const client = clientOf(exchange)
  const asking = { targets, onCall: client.onCall, isGone: client.isGone }
  const { first, prepareOther, own } = await readied(inbound, history, turnId, asking, world)
  const prepare = (target: Target) => (target === targets[0] ? first : prepareOther(target))
  const asked = own === null ? ask({ ...asking, prepare }, world) : own
  const recorder = recorderFor(first, beginning, createdAtMs, caller, world)
  const fold = foldOutcome(recorder.itemEnded)
  try {
    const [{ prepared, call, reply }, stored] = await Promise.all([asked, recorder.opened])
    if (!stored && inbound.memory.store === true) throw notKept(call)
    const answering: Answering = { inbound, turnId, createdAtMs, stored }
    const guards = guardsFor(prepared, world.settings)
    const parts = { dialect, prepared, guards, answering, fold, recorder, world }
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

interface Parts {
  readonly dialect: Dialect
  readonly prepared: Prepared
  readonly guards: readonly Guard[]
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

export const STREAM_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache',
  'x-accel-buffering': 'no',
}

/** The client's own language goes through as it is, but for what must be ours. */
function renditionFor(parts: Parts): Rendition {
  const { dialect, prepared, guards, answering, fold, world } = parts
  const decoder = prepared.provider.decode(prepared.account, prepared.prompt)
  if (speaks(parts)) {
    const retouch = dialect.retouch(answering)
    return sameLanguage({ decoder, fold, retouch, isKept: answering.stored })
  }
  const renderer = dialect.stream(answering)
  return translated({ decoder: guarded(decoder, guards), fold, renderer, now: world.nowMs })
}

async function whole(call: Call, reply: Reply, parts: Parts): Promise<Response> {
  const { dialect, prepared, guards, answering, fold, recorder, world } = parts
  const { bytes, json } = await readJson(call, reply)
  const { provider, account, prompt } = prepared
  const events = provider.decodeWhole(json, account, prompt)
  for (const event of guardedWhole(events, guards)) fold.push(event)
  const outcome = await recorder.settle(fold.now(), 'finished', originOf(prepared))
  if (outcome.failure !== null) throw new GatewayError(outcome.failure)
  const headers = { 'content-type': 'application/json', ...ourHeaders(parts) }
  if (!speaks(parts)) {
    const body = dialect.whole(outcome, answering, world.nowMs())
    return new Response(JSON.stringify(body), { headers })
  }
  const body = dialect.retouch(answering).whole(json)
  return new Response(body === json ? (bytes as BodyInit) : JSON.stringify(body), { headers })
}

/** Whether the answer comes in the client's own language, and may go on as it comes. */
function speaks({ prepared: { provider, account, prompt }, guards, dialect }: Parts): boolean {
  return guards.length === 0 && provider.speaks(prompt, account) === dialect.name
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
  { id, hold, history }: Beginning,
  createdAtMs: number,
  { tenant, user }: Caller,
  world: World,
): Recorder {
  const { memory, dialect, items } = prepared.inbound
  const { parent } = history
  const turn: NewTurn = {
    id,
    tenant,
    user,
    thread: parent?.thread ?? id,
    parent: parent?.id ?? null,
    depth: parent === null ? 0 : parent.depth + 1,
    conversation: memory.conversationId,
    background: false,
    owner: world.replica.id,
    dialect,
    origin: originOf(prepared),
    createdAtMs,
    ...keptOf(prepared.inbound),
  }
  if (memory.store ?? memory.storeByDefault) return recordTurn(turn, world, { parent, hold })
  return world.aside?.(turn, [...history.items, ...items]) ?? NOT_RECORDED
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
