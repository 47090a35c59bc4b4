/**
 * True if an upstream accepts a model's reasoning only after the prefix that it was generated on:
 * the account's `quirks.prefixCheck` decides, else the wire by the model's name.
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
