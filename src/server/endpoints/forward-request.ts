/**
 * Forwards other API paths (embeddings, audio, images, moderations, files …) byte for byte, in both
 * directions, to the upstream that serves the model. Only an error of the upstream is read and rendered
 * in OpenAI's format.
 */
import { routeModel } from '../../upstream/accounts-and-model-routing.ts'
import { isObject, tryParseJson } from '../../core/json/json.ts'
import { MAX_JSON_DEPTH } from '../../core/json/measure-json.ts'
import { createNotFoundError, GatewayError } from '../../core/errors/gateway-error.ts'
import type { Account } from '../../providers/provider-interface.ts'
import { createUpstreamHeaders } from '../../upstream/create-upstream-headers.ts'
import {
  readErrorReply,
  readUpstreamRequestId,
} from '../../upstream/transport/read-complete-reply.ts'
import { relayRawBody } from '../../gateway/respond/pass-through/relay-raw-body.ts'
import type { AuthenticatedRequest } from '../authenticate-request.ts'
import { countValues } from '../parse-json-body.ts'
import {
  isTextGenerationPath,
  rejectAccountPath,
  resolveForwardedPath,
  createOtherApiError,
} from './resolve-forwarded-path.ts'
import type { Ports } from '../../gateway/dependencies-interface.ts'

export async function forwardRequest(
  request: AuthenticatedRequest,
  ports: Ports<'accounts' | 'settings' | 'transport'>,
): Promise<Response> {
  const { method, exchange } = request
  const path = resolveForwardedPath(request)
  rejectAccountPath(path, request.caller, ports.settings)
  const body = await request.readBytes()
  const account = await chooseAccount(request, body, ports)
  const call = ports.transport({
    method,
    url: account.baseUrl + path + new URL(request.url).search,
    headers: createUpstreamHeaders(account, filterHeaders(request.headers)),
    body: body.length > 0 ? body : null,
  })
  exchange.onDisconnect(call.cancel)
  const reply = await call.reply
  if (reply.status >= 400) throw (await readErrorReply(call, reply, account)).error
  const headers = {
    ...filterHeaders(Object.entries(reply.headers)),
    ...readUpstreamRequestId(reply.headers),
  }
  return exchange.startStream(reply.status, headers, (client) => relayRawBody(call, reply, client))
}

/**
 * Returns the account that serves the model in the body. If the body names no model, returns the
 * first account whose wire is `chat` or `responses`, the APIs of OpenAI.
 */
async function chooseAccount(
  { method, url, headers }: AuthenticatedRequest,
  body: Uint8Array,
  ports: Ports<'accounts' | 'settings'>,
): Promise<Account> {
  const accounts = ports.accounts.filter(({ wire }) => wire === 'chat' || wire === 'responses')
  const [first] = accounts
  if (first === undefined && isTextGenerationPath(new URL(url).pathname))
    throw createOtherApiError({ method, url })
  if (first === undefined) {
    const message = `No upstream serves ${method} ${new URL(url).pathname}. Add one with the wire "chat" or "responses" to UPSTREAMS.`
    throw new GatewayError('not_found', message)
  }
  const model = await findModelName(headers.get('content-type') ?? '', body)
  if (model === null) return first
  try {
    return routeModel({ ...ports, accounts }, model, { dialect: 'chat' })[0].account
  } catch {
    // Throws another error if no upstream at all serves the model.
    const [{ account }] = routeModel(ports, model, { dialect: 'chat' })
    throw createNotOfferedError({ method, url }, model, account)
  }
}

/** Creates the error for a model that is served, but over an API to which the path is not translated. */
function createNotOfferedError(
  { method, url }: Pick<Request, 'method' | 'url'>,
  model: string,
  { name, wire }: Account,
): GatewayError {
  const { pathname } = new URL(url)
  const remedy = isTextGenerationPath(pathname)
    ? 'Use POST /v1/chat/completions or POST /v1/responses for this model.'
    : 'Name a model of an upstream with the wire chat or responses.'
  const message = `${method} ${pathname} is not offered for the model '${model.slice(0, 100)}': its upstream ${name} has the wire ${wire}, to which such requests are not translated. ${remedy}`
  return createNotFoundError(message, 'model')
}

/** A request for embeddings may have many values: each token of its texts. */
const FORWARDED_JSON_LIMITS = {
  maxValues: 1_000_000,
  maxItems: Infinity,
  maxDepth: MAX_JSON_DEPTH,
}

async function findModelName(contentType: string, body: Uint8Array): Promise<string | null> {
  if (contentType.includes('json')) {
    await countValues(body, FORWARDED_JSON_LIMITS)
    const json = tryParseJson(new TextDecoder().decode(body))
    const model = isObject(json) ? json['model'] : null
    return typeof model === 'string' ? model : null
  }
  if (!contentType.includes('multipart/')) return null
  return findModelField(new TextDecoder('latin1').decode(body))
}

/** Tries at most 100 occurrences of the name, because a hostile body may consist of them. */
function findModelField(form: string): string | null {
  let at = -1
  for (let count = 0; count < MAX_NAME_OCCURRENCES; count++) {
    at = form.indexOf('name="model"', at + 1)
    if (at === -1) return null
    MODEL_FIELD.lastIndex = at
    const model = MODEL_FIELD.exec(form)?.[1]
    if (model !== undefined) return model
  }
  return null
}

const MAX_NAME_OCCURRENCES = 100

/** Matches the form field `model`, whose value follows its other headers and a blank line. */
const MODEL_FIELD = /name="model"\r?\n(?:[^\r\n]{1,200}\r?\n){0,5}\r?\n([^\r\n]{1,200})/y

/**
 * Matches headers that are not forwarded, because they describe one connection or its body, contain
 * a key or a cookie, or identify the user.
 */
const NOT_FORWARDED =
  /^(connection|keep-alive|transfer-encoding|te|trailer|upgrade|host|content-length|accept-encoding|authorization|api-key|x-api-key|cookie|set-cookie|expect|proxy-.*|origin|openai-organization|openai-project|x-openwebui-.*|x-backstory-.*)$/

function filterHeaders(
  headers: Iterable<readonly [string, string]>,
): Readonly<Record<string, string>> {
  return Object.fromEntries([...headers].filter(([name]) => !NOT_FORWARDED.test(name)))
}
