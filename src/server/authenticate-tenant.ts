/**
 * Finds the tenant of an API key. Keys are compared as hashes, so that the duration of the
 * comparison reveals nothing about a key.
 */
import { hash } from 'node:crypto'
import type { Caller } from '../core/client/caller.ts'
import { isLocalWebPage } from './runtime/is-loopback-address.ts'
import { GatewayError } from '../core/errors/gateway-error.ts'
import type { NamedApiKey } from '../settings/key-alias-and-policy-readers.ts'
import { LOCAL_TENANT } from '../settings/list-tenants.ts'

export type Authenticator = (headers: Headers, isLocal: () => boolean) => Caller

export function createTenantAuthenticator(keys: readonly NamedApiKey[]): Authenticator {
  const tenants = new Map(keys.map(({ name, key }) => [hashKey(key), name]))
  return (headers, isLocal) => {
    if (tenants.size === 0) {
      if (isLocal()) return { tenant: LOCAL_TENANT, user: null }
      const message =
        'This gateway has no keys and therefore serves its own machine only. Set BACKSTORY_KEYS=name:key to let others in.'
      throw new GatewayError('keys_required', message)
    }
    const key = readApiKey(headers)
    const tenant = tenants.get(hashKey(key))
    if (tenant !== undefined) return { tenant, user: null }
    throw new GatewayError(
      'invalid_api_key',
      key === ''
        ? 'No API key was sent. Send one of the keys in BACKSTORY_KEYS as `Authorization: Bearer KEY` or `x-api-key: KEY`.'
        : 'Incorrect API key provided. It is not one of the keys in BACKSTORY_KEYS.',
    )
  }
}

/** Reads the key of a request; `''` without one. Clients of Anthropic send it as `x-api-key`. */
function readApiKey(headers: Headers): string {
  const authorization = headers.get('authorization') ?? ''
  if (authorization !== '') return authorization.replace(/^Bearer\s+/i, '')
  return headers.get('x-api-key') ?? ''
}

function hashKey(key: string): string {
  return hash('sha256', key, 'base64')
}

/**
 * Rejects requests from web pages of other machines if there are no keys. Without keys the gateway
 * serves only its own machine, but a browser on this machine can send requests for any web page.
 */
export function rejectForeignPages(headers: Headers, keys: readonly NamedApiKey[]): void {
  if (keys.length > 0 || !isFromForeignPage(headers)) return
  const message =
    'This gateway has no keys and therefore serves its own machine only, but not the web pages that are shown on it. Set BACKSTORY_KEYS=name:key to let them in.'
  throw new GatewayError('keys_required', message)
}

/** Images and scripts of a page are requested without `Origin`, but browsers add `Sec-Fetch-Site`. */
function isFromForeignPage(headers: Headers): boolean {
  const origin = headers.get('origin')
  if (origin === null) return headers.get('sec-fetch-site') === 'cross-site'
  return !isLocalWebPage(origin)
}
