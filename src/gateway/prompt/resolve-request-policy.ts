/**
 * The policy of a request: what the operator says of all contexts, of this model, of this key, what
 * is said of the conversation, and what the request says itself, each going before those in front.
 */
import type { ClientRequest } from '../../core/client-request.ts'
import {
  resolvePolicy,
  type ContextPolicy,
  type OutputRules,
  type PolicyOverrides,
} from '../../core/context-policy.ts'
import type { Settings } from '../../settings/read-settings.ts'
import { matchesModelPattern } from '../../upstream/accounts-and-model-routing.ts'
import type { LoadedHistory } from '../history/loaded-history.ts'

export function resolveRequestPolicy(
  model: string,
  wishing: PolicySources,
  settings: Settings,
): ContextPolicy {
  return resolvePolicy(listPolicyLevels(model, wishing, settings).map(({ wishes }) => wishes))
}

/** Who may say something of it. */
export interface PolicySources {
  readonly clientRequest: Pick<ClientRequest, 'policyOverrides'>
  readonly history: Pick<LoadedHistory, 'policyOverrides'>
}

/** Who says what, the last one going before all others. */
export function listPolicyLevels(
  model: string,
  { clientRequest, history }: PolicySources,
  settings: Settings,
): readonly { readonly by: string; readonly wishes: PolicyOverrides | null }[] {
  const { all, models, keys } = settings.CONTEXT
  const ofModel = Object.keys(models).find((pattern) => matchesModelPattern(pattern, model))
  const ofKeys = Object.values(keys)
  return [
    { by: 'settings', wishes: all },
    { by: 'settings', wishes: inSettingsOfTheirOwn(settings) },
    { by: 'model', wishes: ofModel === undefined ? null : (models[ofModel] ?? null) },
    ...history.policyOverrides.map((said) => ({
      by: ofKeys.includes(said) ? 'key' : 'conversation',
      wishes: said,
    })),
    { by: 'request', wishes: clientRequest.policyOverrides },
  ]
}

/** Three wishes have settings of their own, by the names that they have had elsewhere; most say nothing. */
function inSettingsOfTheirOwn(settings: Settings): PolicyOverrides | null {
  const {
    HISTORY_MAX_ITEMS: items,
    TOOL_OUTPUT_RETENTION_TURNS: turns,
    PERSIST_REASONING: keep,
  } = settings
  if (items === null && turns === null && keep !== 'next_reply') return null
  return {
    ...(items === null ? {} : { window: { items } }),
    ...(turns === null ? {} : { outputs: turns === 'off' ? { keepTurns: null } : keeping(turns) }),
    ...(keep === 'next_reply' ? { reasoning: { keep } } : {}),
  }
}

/** Who wants few turns whole does not want them whole for many more. */
function keeping(turns: number): Partial<OutputRules> {
  return { keepTurns: turns, step: Math.max(1, Math.min(10, turns)) }
}
