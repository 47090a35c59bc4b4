/** The routes: who may ask, what is asked, and how an error is told. All work is done elsewhere. */
import { Hono, type Context, type MiddlewareHandler } from 'hono'
import { getPath } from 'hono/utils/url'
import { respondToPreflight, createCorsHeaders, type CorsHeaders } from './clients/cors.ts'
import { identifyUser } from './clients/identify-user.ts'
import type { Caller } from '../core/client/caller.ts'
import { DEFAULT_CLIENT_TRAITS } from '../core/client/client-traits.ts'
import type { JsonObject } from '../core/json/json.ts'
import { chatDialect } from '../dialects/chat/chat-dialect.ts'
import type { Dialect } from '../core/ports/dialect-interface.ts'
import { responsesDialect } from '../dialects/responses/responses-dialect.ts'
import type { HttpExchange } from '../gateway/http-exchange-interface.ts'
import { normalizePath } from './normalize-path.ts'
import { rejectEncodedBody } from './reject-encoded-body.ts'
import { compactInput } from './endpoints/compact-input.ts'
import { countTokens } from './endpoints/count-tokens.ts'
import { explainAnswer } from './endpoints/explain-answer.ts'
import { explainRequest } from './endpoints/explain-request.ts'
import { listSummaries } from './endpoints/list-summaries.ts'
import { listModels, findModel } from './endpoints/models.ts'
import { isPassThroughPath, forwardRequest } from './endpoints/pass-through.ts'
import { summarizeContext, summarizeConversation } from './endpoints/summarize.ts'
import { createErrorBody, GatewayError } from '../core/errors/gateway-error.ts'
import { EXPLAIN_REQUEST_HEADER } from '../explain/context-response-header.ts'
import { answerRequest } from '../gateway/answer-request.ts'
import {
  parseJsonBody,
  parseJsonObject,
  parseJsonValue,
  parseOptionalJsonObject,
} from './parse-json-body.ts'
import { createAuthenticator, rejectForeignPages } from './authenticate.ts'
import { convertUnexpectedError } from '../core/errors/convert-unexpected-error.ts'
import { STORED_OBJECT_ROUTES } from './stored-object-routes/route-list.ts'
import { RESUMABLE_HEADER } from '../background/stream-resumable-response.ts'
import { createBackgroundRunRoutes } from './stored-object-routes/background-runs.ts'
import type { BackgroundRuns } from '../background/background-runs.ts'
import { readRequest } from './read-request.ts'
import {
  UNSUPPORTED_HEADER,
  parseUnsupportedHeader,
} from '../gateway/prompt/reject-unsupported-features.ts'
import { serveConnection } from './websocket/serve-connection.ts'
import { createUpgradeRequiredError } from './websocket/upgrade-required-error.ts'
import type { GatewayDependencies } from '../gateway/dependencies-interface.ts'

export type HttpExchangeFactory = (context: Context) => HttpExchange

/** What is found out once for a request, whoever answers it. */
interface Known {
  readonly Variables: { readonly sharing: CorsHeaders | null }
}

export function createApp(
  world: GatewayDependencies,
  runs: BackgroundRuns,
  exchangeOf: HttpExchangeFactory,
): Hono<Known> {
  const app = new Hono<Known>({ getPath: (request) => normalizePath(getPath(request)) })
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
    if (!isPassThroughPath(context.req.path)) return told(noSuchPath(context))
    const { exchange } = door.enter(context, PASSED_ON)
    return forwardRequest(context.req.raw, await door.bytes(exchange), world, exchange)
  })
  app.onError((error) => told(convertUnexpectedError(error, world.log)))
  return app
}

