/** The routes of the gateway: every method and path with the function that serves it. */
import { Hono, type Context, type MiddlewareHandler } from 'hono'
import { getPath } from 'hono/utils/url'
import type { BackgroundRuns } from '../background/background-runs.ts'
import { convertUnexpectedError } from '../core/errors/convert-unexpected-error.ts'
import type { JsonObject } from '../core/json/json.ts'
import { chatDialect } from '../dialects/chat/chat-dialect.ts'
import { responsesDialect } from '../dialects/responses/responses-dialect.ts'
import type { GatewayDependencies, Ports } from '../gateway/dependencies-interface.ts'
import type { HttpExchange } from '../gateway/http-exchange-interface.ts'
import { countLoadedMemory } from '../gateway/count-loaded-memory.ts'
import { limitRequestTime } from '../gateway/send/limit-request-time.ts'
import {
  createRequestAuthenticator,
  type AuthenticatedRequest,
  type RouteOptions,
} from './authenticate-request.ts'
import { createCorsHeaders, respondToPreflight, type CorsHeaders } from './clients/cors.ts'
import { compactInput } from './endpoints/compact-input.ts'
import { countTokens } from './endpoints/count-tokens.ts'
import { createAnswer } from './endpoints/create-answer.ts'
import { explainAnswer } from './endpoints/explain-answer.ts'
import { explainRequest } from './endpoints/explain-request.ts'
import { listSummaries } from './endpoints/list-summaries.ts'
import { requireModel, listModels } from './endpoints/list-models.ts'
import { forwardRequest } from './endpoints/forward-request.ts'
import { rejectUnknownPath } from './endpoints/resolve-forwarded-path.ts'
import { summarizeContext, summarizeConversation } from './endpoints/summarize.ts'
import { requestId } from '../core/turn-derived-ids.ts'
import { addRequestId, logWithRequestId, REQUEST_ID_HEADER } from '../gateway/request-id.ts'
import { normalizePath } from './normalize-path.ts'
import { renderError } from './render-error.ts'
import { selectOwner } from './select-owner.ts'
import { createBackgroundRunRoutes } from './stored-object-routes/background-runs.ts'
import { STORED_OBJECT_ROUTES } from './stored-object-routes/route-list.ts'
import { createWebSocketRoute } from './websocket/open-websocket.ts'

export type HttpExchangeFactory = (context: Context) => HttpExchange

interface AppTypes {
  readonly Variables: {
    /** The id of the request, and of the answer if a model generates one. */
    readonly turnId: string
    readonly corsHeaders: CorsHeaders | null
  }
}

/**
 * A function that serves a request. It returns null to leave the request to the next route with the
 * same path.
 */
type RouteHandler<Result> = (
  request: AuthenticatedRequest,
) => Result | null | Promise<Result | null>

