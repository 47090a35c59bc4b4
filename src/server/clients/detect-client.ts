/**
 * Who asks, by what the request shows of it, and what follows from that for the answer.
 *
 * Open WebUI is known by its own headers, which it sends where it forwards users, or by those that
 * its connection to this gateway is given, which come even when they are empty. An Open WebUI with
 * neither looks like any other client. Its housekeeping can be told by its shape, and what is harmless
 * to others is done for whoever may be one (`guess-open-webui.ts`).
 */
import type { ClientTraits } from '../../core/client/client-traits.ts'
import { isObject, type Json, type JsonObject } from '../../core/json/json.ts'
import type { Settings } from '../../settings/read-settings.ts'
import { readOptionalHeader } from './read-optional-header.ts'
import { isOpenWebUiTaskRequest } from './is-open-webui-task-request.ts'
import { needsShortLines } from './guess-open-webui.ts'

export function detectClient(
  headers: Headers,
  body: JsonObject,
  { MARKERS: markers, REMEMBER: remembers }: Pick<Settings, 'MARKERS' | 'REMEMBER'>,
): ClientTraits {
  const isOpenWebUi = comesFromOpenWebUi(headers)
  const isTask =
    readOptionalHeader(headers, 'x-backstory-task') !== null || isOpenWebUiTaskRequest(body)
  const getsMarkers = markers === 'always' || (markers === 'auto' && isOpenWebUi)
  return {
    isOpenWebUi,
    hasShortLines: isOpenWebUi || needsShortLines(headers),
    isTask,
    // What nobody will look for need not be named.
    receivesMarkers: getsMarkers && remembers === 'on' && !isTask && isOneText(body),
    isTemporary: isLocal(headers, 'x-backstory-chat') || isLocal(headers, 'x-openwebui-chat-id'),
  }
}

/**
 * The names that a connection's headers have in the README and in `docker-compose.yml`, but the user's:
 * any client may say who asks, and one that says nothing else is no chat.
 */
const OF_OUR_CONNECTION: ReadonlySet<string> = new Set(
  ['chat', 'message', 'user-message', 'user-parent', 'task'].map((name) => `x-backstory-${name}`),
)

function comesFromOpenWebUi(headers: Headers): boolean {
  for (const name of headers.keys()) {
    if (name.startsWith('x-openwebui-') || OF_OUR_CONNECTION.has(name)) return true
  }
  return false
}

/** Open WebUI names a chat that it does not keep after the tab that it is shown in. */
function isLocal(headers: Headers, name: string): boolean {
  return headers.get(name)?.startsWith('local:') === true
}

/** JSON has no place for a marker, and one marker cannot stand in several answers. */
function isOneText({ n, response_format: format, text }: JsonObject): boolean {
  if (typeof n === 'number' && n > 1) return false
  return !isJsonFormat(format) && !(isObject(text) && isJsonFormat(text['format']))
}

function isJsonFormat(format: Json | undefined): boolean {
  return isObject(format) && format['type'] !== 'text'
}
