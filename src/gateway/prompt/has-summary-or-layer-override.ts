/**
 * Whether anybody says anything of a part of the policy. No preset switches it on, and hardly any
 * request asks for it: that is told here without making a policy.
 */
import type { PolicyOverrides } from '../../core/context-policy.ts'
import type { Settings } from '../../settings/read-settings.ts'
import type { PolicySources } from './resolve-request-policy.ts'

export function hasSummaryOrLayerOverride(
  part: 'summaries' | 'layers',
  { clientRequest, history }: PolicySources,
  { CONTEXT: { all, models } }: Settings,
): boolean {
  const saysSo = (said: PolicyOverrides | null): boolean => said?.[part] !== undefined
  return (
    saysSo(clientRequest.policyOverrides) ||
    saysSo(all) ||
    history.policyOverrides.some(saysSo) ||
    Object.values(models).some(saysSo)
  )
}
