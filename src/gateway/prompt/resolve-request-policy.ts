/**
 * Resolves the context policy of a request from all overrides. If several override the same field, the last one in
 * this order counts: settings for all requests, for the model, for the API key; conversation; request.
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
  sources: PolicySources,
  settings: Settings,
): ContextPolicy {
  return resolvePolicy(
    listPolicyOverrides(model, sources, settings).map(({ overrides }) => overrides),
  )
}

/** The policy overrides in a request and in its history. */
export interface PolicySources {
  readonly clientRequest: Pick<ClientRequest, 'policyOverrides'>
  readonly history: Pick<LoadedHistory, 'policyOverrides'>
}

interface OverridesWithSource {
  /** The source of the overrides: `settings`, `model`, `key`, `conversation` or `request`. `explain` shows it. */
  readonly by: string
  readonly overrides: PolicyOverrides | null
}

/** Lists all overrides with their sources. An entry takes precedence over those before it. */
export function listPolicyOverrides(
  model: string,
  { clientRequest, history }: PolicySources,
  settings: Settings,
): readonly OverridesWithSource[] {
  const { all, models, keys } = settings.CONTEXT
  const modelPattern = Object.keys(models).find((pattern) => matchesModelPattern(pattern, model))
  const keyOverrides = Object.values(keys)
  return [
    { by: 'settings', overrides: all },
    { by: 'settings', overrides: readSeparateSettings(settings) },
    { by: 'model', overrides: modelPattern === undefined ? null : (models[modelPattern] ?? null) },
    ...history.policyOverrides.map((overrides) => ({
      by: keyOverrides.includes(overrides) ? 'key' : 'conversation',
      overrides,
    })),
    { by: 'request', overrides: clientRequest.policyOverrides },
  ]
}

/** Returns the overrides from settings for one policy field each, e.g. `HISTORY_MAX_ITEMS`; null if none is set. */
function readSeparateSettings(settings: Settings): PolicyOverrides | null {
  const {
    HISTORY_MAX_ITEMS: items,
    TOOL_OUTPUT_RETENTION_TURNS: turns,
    PERSIST_REASONING: keep,
  } = settings
  if (items === null && turns === null && keep !== 'next_reply') return null
  return {
    ...(items === null ? {} : { window: { items } }),
    ...(turns === null
      ? {}
      : { outputs: turns === 'off' ? { keepTurns: null } : buildOutputRules(turns) }),
    ...(keep === 'next_reply' ? { reasoning: { keep } } : {}),
  }
}

/**
 * Builds the rules that retain the tool outputs of recent rounds (`turns` in policies). The limit between old and recent
 * rounds moves up to 10 rounds at a time.
 */
function buildOutputRules(turns: number): Partial<OutputRules> {
  return { keepTurns: turns, step: Math.max(1, Math.min(10, turns)) }
}
