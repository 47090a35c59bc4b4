/** Lists the tenants. Each name in BACKSTORY_KEYS is a tenant with its own separate data. */
import type { NamedApiKey } from './key-alias-and-policy-readers.ts'

/** Name of the only tenant of a gateway without API keys. */
export const LOCAL_TENANT = 'local'

/** Returns the names of all tenants, each once. Several keys with the same name belong to one tenant. */
export function listTenants(keys: readonly NamedApiKey[]): readonly string[] {
  return keys.length === 0 ? [LOCAL_TENANT] : [...new Set(keys.map(({ name }) => name))]
}

/**
 * Returns the only tenant, for a command that was started without a tenant argument; null if there
 * are several.
 */
export function findOnlyTenant(keys: readonly NamedApiKey[]): string | null {
  const [first = LOCAL_TENANT, ...others] = listTenants(keys)
  return others.length === 0 ? first : null
}
