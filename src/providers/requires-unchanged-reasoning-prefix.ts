/**
 * Whether an upstream holds a model's reasoning to the prefix that it was made on: the account says so
 * (`quirks.prefixCheck`), else its wire knows the model.
 */
import type { Account, Provider } from './provider-interface.ts'

export function requiresUnchangedReasoningPrefix(
  { quirks }: Account,
  provider: Provider,
  model: string,
): boolean {
  const { prefixCheck } = quirks
  if (typeof prefixCheck === 'boolean') return prefixCheck
  return provider.bindsReasoningToPrefix?.(model) ?? false
}
