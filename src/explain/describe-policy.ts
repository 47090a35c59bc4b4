/**
 * Describes a request's policy: its preset, each field that differs from the preset, and the level
 * that set it.
 */
import { PRESETS, type ContextPolicy, type PolicyOverrides } from '../core/context-policy.ts'
import type { Json, JsonObject } from '../core/json/json.ts'
import { toSnakeCase } from '../core/text/snake-case.ts'

export interface PolicyLevel {
  /** Name of the level, e.g. `request`. */
  readonly by: string
  readonly overrides: PolicyOverrides | null
}

/**
 * Lists the fields that differ from the preset, and which level set each. If several did, the last
 * counts; if none did, `gateway` (e.g. it withheld a tool that would have nothing to read).
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
      // Most values are the preset's own objects, so comparing JSON is rarely needed.
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

/** Names of all policy sections. */
const SECTIONS = (Object.keys(PRESETS.retain) as readonly (keyof ContextPolicy)[]).filter(
  (name): name is Exclude<keyof ContextPolicy, 'policy'> => name !== 'policy',
)

function setsField(overrides: PolicyOverrides | null, section: string, name: string): boolean {
  const rules = (overrides as Readonly<Record<string, unknown>> | null)?.[section]
  return typeof rules === 'object' && rules !== null && name in rules
}
