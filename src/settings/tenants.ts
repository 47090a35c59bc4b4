/** Lists the tenants that the configured API keys define. */
import type { NamedApiKey } from './key-alias-and-policy-readers.ts'

/** The only tenant of a gateway without keys. */
export const LOCAL_TENANT = 'local'

/** Returns the names of all tenants. Several keys with the same name belong to one tenant. */
export function listTenants(keys: readonly NamedApiKey[]): readonly string[] {
  return keys.length === 0 ? [LOCAL_TENANT] : [...new Set(keys.map(({ name }) => name))]
}

/**
 * Returns the tenant for a command without a tenant argument, or `null` if there are several
 * tenants.
 */
export function findOnlyTenant(keys: readonly NamedApiKey[]): string | null {
  const [first = LOCAL_TENANT, ...others] = listTenants(keys)
  return others.length === 0 ? first : null
}
