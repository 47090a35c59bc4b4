/** Lists the tenants that the configured API keys define. */
import type { NamedKey } from './structured-readers.ts'

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
