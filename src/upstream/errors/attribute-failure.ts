/**
 * Attributes an error to the upstream that reported it, for clients and the log: removes the keys of its account, adds
 * the name of the upstream, and separates a rejected key of the gateway from a rejected key of the client. Every error
 * of an upstream passes here once.
 */
import { createFailure } from '../../core/errors/gateway-error.ts'
import {
  isObject,
  textOrEmpty,
  tryParseJsonObject,
  type Json,
  type JsonObject,
} from '../../core/json/json.ts'
import { patchObject } from '../../core/json/patch-object.ts'
import type { Failure } from '../../core/stream-event.ts'
import type { SseMessage } from '../../core/stream/sse.ts'
import { truncateFailureForStream } from '../../core/text/truncate-failure-for-stream.ts'
import { isModerationError, MODERATION_CODE } from '../../providers/errors/moderation-error.ts'
import { mapErrorCodeToStatus } from '../../providers/errors/map-error-code-to-status.ts'
import type { Account } from '../../providers/provider-interface.ts'
import { getAccountKeyRemover } from './remove-keys.ts'

export function attributeFailure(failure: Failure, account: Account): Failure {
  const { status, code, type, param } = failure
  const removeKeys = getAccountKeyRemover(account)
  const isDenied = isAccessDenied(status) && code !== MODERATION_CODE
  const message = attributeMessage(failure.message, account, isDenied ? status : null)
  if (isDenied) return truncateFailureForStream(createFailure(ACCESS_DENIED, message))
  return truncateFailureForStream({
    status,
    type: removeKeys(type),
    code: code === null ? null : removeKeys(code),
    message,
    param: param === null ? null : removeKeys(param),
  })
}

/**
 * Attributes the error in a message of a stream that is passed through. Returns the message itself if it has no error.
 */
export function attributeErrorMessage(message: SseMessage, account: Account): SseMessage {
  if (message.event !== 'error' && !HAS_ERROR.test(message.data)) return message
  const data = getAccountKeyRemover(account)(message.data)
  const json = tryParseJsonObject(data)
  if (json === null) return message
  const isError = [message.event, json['type'], json['object']].includes('error')
  const { response } = json
  const patched = patchObject(json, {
    ...(isError ? attributeFields(json, account) : {}),
    error: attributeError(json['error'], account),
    response: isObject(response)
      ? patchObject(response, { error: attributeError(response['error'], account) })
      : response,
  })
  // An `"error":{` may also belong to an item, e.g. to an MCP call.
  if (patched === json) return data === message.data ? message : { ...message, data }
  return { ...message, data: JSON.stringify(patched) }
}

/** Matches an error, but not `"error":null`, which every response object has. */
const HAS_ERROR = /"error"(?:\s*:\s*["{]|\s*[,}])/

function attributeError(error: Json | undefined, account: Account): Json | undefined {
  if (typeof error === 'string') return attributeMessage(error, account, null)
  return isObject(error) ? patchObject(error, attributeFields(error, account)) : error
}

/** Returns the fields of an error object that change. */
function attributeFields(error: JsonObject, account: Account): JsonObject {
  const { message, code, type } = error
  const cause = code ?? type
  const status = mapErrorCodeToStatus(typeof cause === 'number' ? `${cause}` : textOrEmpty(cause))
  const deniedStatus = isAccessDenied(status) && !isModerationError(error) ? status : null
  return {
    ...(typeof message === 'string'
      ? { message: attributeMessage(message, account, deniedStatus) }
      : {}),
    ...(deniedStatus === null ? {} : { code: ACCESS_DENIED }),
    // `error` is the type of an event, not of an error.
    ...(deniedStatus === null || type === 'error' ? {} : { type: 'server_error' }),
  }
}

const ACCESS_DENIED = 'upstream_access_denied'

function isAccessDenied(status: number | null): status is 401 | 403 {
  return status === 401 || status === 403
}

/** Returns `upstream openai: Overloaded`. The gateway's own sentences about an upstream do not need the name. */
function attributeMessage(message: string, account: Account, deniedStatus: number | null): string {
  const text = getAccountKeyRemover(account)(message)
  const named = text.startsWith('The upstream') ? text : `upstream ${account.name}: ${text}`
  return deniedStatus === null
    ? named
    : `${named} (${deniedStatus}: the upstream rejects the key or the access of the gateway, not your API key.)`
}
