/**
 * True if an upstream accepts the reasoning of a model only after the same items that preceded it
 * when it was generated. The account's quirk `prefixCheck` decides, or the provider by the name of
 * the model.
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
