/** The routes: who may ask, what is asked, and how an error is told. All work is done elsewhere. */
import { Hono, type Context } from 'hono'
import { isObject, type JsonObject } from './conversation/json.ts'
import { chat } from './dialect/chat/chat.ts'
import type { Dialect } from './dialect/dialect.ts'
import { responses } from './dialect/responses/responses.ts'
import type { Exchange } from './edge/exchange.ts'
import { errorBody, GatewayError } from './errors.ts'
import { explain } from './explain.ts'
import { answer } from './gateway.ts'
import { doorkeeper } from './keys.ts'
import { listModels, findModel } from './models.ts'
import { passThrough } from './pass-through.ts'
import type { World } from './world.ts'

export type ExchangeOf = (context: Context) => Exchange

export function createApp(world: World, exchangeOf: ExchangeOf): Hono {
  const app = new Hono()
  const callerOf = doorkeeper(world.settings.BACKSTORY_KEYS)
  const maxBodyBytes = world.settings.MAX_BODY_MB * 1024 * 1024

  const enter = (context: Context) => {
    const exchange = exchangeOf(context)
    const caller = callerOf(context.req.header('authorization') ?? null, exchange.isLocal)
    return { exchange, caller }
  }

  const answered = (dialect: Dialect) => async (context: Context) => {
    const { exchange, caller } = enter(context)
    const bytes = await exchange.body(maxBodyBytes)
    const inbound = dialect.parse(jsonObject(bytes), bytes)
    return answer(dialect, inbound, caller, world, exchange)
  }

  const both = (path: string): string[] => [path, `/v1${path}`]

  app.get('/healthz', () => Response.json({ status: 'ok' }))
  app.on('POST', both('/chat/completions'), answered(chat))
  app.on('POST', both('/responses'), answered(responses))
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
    world.log('error', 'unexpected', { why: error.stack ?? error.message })
    return told(
      new GatewayError('internal_error', 'The gateway made a mistake. Its log says more.'),
    )
  })
  return app
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
