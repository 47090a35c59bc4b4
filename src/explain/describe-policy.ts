/**
 * Describes a request's policy: its preset, each field that differs from the preset, and who set the field:
 * the settings, the model, the API key, the conversation or the request.
 */
import { PRESETS, type ContextPolicy, type PolicyOverrides } from '../core/context-policy.ts'
import type { Json, JsonObject } from '../core/json/json.ts'
import { toSnakeCase } from '../core/text/snake-case.ts'

export interface PolicyLevel {
  /** Who set the overrides, e.g. `settings`, `conversation` or `request`. */
  readonly by: string
  readonly overrides: PolicyOverrides | null
}

/**
 * Returns the preset of the policy, the fields that differ from it, and who set each field. `levels`: the
 * overrides in order of precedence, lowest first. A field that is in no overrides was changed by the
 * `gateway`: it sets `outputs.expand` to false, for example, if the tool `expand_output` is not offered.
 */
export function describePolicy(
  policy: ContextPolicy,
  levels: readonly PolicyLevel[],
): JsonObject & { readonly name: string } {
  const preset = PRESETS[policy.policy]
  const changes = SECTIONS.flatMap((section) => {
    const rules = policy[section] as unknown as Section
    const defaults = preset[section] as unknown as Section
    if (rules === defaults) return []
    return Object.entries(rules).flatMap(([name, value]) => {
      // Most values are the very objects of the preset, so the slow comparison as JSON is rarely needed.
      const preset = defaults[name]
      if (value === preset || JSON.stringify(value) === JSON.stringify(preset)) return []
      const by =
        levels.findLast(({ overrides }) => setsField(overrides, section, name))?.by ?? 'gateway'
      const field = `${section}.${toSnakeCase(name)}`
      return [{ field, value: value ?? null, preset: preset ?? null, by }]
    })
  })
  const by = levels.findLast(({ overrides }) => overrides?.policy !== undefined)?.by ?? 'default'
  return { name: policy.policy, by, changes }
}

type Section = Readonly<Record<string, Json | undefined>>

/** Names of all policy sections, e.g. `window` and `outputs`. */
const SECTIONS = (Object.keys(PRESETS.retain) as readonly (keyof ContextPolicy)[]).filter(
  (name): name is Exclude<keyof ContextPolicy, 'policy'> => name !== 'policy',
)

function setsField(overrides: PolicyOverrides | null, section: string, name: string): boolean {
  const rules = (overrides as Readonly<Record<string, unknown>> | null)?.[section]
  return typeof rules === 'object' && rules !== null && name in rules
}
