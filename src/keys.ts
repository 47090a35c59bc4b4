/** Who is asking: the tenant that a key belongs to. Keys are compared as hashes. */
import { hash } from 'node:crypto'
import { isLoopback } from './edge/loopback.ts'
import { GatewayError } from './errors.ts'
import type { NamedKey } from './read-shaped-setting.ts'

export interface Caller {
  /** Everything that is kept belongs to a tenant and is found by it alone. */
  readonly tenant: string
  /** Where one is known, what is kept is this user's, and is found by nobody else of the tenant. */
  readonly user: string | null
}

/** Whose everything is where there are no keys. */
export const LOCAL = 'local'

/** All that there are, by name. */
export function tenantsOf(keys: readonly NamedKey[]): readonly string[] {
  return keys.length === 0 ? [LOCAL] : [...new Set(keys.map(({ name }) => name))]
}

/** Whose something is if nobody says it; `null` where there are several. */
export function onlyTenant(keys: readonly NamedKey[]): string | null {
  const [first = LOCAL, ...others] = tenantsOf(keys)
  return others.length === 0 ? first : null
}

export type Doorkeeper = (authorization: string | null, isLocal: () => boolean) => Caller

export function doorkeeper(keys: readonly NamedKey[]): Doorkeeper {
  const tenants = new Map(keys.map(({ name, key }) => [hashed(key), name]))
  return (authorization, isLocal) => {
    if (tenants.size === 0) {
      if (isLocal()) return { tenant: LOCAL, user: null }
      throw new GatewayError(
        'keys_required',
        'This gateway has no keys and therefore serves its own machine only. Set BACKSTORY_KEYS=name:key to let others in.',
      )
    }
    const key = authorization?.replace(/^Bearer\s+/i, '') ?? ''
    const tenant = tenants.get(hashed(key))
    if (tenant !== undefined) return { tenant, user: null }
    throw new GatewayError(
      'invalid_api_key',
      key === ''
        ? 'No API key was sent. Send one of the keys in BACKSTORY_KEYS as `Authorization: Bearer KEY`.'
        : 'Incorrect API key provided. It is not one of the keys in BACKSTORY_KEYS.',
    )
  }
}

function hashed(key: string): string {
  return hash('sha256', key, 'base64')
}

/**
 * Without keys only this machine is served, and a browser on it counts as such. But any web page that
 * it shows may send requests to this machine.
 */
export function refuseForeignPages(origin: string | null, keys: readonly NamedKey[]): void {
  if (keys.length > 0 || origin === null) return
  if (URL.canParse(origin) && isLoopback(new URL(origin).host)) return
  throw new GatewayError(
    'keys_required',
    'This gateway has no keys and therefore serves its own machine only, but not the web pages that are shown on it. Set BACKSTORY_KEYS=name:key to let them in.',
  )
}
