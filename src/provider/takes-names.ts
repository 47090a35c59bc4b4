/** Whether the wire of an upstream has a field for who says a message, as far as its account knows. */
import type { Account } from './provider.ts'
import { PROVIDERS } from './providers.ts'

export function takesNames(account: Account): boolean {
  return PROVIDERS[account.wire].takesNames?.(account) ?? false
}
