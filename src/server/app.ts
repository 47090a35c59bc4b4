/** The routes: who may ask, what is asked, and how an error is told. All work is done elsewhere. */
import { Hono, type Context, type MiddlewareHandler } from 'hono'
import { getPath } from 'hono/utils/url'
import { preflight, sharedWith, type Sharing } from './clients/cors.ts'
import { userOf } from './clients/identify-user.ts'
import type { Caller } from '../core/client/caller.ts'
import { PLAIN_CLIENT } from '../core/client/client-traits.ts'
import type { JsonObject } from '../core/json/json.ts'
import { chat } from '../dialects/chat/chat-dialect.ts'
import type { Dialect } from '../core/ports/dialect-interface.ts'
import { responses } from '../dialects/responses/responses-dialect.ts'
import type { Exchange } from '../gateway/http-exchange-interface.ts'
import { plainPath } from './normalize-path.ts'
import { unpacked } from './reject-encoded-body.ts'
import { compact } from './endpoints/compact-input.ts'
import { countTokens } from './endpoints/count-tokens.ts'
import { explainAnswer } from './endpoints/explain-answer.ts'
import { explain } from './endpoints/explain-request.ts'
import { listSummaries } from './endpoints/list-summaries.ts'
import { listModels, findModel } from './endpoints/models.ts'
import { isPassedThrough, passThrough } from './endpoints/pass-through.ts'
import { summarizeContext, summarizeConversation } from './endpoints/summarize.ts'
import { errorBody, GatewayError } from '../core/errors/gateway-error.ts'
import { CONTEXT_HEADER } from '../explain/context-response-header.ts'
import { answer } from '../gateway/answer-request.ts'
import { jsonBody, jsonObject, jsonValue, maybeJsonObject } from './parse-json-body.ts'
import { doorkeeper, refuseForeignPages } from './authenticate.ts'
import { asGatewayError } from '../core/errors/convert-unexpected-error.ts'
import { RESOURCES } from './stored-object-routes/route-list.ts'
import { RESUMABLE_HEADER } from '../background/stream-resumable-response.ts'
import { runRoutes } from './stored-object-routes/background-runs.ts'
import type { Runs } from '../background/background-runs.ts'
import { understand } from './read-request.ts'
import {
  UNSUPPORTED_HEADER,
  withUnsupported,
} from '../gateway/prompt/reject-unsupported-features.ts'
import { converse } from './websocket/serve-connection.ts'
import { onlyUpgrades } from './websocket/upgrade-required-error.ts'
import type { World } from '../gateway/dependencies-interface.ts'

export type ExchangeOf = (context: Context) => Exchange

/** What is found out once for a request, whoever answers it. */
interface Known {
  readonly Variables: { readonly sharing: Sharing | null }
}

export function createApp(world: World, runs: Runs, exchangeOf: ExchangeOf): Hono<Known> {
  const app = new Hono<Known>({ getPath: (request) => plainPath(getPath(request)) })
  const door = doorOf(world, exchangeOf)
  app.use(withSharing(world))
  app.get('/healthz', () => Response.json({ status: 'ok' }))
  answers(app, door, world, runs)
  memory(app, door, world, runs)
  questions(app, door, world)
  // What is the gateway's own must not be looked for upstream, nor what it is asked be told there.
  for (const path of ['chat', 'responses', 'conversations', 'memory', 'context']) {
    app.all(`/v1/${path}/*`, (context) => told(noSuchPath(context)))
  }
  app.all('*', async (context) => {
    if (!isPassedThrough(context.req.path)) return told(noSuchPath(context))
    const { exchange } = door.enter(context, PASSED_ON)
    return passThrough(context.req.raw, await door.bytes(exchange), world, exchange)
  })
  app.onError((error) => told(asGatewayError(error, world.log)))
  return app
}

