/**
 * Merges the headers of an upstream request: `defaults`, then the API key, then the headers that the
 * operator configured for the account. A later header replaces an earlier one of the same name.
 */
import type { Account } from '../providers/provider-interface.ts'
import { PROVIDERS } from '../providers/provider-registry.ts'

export function createUpstreamHeaders(
  account: Account,
  defaults: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> {
  return { ...defaults, ...PROVIDERS[account.wire].createHeaders(account), ...account.headers }
}
