/**
 * Reads and hashes the request header `Idempotency-Key`. Only hashes of the key and of the body are stored. The hash
 * of the body includes the key, so that it cannot confirm a guess of the body.
 */
import { digestText } from '../../core/text/digest.ts'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import type { BackgroundAnswerRequest } from '../start-background-response.ts'
import { createKeyReusedError, IDEMPOTENCY_KEY_HEADER } from './idempotency-errors.ts'

export interface HashedKey {
  /** A hash of the tenant, the user and the key. */
  readonly keyId: string
  /** A hash that is equal only for requests with the same endpoint and body. */
  readonly fingerprint: string
}

/** Reads the header; null if the request does not have it. Throws a GatewayError if the key is invalid. */
export function readIdempotencyKey(headers: Headers): string | null {
  const key = headers.get(IDEMPOTENCY_KEY_HEADER)
  if (key === null || KEY_PATTERN.test(key)) return key
  throw new GatewayError(
    'invalid_value',
    `Invalid header '${IDEMPOTENCY_KEY_HEADER}': expected 1 to 255 printable ASCII characters, e.g. a UUID.`,
    { param: IDEMPOTENCY_KEY_HEADER },
  )
}

const KEY_PATTERN = /^[\x20-\x7e]{1,255}$/

/**
 * Hashes a key together with the request that has it. The fields `stream` and `stream_options` are left out of the
 * fingerprint, because a retry may request the answer in the other form.
 */
export function hashIdempotencyKey(
  key: string,
  { caller, dialect, clientRequest }: BackgroundAnswerRequest,
): HashedKey {
  const { stream: _stream, stream_options: _options, ...body } = clientRequest.body
  return {
    keyId: digestText(JSON.stringify([caller.tenant, caller.user, key])),
    fingerprint: digestText(JSON.stringify([key, dialect.name, body])),
  }
}

/** Throws an error if a key was used for another request. */
export function requireSameFingerprint(
  used: Pick<HashedKey, 'fingerprint'>,
  { fingerprint }: HashedKey,
): void {
  if (used.fingerprint !== fingerprint) throw createKeyReusedError()
}
