/** Lists the tenants that the configured API keys define. */
import type { NamedApiKey } from './structured-readers.ts'

/** Whose everything is where there are no keys. */
export const LOCAL_TENANT = 'local'

/** All that there are, by name. */
export function listTenants(keys: readonly NamedApiKey[]): readonly string[] {
  return keys.length === 0 ? [LOCAL_TENANT] : [...new Set(keys.map(({ name }) => name))]
}

/** Whose something is if nobody says it; `null` where there are several. */
export function findOnlyTenant(keys: readonly NamedApiKey[]): string | null {
  const [first = LOCAL_TENANT, ...others] = listTenants(keys)
  return others.length === 0 ? first : null
}
