/**
 * Every path that the gateway has no opinion on (embeddings, audio, images, moderations, files) goes
 * to the upstream that serves the model, byte for byte in both directions.
 */
import { routeModel } from '../../upstream/accounts-and-model-routing.ts'
import { isObject, tryParseJson } from '../../core/json/json.ts'
import type { HttpExchange } from '../../gateway/http-exchange-interface.ts'
import { normalizePath } from '../normalize-path.ts'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import type { Account } from '../../providers/provider-interface.ts'
import { PROVIDERS } from '../../providers/registry.ts'
import { relayRawBody } from '../../gateway/respond/pass-through/relay-raw-body.ts'
import type { UpstreamCall, UpstreamReply } from '../../upstream/transport/transport-interface.ts'
import type { GatewayDependencies } from '../../gateway/dependencies-interface.ts'

/** Without `/v1` only what OpenAI has a path for: nobody's icon is looked for upstream. */
export function isPassThroughPath(path: string): boolean {
  return VERSIONED.test(path) || ROOTS.has(path.split('/')[1] ?? '')
}

const VERSIONED = /^\/v1(?=\/)/

/** What begins a path of the API, but what is the gateway's own: models, chats, responses, conversations. */
const ROOTS: ReadonlySet<string> = new Set(
  `assistants audio batches chatkit completions containers embeddings evals files fine_tuning images
  moderations realtime skills threads uploads vector_stores videos`.split(/\s+/),
)

export async function forwardRequest(
  request: Request,
  body: Uint8Array,
  world: GatewayDependencies,
  exchange: HttpExchange,
): Promise<Response> {
  const { pathname, search } = new URL(request.url)
  const account = accountFor(request, body, world)
  const call = world.transport({
    method: request.method,
    url: account.baseUrl + normalizePath(pathname).replace(VERSIONED, '') + search,
    headers: {
      ...kept(request.headers),
      ...PROVIDERS[account.wire].createHeaders(account),
      ...account.headers,
    },
    body: body.length > 0 ? body : null,
  })
  exchange.onDisconnect(call.cancel)
  const reply = await call.reply
  if (request.method === 'HEAD') return headOf(call, reply)
  return exchange.startStream(reply.status, passedOn(reply.headers), (client) =>
    relayRawBody(call, reply, client),
  )
}

/** Of an answer without a body, which is over where it begins. */
function headOf(call: UpstreamCall, { status, headers }: UpstreamReply): Response {
  call.cancel()
  return new Response(null, { status, headers: passedOn(headers) })
}

/** By the model that the body names, else the first upstream that has such paths at all. */
function accountFor(request: Request, body: Uint8Array, world: GatewayDependencies): Account {
  const openai = world.accounts.filter(({ wire }) => wire === 'chat' || wire === 'responses')
  const model = modelIn(request.headers.get('content-type') ?? '', body)
  if (model !== null && openai.length > 0) {
    const [target] = routeModel({ ...world, accounts: openai }, model, 'chat')
    if (target !== undefined) return target.account
  }
  const first = openai[0]
  if (first !== undefined) return first
  const path = new URL(request.url).pathname
  throw new GatewayError(
    'not_found',
    `No upstream serves ${request.method} ${path}. Add one with the wire "chat" or "responses" to UPSTREAMS.`,
  )
}

/** In a form it is a field of its own, whose value begins behind a blank line. */
const MODEL_FIELD = /name="model"\r?\n(?:[^\r\n]+\r?\n)*\r?\n([^\r\n]{1,200})/

function modelIn(contentType: string, body: Uint8Array): string | null {
  if (contentType.includes('json')) {
    const json = tryParseJson(new TextDecoder().decode(body))
    const model = isObject(json) ? json['model'] : null
    return typeof model === 'string' ? model : null
  }
  if (!contentType.includes('multipart/')) return null
  return MODEL_FIELD.exec(new TextDecoder('latin1').decode(body))?.[1] ?? null
}

/** Headers that mean the connection, the body's length, somebody's key, or who it is that asks. */
const OURS =
  /^(connection|keep-alive|transfer-encoding|te|trailer|upgrade|host|content-length|accept-encoding|authorization|api-key|x-api-key|cookie|set-cookie|expect|proxy-.*|origin|x-openwebui-.*|x-backstory-.*)$/

function kept(headers: Headers): Readonly<Record<string, string>> {
  return Object.fromEntries([...headers].filter(([name]) => !OURS.test(name)))
}

function passedOn(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !OURS.test(name)))
}