/** Lets web pages read the answers that they may have. */
function withSharing({ settings }: World): MiddlewareHandler<Known> {
  const hasKeys = settings.BACKSTORY_KEYS.length > 0
  return async (context, next) => {
    const sharing = sharedWith(context.req.header('origin') ?? null, hasKeys)
    context.set('sharing', sharing)
    if (sharing === null) return next()
    const early = preflight(context.req.raw, sharing)
    if (early !== null) return early
    await next()
    // Without a body it stands for what its exchange has begun to write, with these headers in front.
    if (context.res.body === null) return
    for (const [name, value] of Object.entries(sharing)) context.res.headers.set(name, value)
  }
}

/** Who comes in, and what they bring. */
interface Door {
  readonly enter: (context: Context<Known>, matter?: Matter) => Entered
  readonly bytes: (exchange: Exchange) => Promise<Uint8Array>
  readonly json: (exchange: Exchange) => Promise<JsonObject>
}

interface Entered {
  readonly exchange: Exchange
  readonly caller: Caller
}

interface Matter {
  /** Whether what somebody comes for has to do with what is remembered. */
  readonly isRemembered: boolean
  /** Whether what they bring is read by somebody else. */
  readonly isPassedOn: boolean
}

const REMEMBERED: Matter = { isRemembered: true, isPassedOn: false }
const FORGOTTEN: Matter = { isRemembered: false, isPassedOn: false }
const PASSED_ON: Matter = { isRemembered: false, isPassedOn: true }

function doorOf({ settings, nowMs }: World, exchangeOf: ExchangeOf): Door {
  const callerOf = doorkeeper(settings.BACKSTORY_KEYS)
  const bytes = (exchange: Exchange) => exchange.body(settings.MAX_BODY_MB * 1024 * 1024)
  return {
    enter(context, { isRemembered, isPassedOn } = REMEMBERED) {
      const { headers } = context.req.raw
      refuseForeignPages(headers.get('origin'), settings.BACKSTORY_KEYS)
      const brought = exchangeOf(context)
      const read = isPassedOn ? brought : unpacked(brought, headers.get('content-encoding'))
      const exchange = sharing(read, context.get('sharing'))
      const caller = callerOf(headers.get('authorization'), exchange.isLocal)
      const user = userOf(headers, settings, { isRemembered, nowMs: nowMs() })
      return { exchange, caller: user === null ? caller : { ...caller, user } }
    },
    bytes,
    json: async (exchange) => jsonObject(await bytes(exchange)),
  }
}

/** What is streamed has its headers written before anybody else could add to them. */
function sharing(exchange: Exchange, headers: Sharing | null): Exchange {
  if (headers === null) return exchange
  const { stream } = exchange
  return { ...exchange, stream: (status, own, run) => stream(status, { ...own, ...headers }, run) }
}

function both(path: string): string[] {
  return [path, `/v1${path}`]
}

/** Where a model is asked. */
function answers(app: Hono<Known>, { enter, bytes }: Door, world: World, runs: Runs): void {
  const answered = (dialect: Dialect) => async (context: Context<Known>) => {
    const { exchange, caller } = enter(context)
    const able = withUnsupported(world, context.req.header(UNSUPPORTED_HEADER) ?? null)
    const forThis =
      context.req.header(CONTEXT_HEADER) === 'true' ? { ...able, tellsContext: true } : able
    const isResumable = context.req.header(RESUMABLE_HEADER) === 'true'
    const body = jsonBody(await bytes(exchange))
    const { headers } = context.req.raw
    const understood = understand(dialect, body, headers, world.settings)
    // What outlives its client is told to whoever follows it.
    const outlives = isResumable || understood.memory.background
    const inbound = outlives ? { ...understood, client: PLAIN_CLIENT } : understood
    const asked = { dialect, inbound, caller, exchange, isResumable }
    const lasting = dialect === responses ? runs.answer(asked, forThis) : null
    if (lasting !== null) return lasting
    return answer(dialect, inbound, caller, forThis, exchange)
  }
  app.on('POST', both('/chat/completions'), answered(chat))
  app.on('POST', both('/responses'), answered(responses))
  app.on('GET', both('/responses'), (context) => {
    const { exchange, caller } = enter(context)
    const { upgrade } = exchange
    if (upgrade === undefined) throw onlyUpgrades()
    const isBeta = /responses_websockets/.test(context.req.header('openai-beta') ?? '')
    return upgrade((socket) => converse(socket, { ...exchange, caller, world, isBeta }))
  })
}

