/**
 * Detects the client program from a request, and derives how its answer must be adapted.
 *
 * Open WebUI is recognized by its own `X-OpenWebUI-…` headers, which it sends if it is configured
 * to forward users, or by the `X-Backstory-…` headers of its connection, which it sends even with
 * empty values. Without such headers, its task requests are recognized by their prompts, and
 * `guess-open-webui-without-headers.ts` enables adaptations that do no harm to other clients.
 */
import type { ClientTraits } from '../../core/client/client-traits.ts'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { isObject, type Json, type JsonObject } from '../../core/json/json.ts'
import type { Settings } from '../../settings/read-settings.ts'
import { readAnswerMessageIds } from './read-answer-message-ids.ts'
import { readOptionalHeader } from './read-optional-header.ts'
import { isOpenWebUiTaskRequest } from './is-open-webui-task-request.ts'
import { needsShortLines } from './guess-open-webui-without-headers.ts'

export function detectClient(
  headers: Headers,
  body: JsonObject,
  { MARKERS: markers, REMEMBER: remembers }: Pick<Settings, 'MARKERS' | 'REMEMBER'>,
): ClientTraits {
  const isOpenWebUi = hasOpenWebUiHeader(headers)
  const isTask =
    readOptionalHeader(headers, 'x-backstory-task') !== null || isOpenWebUiTaskRequest(body)
  const answerMessage = isTask ? null : readAnswerMessageIds(headers)
  // With `REMEMBER=off` nothing is stored, so a reference would name no turn.
  const mayGetReference = remembers === 'on' && !isTask && requestsOneText(body)
  // Open WebUI sends an empty chat id from its Playground and its own API, which show a marker as text.
  const isOpenWebUiChat = isOpenWebUi && headers.get('x-backstory-chat') !== ''
  const namesBranch = typeof answerMessage?.parent === 'string'
  return {
    isOpenWebUi,
    dropsLongLines: isOpenWebUi || needsShortLines(headers),
    isTask,
    wantsFullStatus: isOpenWebUi && !isTask && wantsFullStatus(headers),
    receivesMarkers:
      mayGetReference &&
      (markers === 'always' || (markers === 'auto' && isOpenWebUiChat && !namesBranch)),
    marksOnlyAnswerEnds: isOpenWebUi && markers === 'auto',
    // Only its chat connections send them back.
    returnsReasoningReferences:
      mayGetReference && markers !== 'never' && isOpenWebUiChat && body['messages'] !== undefined,
    isTemporary:
      body['store'] !== true &&
      (isTemporaryChatId(headers, 'x-backstory-chat') ||
        isTemporaryChatId(headers, 'x-openwebui-chat-id')),
    answerMessage,
  }
}

/**
 * The headers that the README and `docker-compose.yml` configure for an Open WebUI connection.
 * `x-backstory-user` is not among them, because any client may send it.
 */
const CONNECTION_HEADERS: ReadonlySet<string> = new Set([
  'x-backstory-chat',
  'x-backstory-message',
  'x-backstory-user-message',
  'x-backstory-user-parent',
  'x-backstory-task',
])

function hasOpenWebUiHeader(headers: Headers): boolean {
  for (const name of headers.keys()) {
    if (name.startsWith('x-openwebui-') || CONNECTION_HEADERS.has(name)) return true
  }
  return false
}

/** Reads the header `x-backstory-status`, whose only value is `full`. */
function wantsFullStatus(headers: Headers): boolean {
  const value = readOptionalHeader(headers, STATUS_HEADER)
  if (value === null || value === 'full') return value !== null
  throw new GatewayError(
    'invalid_value',
    `Invalid value for the header ${STATUS_HEADER}. The only value is 'full'; leave the header out for fewer status lines.`,
  )
}

const STATUS_HEADER = 'x-backstory-status'

/**
 * True for an id such as `temporary:a1b2`, which Open WebUI gives to a chat that it does not save; until 0.10
 * it was `local:a1b2`. The ids of saved chats have no prefix, so that any prefix means a temporary chat. Only
 * channels have one, too, and are saved: `channel:` and a UUID.
 */
function isTemporaryChatId(headers: Headers, name: string): boolean {
  const prefix = /^([^:]+):/.exec(headers.get(name) ?? '')?.[1]
  return prefix !== undefined && prefix !== 'channel'
}

/**
 * True if the client requests one answer as text. JSON cannot contain a marker, and several answers
 * (`n`) cannot share one.
 */
function requestsOneText({ n, response_format: format, text }: JsonObject): boolean {
  if (typeof n === 'number' && n > 1) return false
  return !isJsonFormat(format) && !(isObject(text) && isJsonFormat(text['format']))
}

function isJsonFormat(format: Json | undefined): boolean {
  return isObject(format) && format['type'] !== 'text'
}
