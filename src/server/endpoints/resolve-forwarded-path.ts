/**
 * Decides which paths that the gateway does not serve itself are forwarded to an upstream. The
 * upstream gets the operator's key, so its files, batches and costs would be open to every client.
 *
 * | paths | forwarded for |
 * |---|---|
 * | calls of a model, e.g. `POST /v1/embeddings` | every client |
 * | other paths below `/v1/`, e.g. `/v1/files` | the keys in `ACCOUNT_PATHS`; by default the only key, if there are no users |
 * | administration, e.g. `/v1/organization/costs` | the keys in `ACCOUNT_PATHS` |
 */
import type { Caller } from '../../core/client/caller.ts'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import type { Settings } from '../../settings/read-settings.ts'
import { listTenants } from '../../settings/list-tenants.ts'
import { normalizePath } from '../normalize-path.ts'

const INFERENCE_PATHS: ReadonlySet<string> = new Set([
  '/embeddings',
  '/moderations',
  '/completions',
  '/rerank',
  '/audio/speech',
  '/audio/transcriptions',
  '/audio/translations',
  '/images/generations',
  '/images/edits',
  '/images/variations',
])

/**
 * Paths of Anthropic's API. Like paths of the account, they are forwarded only for the keys that may use the account.
 */
const ANTHROPIC_PATHS: ReadonlySet<string> = new Set(['/messages', '/messages/count_tokens'])

/** First segments of OpenAI's other paths, which are forwarded without `/v1`, too. */
const ACCOUNT_SEGMENTS: ReadonlySet<string> = new Set(
  `assistants audio batches chatkit containers evals files fine_tuning images realtime skills threads uploads
  vector_stores videos`.split(/\s+/),
)

const ADMINISTRATION_SEGMENTS: ReadonlySet<string> = new Set(
  'admin api_keys dashboard organization organizations project projects usage'.split(' '),
)

/** First segments of paths that only the gateway serves, in every letter case: an upstream may ignore the case. */
const OWN_SEGMENTS: ReadonlySet<string> = new Set(
  'chat responses conversations memory context'.split(' '),
)

const ACCOUNT_METHODS: ReadonlySet<string> = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])

/** A path without encoded characters: an upstream that decodes `/v1/chat%2fcompletions` would take it for a chat. */
const PLAIN_PATH = /^(?:\/[\w.:~@+=,-]+)+$/

const VERSION_PREFIX = /^\/v1(?=\/)/

export type AccountPathSettings = Pick<
  Settings,
  'ACCOUNT_PATHS' | 'BACKSTORY_KEYS' | 'OPEN_WEBUI_JWT_SECRET' | 'TRUST_USER_HEADERS'
>

type RequestLine = Pick<Request, 'method' | 'url'>

/** Rejects paths that no key makes known: those that only the gateway serves, and `/favicon.ico` and the like. */
export function rejectUnknownPath(request: RequestLine): void {
  const normalized = normalizePath(new URL(request.url).pathname)
  const path = normalized.replace(VERSION_PREFIX, '')
  const segment = readFirstSegment(path)
  const isKnown =
    INFERENCE_PATHS.has(path) || ACCOUNT_SEGMENTS.has(segment) || VERSION_PREFIX.test(normalized)
  if (!isKnown || OWN_SEGMENTS.has(segment.toLowerCase())) throw createUnknownPathError(request)
}

/** Returns the path to request from the upstream, without `/v1`. Throws a GatewayError if no client may request it. */
export function resolveForwardedPath(request: RequestLine): string {
  const { method, url } = request
  const { pathname } = new URL(url)
  const path = normalizePath(pathname).replace(VERSION_PREFIX, '')
  const isInference = INFERENCE_PATHS.has(path)
  if (readFirstSegment(path).toLowerCase() === 'models') throw createUnknownPathError(request)
  if (!PLAIN_PATH.test(path)) {
    throw new GatewayError(
      'invalid_value',
      `The path ${pathname} contains characters that are not forwarded, e.g. an encoded slash. Send it without them.`,
    )
  }
  if (isInference ? method !== 'POST' : !ACCOUNT_METHODS.has(method)) {
    throw new GatewayError('method_not_allowed', `${method} ${pathname} is not forwarded.`)
  }
  return path
}

/** Rejects a resolved path that belongs to the account of the upstream, if the caller may not use it. */
export function rejectAccountPath(
  path: string,
  caller: Caller,
  settings: AccountPathSettings,
): void {
  if (INFERENCE_PATHS.has(path) || mayUseAccount(readFirstSegment(path), caller, settings)) return
  if (ANTHROPIC_PATHS.has(path))
    throw createOtherApiError({ method: 'POST', url: `http://gateway/v1${path}` })
  throw new GatewayError(
    'insufficient_permissions',
    `/v1${path} belongs to the account of the upstream, which all clients of this gateway share. Its operator can open it by naming the API key in ACCOUNT_PATHS.`,
  )
}

/** True for a path of another API that generates text, like the chats and responses that the gateway serves. */
export function isTextGenerationPath(pathname: string): boolean {
  const path = normalizePath(pathname).replace(VERSION_PREFIX, '')
  return path === '/completions' || ANTHROPIC_PATHS.has(path)
}

export function createOtherApiError({ method, url }: RequestLine): GatewayError {
  return new GatewayError(
    'not_found',
    `${method} ${new URL(url).pathname} is not an endpoint of this gateway. Use POST /v1/chat/completions or POST /v1/responses, which serve the models of all upstreams.`,
  )
}

function createUnknownPathError({ method, url }: RequestLine): GatewayError {
  return new GatewayError('not_found', `Unknown request URL: ${method} ${new URL(url).pathname}.`)
}

function readFirstSegment(path: string): string {
  return path.split('/')[1] ?? ''
}

function mayUseAccount(
  segment: string,
  { tenant }: Caller,
  { ACCOUNT_PATHS: opened, BACKSTORY_KEYS: keys, ...users }: AccountPathSettings,
): boolean {
  if (opened !== 'auto') return opened.includes(tenant)
  if (ADMINISTRATION_SEGMENTS.has(segment.toLowerCase())) return false
  const hasUsers = users.OPEN_WEBUI_JWT_SECRET !== null || users.TRUST_USER_HEADERS === 'on'
  return listTenants(keys).length === 1 && !hasUsers
}