/** What is kept: read, followed, labelled, deleted. */
function memory(app: Hono<Known>, { enter, bytes, json }: Door, world: World, runs: Runs): void {
  for (const { method, path, answer: run } of runRoutes(runs)) {
    app.on(method, both(path), async (context, next) => {
      const query = new URL(context.req.url).searchParams
      const id = context.req.param('id') ?? ''
      return (await run({ ...enter(context), id, query })) ?? next()
    })
  }
  for (const { method, path, answer: read } of RESOURCES) {
    app.on(method, both(path), async (context, next) => {
      const { exchange, caller } = enter(context)
      const named = (name: string): string => context.req.param(name) ?? ''
      const query = new URL(context.req.url).searchParams
      const body = () => json(exchange)
      const maybeBody = async () => maybeJsonObject(await bytes(exchange))
      const value = async () => jsonValue(await bytes(exchange))
      const answered = await read({ caller, named, query, body, maybeBody, value }, world)
      return answered === null ? next() : Response.json(answered)
    })
  }
}

/** What is asked of the gateway itself. */
function questions(app: Hono<Known>, { enter, bytes, json }: Door, world: World): void {
  const asked =
    (
      run: (
        body: JsonObject,
        caller: Caller,
        world: World,
        exchange: Exchange,
        headers: Headers,
      ) => Promise<JsonObject>,
    ) =>
    async (context: Context<Known>) => {
      const { exchange, caller } = enter(context)
      const { headers } = context.req.raw
      return Response.json(await run(await json(exchange), caller, world, exchange, headers))
    }
  app.on('POST', both('/responses/input_tokens'), asked(countTokens))
  app.on('POST', both('/responses/compact'), asked(compact))
  app.on('POST', both('/context/explain'), async (context) => {
    const { exchange, caller } = enter(context)
    return explain(context.req.raw, await json(exchange), caller, world)
  })
  app.on('GET', both('/context/explain/:id'), async (context) => {
    const { caller } = enter(context)
    return explainAnswer(context.req.raw, context.req.param('id') ?? '', caller, world)
  })
  app.on('POST', both('/context/summarize'), asked(summarizeContext))
  app.on('POST', both('/conversations/:id/summarize'), async (context) => {
    const { exchange, caller } = enter(context)
    const body = maybeJsonObject(await bytes(exchange))
    const id = context.req.param('id') ?? ''
    return Response.json(await summarizeConversation(id, body, caller, world, exchange))
  })
  app.on('GET', both('/conversations/:id/summaries'), async (context) => {
    const { caller } = enter(context)
    const query = new URL(context.req.url).searchParams
    const id = context.req.param('id') ?? ''
    return Response.json(await listSummaries(id, query, caller, world))
  })
  app.on('GET', both('/models'), async (context) => {
    enter(context, FORGOTTEN)
    return Response.json(await listModels(world))
  })
  app.on('GET', both('/models/:id{.+}'), async (context) => {
    enter(context, FORGOTTEN)
    return Response.json(await findModel(context.req.param('id') ?? '', world))
  })
}

function told({ failure, headers }: GatewayError): Response {
  return new Response(JSON.stringify(errorBody(failure)), {
    status: failure.status,
    headers: { 'content-type': 'application/json', ...headers },
  })
}

function noSuchPath({ req }: Context): GatewayError {
  return new GatewayError('not_found', `Unknown request URL: ${req.method} ${req.path}.`)
}
