/** The routes: who may ask, what is asked, and how an error is told. All work is done elsewhere. */
import { Hono, type Context } from 'hono'
import { isObject, type JsonObject } from './conversation/json.ts'
import { compact } from './endpoints/compact-endpoint.ts'
import { countTokens } from './endpoints/count-tokens.ts'
import { chat } from './dialect/chat/chat.ts'
import type { Dialect } from './dialect/dialect.ts'
import { responses } from './dialect/responses/responses.ts'
import type { Exchange } from './edge/exchange.ts'
import { errorBody, GatewayError } from './errors.ts'
import { explain } from './endpoints/explain.ts'
import { answer } from './gateway.ts'
import { doorkeeper, refuseForeignPages } from './keys.ts'
import { listModels, findModel } from './endpoints/models.ts'
import { passThrough } from './endpoints/pass-through.ts'
import { RESOURCES } from './resources/resources.ts'
import { RESUMABLE_HEADER } from './runs/answer-resumably.ts'
import { runRoutes } from './runs/run-routes.ts'
import type { Runs } from './runs/runs.ts'
import { UNSUPPORTED_HEADER, withUnsupported } from './upstream/unsupported.ts'
import { converse } from './websocket/converse.ts'
import { onlyUpgrades } from './websocket/only-upgrades.ts'
import type { World } from './world.ts'

export type ExchangeOf = (context: Context) => Exchange

export function createApp(world: World, runs: Runs, exchangeOf: ExchangeOf): Hono {
  const app = new Hono()
  const callerOf = doorkeeper(world.settings.BACKSTORY_KEYS)
  const maxBodyBytes = world.settings.MAX_BODY_MB * 1024 * 1024

  const enter = (context: Context) => {
    const exchange = exchangeOf(context)
    refuseForeignPages(context.req.header('origin') ?? null, world.settings.BACKSTORY_KEYS)
    const caller = callerOf(context.req.header('authorization') ?? null, exchange.isLocal)
    return { exchange, caller }
  }

  const answered = (dialect: Dialect) => async (context: Context) => {
    const { exchange, caller } = enter(context)
    const forThis = withUnsupported(world, context.req.header(UNSUPPORTED_HEADER) ?? null)
    const bytes = await exchange.body(maxBodyBytes)
    const inbound = dialect.parse(jsonObject(bytes), bytes)
    const isResumable = context.req.header(RESUMABLE_HEADER) === 'true'
    const asked = { dialect, inbound, caller, exchange, isResumable }
    const lasting = dialect === responses ? runs.answer(asked, forThis) : null
    if (lasting !== null) return lasting
    return answer(dialect, inbound, caller, forThis, exchange)
  }

  const both = (path: string): string[] => [path, `/v1${path}`]

  app.get('/healthz', () => Response.json({ status: 'ok' }))
  app.on('POST', both('/chat/completions'), answered(chat))
  app.on('POST', both('/responses'), answered(responses))
  app.on('GET', both('/responses'), (context) => {
    const { exchange, caller } = enter(context)
    const { upgrade } = exchange
    if (upgrade === undefined) throw onlyUpgrades()
    const isBeta = /responses_websockets/.test(context.req.header('openai-beta') ?? '')
    const forThis = withUnsupported(world, context.req.header(UNSUPPORTED_HEADER) ?? null)
    return upgrade((socket) => converse(socket, { ...exchange, caller, world: forThis, isBeta }))
  })
  app.on('POST', both('/responses/input_tokens'), async (context) => {
    const { exchange, caller } = enter(context)
    const body = jsonObject(await exchange.body(maxBodyBytes))
    return Response.json(await countTokens(body, caller, world))
  })
  app.on('POST', both('/responses/compact'), async (context) => {
    const { exchange, caller } = enter(context)
    const body = jsonObject(await exchange.body(maxBodyBytes))
    return Response.json(await compact(body, caller, world, exchange))
  })
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
      const body = async () => jsonObject(await exchange.body(maxBodyBytes))
      const json = await read({ caller, named, query, body }, world)
      return json === null ? next() : Response.json(json)
    })
  }
  app.on('POST', both('/context/explain'), async (context) => {
    const { exchange, caller } = enter(context)
    const body = jsonObject(await exchange.body(maxBodyBytes))
    return Response.json(await explain(body, caller, world))
  })
  app.on('GET', both('/models'), async (context) => {
    enter(context)
    return Response.json(await listModels(world))
  })
  app.on('GET', both('/models/:id{.+}'), async (context) => {
    enter(context)
    return Response.json(await findModel(context.req.param('id') ?? '', world))
  })
  // What is the gateway's own memory must not be looked for upstream.
  app.all('/v1/responses/*', (context) => notServed(context))
  app.all('/v1/conversations/*', (context) => notServed(context))
  app.all('/v1/*', async (context) => {
    const { exchange } = enter(context)
    return passThrough(context.req.raw, await exchange.body(maxBodyBytes), world, exchange)
  })
  app.notFound((context) => told(noSuchPath(context)))
  app.onError((error) => {
    if (error instanceof GatewayError) return told(error)
    if (isTooDeep(error)) return told(tooDeep())
    world.log('error', 'unexpected', { why: error.stack ?? error.message })
    return told(
      new GatewayError('internal_error', 'The gateway made a mistake. Its log says more.'),
    )
  })
  return app
}

/** What a client nests without end is nobody else's fault. */
function isTooDeep(error: Error): boolean {
  return error instanceof RangeError && error.message.includes('call stack')
}

function tooDeep(): GatewayError {
  return new GatewayError('invalid_value', 'The request is nested too deeply. Send it flatter.')
}

function told({ failure, headers }: GatewayError): Response {
  return new Response(JSON.stringify(errorBody(failure)), {
    status: failure.status,
    headers: { 'content-type': 'application/json', ...headers },
  })
}

function jsonObject(bytes: Uint8Array): JsonObject {
  const json = parsed(bytes)
  if (isObject(json)) return json
  throw new GatewayError(
    'invalid_json',
    'We could not parse the JSON body of your request. It must be a JSON object.',
  )
}

function parsed(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(utf8.decode(bytes))
  } catch {
    return null
  }
}

const utf8 = new TextDecoder()

function notServed(context: Context): Response {
  return told(noSuchPath(context))
}

function noSuchPath({ req }: Context): GatewayError {
  return new GatewayError('not_found', `Unknown request URL: ${req.method} ${req.path}.`)
}
