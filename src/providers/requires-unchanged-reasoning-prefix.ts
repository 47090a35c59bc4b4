/**
 * True if an upstream accepts a model's reasoning only after the same items that preceded it when
 * it was generated. The account's `quirks.prefixCheck` decides; if it is not set, the wire decides
 * by the model's name.
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