/** Lets web pages read the answers that they may have. */
function withSharing({ settings }: GatewayDependencies): MiddlewareHandler<Known> {
  const hasKeys = settings.BACKSTORY_KEYS.length > 0
  return async (context, next) => {
    const sharing = createCorsHeaders(context.req.header('origin') ?? null, hasKeys)
    context.set('sharing', sharing)
    if (sharing === null) return next()
    const early = respondToPreflight(context.req.raw, sharing)
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
  readonly bytes: (exchange: HttpExchange) => Promise<Uint8Array>
  readonly json: (exchange: HttpExchange) => Promise<JsonObject>
}

interface Entered {
  readonly exchange: HttpExchange
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

function doorOf({ settings, nowMs }: GatewayDependencies, exchangeOf: HttpExchangeFactory): Door {
  const callerOf = createAuthenticator(settings.BACKSTORY_KEYS)
  const bytes = (exchange: HttpExchange) => exchange.readBody(settings.MAX_BODY_MB * 1024 * 1024)
  return {
    enter(context, { isRemembered, isPassedOn } = REMEMBERED) {
      const { headers } = context.req.raw
      rejectForeignPages(headers.get('origin'), settings.BACKSTORY_KEYS)
      const brought = exchangeOf(context)
      const read = isPassedOn
        ? brought
        : rejectEncodedBody(brought, headers.get('content-encoding'))
      const exchange = sharing(read, context.get('sharing'))
      const caller = callerOf(headers.get('authorization'), exchange.isLocal)
      const user = identifyUser(headers, settings, { isRemembered, nowMs: nowMs() })
      return { exchange, caller: user === null ? caller : { ...caller, user } }
    },
    bytes,
    json: async (exchange) => parseJsonObject(await bytes(exchange)),
  }
}

/** What is streamed has its headers written before anybody else could add to them. */
function sharing(exchange: HttpExchange, headers: CorsHeaders | null): HttpExchange {
  if (headers === null) return exchange
  const { startStream } = exchange
  return {
    ...exchange,
    startStream: (status, own, run) => startStream(status, { ...own, ...headers }, run),
  }
}

function both(path: string): string[] {
  return [path, `/v1${path}`]
}

/** Where a model is asked. */
function answers(
  app: Hono<Known>,
  { enter, bytes }: Door,
  world: GatewayDependencies,
  runs: BackgroundRuns,
): void {
  const answered = (dialect: Dialect) => async (context: Context<Known>) => {
    const { exchange, caller } = enter(context)
    const unsupported = parseUnsupportedHeader(context.req.header(UNSUPPORTED_HEADER) ?? null)
    const options = {
      ...(unsupported === null ? {} : { unsupported }),
      addsContextHeader: context.req.header(EXPLAIN_REQUEST_HEADER) === 'true',
    }
    const isResumable = context.req.header(RESUMABLE_HEADER) === 'true'
    const body = parseJsonBody(await bytes(exchange))
    const { headers } = context.req.raw
    const understood = readRequest(dialect, body, headers, world.settings)
    // What outlives its client is told to whoever follows it.
    const outlives = isResumable || understood.storage.background
    const clientRequest = outlives ? { ...understood, client: DEFAULT_CLIENT_TRAITS } : understood
    const asked = { dialect, clientRequest, caller, exchange, options, isResumable }
    const lasting = dialect === responsesDialect ? runs.answer(asked) : null
    if (lasting !== null) return lasting
    return answerRequest(asked, world)
  }
  app.on('POST', both('/chat/completions'), answered(chatDialect))
  app.on('POST', both('/responses'), answered(responsesDialect))
  app.on('GET', both('/responses'), (context) => {
    const { exchange, caller } = enter(context)
    const { upgradeToWebSocket } = exchange
    if (upgradeToWebSocket === undefined) throw createUpgradeRequiredError()
    const isBeta = /responses_websockets/.test(context.req.header('openai-beta') ?? '')
    return upgradeToWebSocket((socket) =>
      serveConnection(socket, { ...exchange, caller, world, isBeta }),
    )
  })
}

/** What is kept: read, followed, labelled, deleted. */
function memory(
  app: Hono<Known>,
  { enter, bytes, json }: Door,
  world: GatewayDependencies,
  runs: BackgroundRuns,
): void {
  for (const { method, path, answer: run } of createBackgroundRunRoutes(runs)) {
    app.on(method, both(path), async (context, next) => {
      const query = new URL(context.req.url).searchParams
      const id = context.req.param('id') ?? ''
      return (await run({ ...enter(context), id, query })) ?? next()
    })
  }
  for (const { method, path, answer: read } of STORED_OBJECT_ROUTES) {
    app.on(method, both(path), async (context, next) => {
      const { exchange, caller } = enter(context)
      const named = (name: string): string => context.req.param(name) ?? ''
      const query = new URL(context.req.url).searchParams
      const body = () => json(exchange)
      const maybeBody = async () => parseOptionalJsonObject(await bytes(exchange))
      const value = async () => parseJsonValue(await bytes(exchange))
      const answered = await read({ caller, named, query, body, maybeBody, value }, world)
      return answered === null ? next() : Response.json(answered)
    })
  }
}

/** What is asked of the gateway itself. */
function questions(
  app: Hono<Known>,
  { enter, bytes, json }: Door,
  world: GatewayDependencies,
): void {
  const asked =
    (
      run: (
        body: JsonObject,
        caller: Caller,
        world: GatewayDependencies,
        exchange: HttpExchange,
        headers: Headers,
      ) => Promise<JsonObject>,
    ) =>
    async (context: Context<Known>) => {
      const { exchange, caller } = enter(context)
      const { headers } = context.req.raw
      return Response.json(await run(await json(exchange), caller, world, exchange, headers))
    }
  app.on('POST', both('/responses/input_tokens'), asked(countTokens))
  app.on('POST', both('/responses/compact'), asked(compactInput))
  app.on('POST', both('/context/explain'), async (context) => {
    const { exchange, caller } = enter(context)
    return explainRequest(context.req.raw, await json(exchange), caller, world)
  })
  app.on('GET', both('/context/explain/:id'), async (context) => {
    const { caller } = enter(context)
    return explainAnswer(context.req.raw, context.req.param('id') ?? '', caller, world)
  })
  app.on('POST', both('/context/summarize'), asked(summarizeContext))
  app.on('POST', both('/conversations/:id/summarize'), async (context) => {
    const { exchange, caller } = enter(context)
    const body = parseOptionalJsonObject(await bytes(exchange))
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
  return new Response(JSON.stringify(createErrorBody(failure)), {
    status: failure.status,
    headers: { 'content-type': 'application/json', ...headers },
  })
}

function noSuchPath({ req }: Context): GatewayError {
  return new GatewayError('not_found', `Unknown request URL: ${req.method} ${req.path}.`)
}
