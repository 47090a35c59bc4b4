/**
 * The whole journey of a request on one screen. `prepare` finds out what will be sent, and by itself
 * is a dry run; `answer` sends it and gives the client what comes back.
 */
import type { Item } from './conversation/item.ts'
import type { Note } from './conversation/note.ts'
import { foldOutcome, type OutcomeFold } from './conversation/outcome.ts'
import type { Prompt } from './conversation/prompt.ts'
import { route } from './accounts.ts'
import type { Answering, Dialect, Inbound } from './dialect/dialect.ts'
import type { Exchange } from './edge/exchange.ts'
import { GatewayError } from './errors.ts'
import { loadHistory, type History } from './history/load-history.ts'
import { NOT_RECORDED, recordTurn, type Recorder } from './history/record-turn.ts'
import type { Caller } from './keys.ts'
import type { Account, Encoded, Provider } from './provider/provider.ts'
import { PROVIDERS } from './provider/providers.ts'
import { planFor, rebuild, type Policy } from './rebuild/plan.ts'
import type { Settings } from './settings.ts'
import { relay } from './stream/relay.ts'
import type { Rendition } from './stream/rendition.ts'
import { sameLanguage } from './stream/same-language.ts'
import { translated } from './stream/translated.ts'
import type { Call, Reply, UpstreamRequest } from './transport/transport.ts'
import { readJson, refusalOf } from './transport/read-body.ts'
import type { World } from './world.ts'

export interface Prepared {
  readonly inbound: Inbound
  readonly account: Account
  readonly provider: Provider
  readonly history: History
  /** Everything there is, before anything is left out. */
  readonly items: readonly Item[]
  readonly prompt: Prompt
  readonly encoded: Encoded
  readonly notes: readonly Note[]
}

export async function prepare(inbound: Inbound, caller: Caller, world: World): Promise<Prepared> {
  const account = route(world.accounts, inbound.params.model, inbound.dialect)
  const provider = PROVIDERS[account.wire]
  const history = await loadHistory(inbound, caller, world.store)
  // The very same list, if there is nothing to add: that is how a wire knows that nothing changed.
  const items = history.items.length > 0 ? [...history.items, ...inbound.items] : inbound.items
  const rebuilt = rebuild(items, planFor(policyOf(world.settings)))
  const { params, stream, dialect, body, bytes } = inbound
  const source = { dialect, body, bytes, items: inbound.items, params }
  const prompt = { items: rebuilt.items, params, stream, source }
  const encoded = provider.encode(prompt, account)
  const notes = [...rebuilt.notes, ...encoded.notes]
  return { inbound, account, provider, history, items, prompt, encoded, notes }
}

function policyOf(settings: Settings): Policy {
  return {
    historyMaxItems: settings.HISTORY_MAX_ITEMS,
    toolOutputRetentionRounds: settings.TOOL_OUTPUT_RETENTION_TURNS,
  }
}

export async function answer(
  dialect: Dialect,
  inbound: Inbound,
  caller: Caller,
  world: World,
  exchange: Exchange,
): Promise<Response> {
  const prepared = await prepare(inbound, caller, world)
  const turnId = world.newTurnId()
  const createdAtMs = world.nowMs()
  const call = world.transport(upstreamRequest(prepared))
  const recorder = recorderFor(prepared, turnId, createdAtMs, caller, world)
  const client = { isGone: false }
  exchange.onGone(() => {
    client.isGone = true
    call.cancel()
  })
  const fold = foldOutcome(recorder.itemEnded)
  try {
    const [reply, stored] = await Promise.all([call.reply, recorder.opened])
    if (!stored && inbound.memory.store === true) throw notKept(call)
    if (reply.status < 200 || reply.status >= 300)
      throw await refusalOf(call, reply, prepared.provider)
    const answering: Answering = { inbound, turnId, createdAtMs, stored }
    const parts = { dialect, prepared, answering, fold, recorder, world }
    return inbound.stream ? streamed(call, reply, parts, exchange) : await whole(call, reply, parts)
  } catch (error) {
    // Whatever went wrong, a turn that was opened does not stay open.
    const failure = error instanceof GatewayError ? error.failure : null
    const ending = client.isGone ? 'cancelled' : 'finished'
    exchange.waitUntil(recorder.settle({ ...fold.now(), finish: null, failure }, ending))
    throw error
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
  const headers = { ...STREAM_HEADERS, ...idHeaders(parts.answering) }
  return exchange.stream(200, headers, (client) => {
    relay({
      call,
      reply,
      client,
      rendition: renditionFor(parts),
      settle(outcome, ending) {
        const settled = parts.recorder.settle(outcome, ending)
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
  const outcome = await recorder.settle(fold.now(), 'finished')
  if (outcome.failure !== null) throw new GatewayError(outcome.failure)
  const headers = { 'content-type': 'application/json', ...idHeaders(answering) }
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

function idHeaders({ turnId }: Answering): Readonly<Record<string, string>> {
  return { 'x-request-id': `req_${turnId}` }
}

export function upstreamRequest({ account, provider, encoded }: Prepared): UpstreamRequest {
  const { body, path } = encoded
  return {
    method: 'POST',
    url: account.baseUrl + path,
    headers: {
      'content-type': 'application/json',
      ...provider.headers(account),
      ...account.headers,
    },
    body: body instanceof Uint8Array ? body : JSON.stringify(body),
  }
}

function recorderFor(
  { inbound, account, history }: Prepared,
  id: string,
  createdAtMs: number,
  { tenant, user }: Caller,
  world: World,
): Recorder {
  const { memory, dialect, items, body, params } = inbound
  if (!(memory.store ?? memory.storeByDefault)) return NOT_RECORDED
  const { input: _input, messages: _messages, ...request } = body
  const { name, wire } = account
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
      origin: { wire, account: name, model: params.model, prefixHash: null },
      createdAtMs,
      request,
      input: items,
    },
    world,
  )
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