export function createApp(
  ports: GatewayDependencies,
  runs: BackgroundRuns,
  createExchange: HttpExchangeFactory,
): Hono<AppTypes> {
  const app = new Hono<AppTypes>({ getPath: (request) => normalizePath(getPath(request)) })
  const authenticateRequest = createRequestAuthenticator(ports)

  const authenticate = (context: Context<AppTypes>, options?: RouteOptions): AuthenticatedRequest =>
    authenticateRequest(
      {
        request: context.req.raw,
        exchange: createExchange(context),
        turnId: context.get('turnId'),
        corsHeaders: context.get('corsHeaders'),
        getPathParameter: (name) => context.req.param(name) ?? '',
      },
      options,
    )
  const route = (
    method: string,
    path: string,
    handle: RouteHandler<Response>,
    options?: RouteOptions,
  ): void => {
    app.on(method, [path, `/v1${path}`], async (context, next) => {
      return (await handleAndRelease(authenticate(context, options), handle)) ?? next()
    })
  }
  const jsonRoute = (
    method: string,
    path: string,
    handle: RouteHandler<JsonObject>,
    options?: RouteOptions,
  ): void => {
    const render = async (request: AuthenticatedRequest) => {
      const json = await handle(request)
      return json === null ? null : Response.json(json)
    }
    route(method, path, render, options)
  }

  // `createAnswer` counts the memory and limits the time of its request itself, because a background run
  // outlives the request.
  const createRequestPorts = (request: AuthenticatedRequest): GatewayDependencies => {
    const { exchange, memory, turnId } = request
    return {
      ...countLoadedMemory(logWithRequestId(ports, turnId), memory),
      transport: limitRequestTime(exchange, ports),
    }
  }

  app.use(createRequestIdMiddleware(ports))
  app.use(createCorsMiddleware(ports))
  app.get('/healthz', () => Response.json({ status: 'ok' }))

  // Routes whose answer a model generates.
  route('POST', '/chat/completions', (request) => createAnswer(chatDialect, request, runs, ports))
  route('POST', '/responses', (request) => createAnswer(responsesDialect, request, runs, ports))
  route('GET', '/responses', createWebSocketRoute(ports))

  // Routes for stored data. The routes of background runs come first: they may return null, so that the
  // routes after them serve the request.
  for (const { method, path, handle } of createBackgroundRunRoutes(runs)) {
    route(method, path, (request) => handle(request, createRequestPorts(request)))
  }
  for (const { method, path, handle, options } of STORED_OBJECT_ROUTES) {
    jsonRoute(method, path, (request) => handle(request, createRequestPorts(request)), options)
  }

  // Routes for token counts, compaction, explanations and summaries.
  jsonRoute('POST', '/responses/input_tokens', (request) =>
    countTokens(request, createRequestPorts(request)),
  )
  jsonRoute('POST', '/responses/compact', (request) =>
    compactInput(request, createRequestPorts(request)),
  )
  route('POST', '/context/explain', async (request) =>
    explainRequest(
      request,
      await request.readJsonObject(),
      request.caller,
      createRequestPorts(request),
    ),
  )
  route(
    'GET',
    '/context/explain/:id',
    (request) =>
      explainAnswer(
        request,
        request.getPathParameter('id'),
        selectOwner(request),
        createRequestPorts(request),
      ),
    { servesAdministrators: true },
  )
  jsonRoute('POST', '/context/summarize', (request) =>
    summarizeContext(request, createRequestPorts(request)),
  )
  jsonRoute('POST', '/conversations/:id/summarize', (request) =>
    summarizeConversation(request, createRequestPorts(request)),
  )
  jsonRoute('GET', '/conversations/:id/summaries', (request) =>
    listSummaries(request, createRequestPorts(request)),
  )

  // The route that lists models.
  const withoutStoredData: RouteOptions = { usesStoredData: false }
  jsonRoute('GET', '/models', () => listModels(ports), withoutStoredData)
  jsonRoute(
    'GET',
    '/models/:id{.+}',
    (request) => requireModel(request.getPathParameter('id'), ports),
    withoutStoredData,
  )

  // All other paths are forwarded to an upstream, or unknown.
  const forwarding: RouteOptions = { ...withoutStoredData, forwardsBody: true }
  app.all('*', (context) => {
    rejectUnknownPath(context.req.raw)
    return handleAndRelease(authenticate(context, forwarding), (request) =>
      forwardRequest(request, createRequestPorts(request)),
    )
  })
  app.onError((error, context) => {
    const turnId = context.get('turnId')
    return renderError(convertUnexpectedError(error, addRequestId(ports.log, turnId)), turnId)
  })
  return app
}

/** Serves a request, and reports the end of its handler, after which its memory can be released. */
async function handleAndRelease<Result>(
  request: AuthenticatedRequest,
  handle: (request: AuthenticatedRequest) => Result | Promise<Result>,
): Promise<Result> {
  try {
    return await handle(request)
  } finally {
    request.onHandled()
  }
}

/** Gives every request an id, and adds it to the answer. */
function createRequestIdMiddleware({ newTurnId }: Ports<'newTurnId'>): MiddlewareHandler<AppTypes> {
  return async (context, next) => {
    const turnId = newTurnId()
    context.set('turnId', turnId)
    await next()
    const { headers } = context.res
    // On Node, the exchange has already sent the headers of a streamed answer; this response only reports that.
    if (!headers.has('x-hono-already-sent')) headers.set(REQUEST_ID_HEADER, requestId(turnId))
  }
}

/** Answers preflight requests of browsers, and adds CORS headers to responses to web pages. */
function createCorsMiddleware({ settings }: Ports<'settings'>): MiddlewareHandler<AppTypes> {
  const hasKeys = settings.BACKSTORY_KEYS.length > 0
  return async (context, next) => {
    const corsHeaders = createCorsHeaders(context.req.header('origin') ?? null, hasKeys)
    context.set('corsHeaders', corsHeaders)
    if (corsHeaders === null) return next()
    const preflight = respondToPreflight(context.req.raw, corsHeaders)
    if (preflight !== null) return preflight
    await next()
    // A streamed answer on Node has no body here and is not changed: its headers were sent before,
    // by its exchange.
    if (context.res.body === null) return
    for (const [name, value] of Object.entries(corsHeaders)) context.res.headers.set(name, value)
  }
}
