/** The policy of a request as it is told: by its name, with what differs from that, and who said so. */
import { PRESETS, type ContextPolicy, type PolicyOverrides } from '../core/context-policy.ts'
import type { Json, JsonObject } from '../core/json/json.ts'
import { toSnakeCase } from '../core/text/snake-case.ts'

export interface PolicyLevel {
  /** Who says it, as in `request`. */
  readonly by: string
  readonly wishes: PolicyOverrides | null
}

/**
 * `levels` in their order, the last one going before all others. What none of them says, as that a tool
 * is not offered where it could read nothing, is the gateway's.
 */
export function describePolicy(
  policy: ContextPolicy,
  levels: readonly PolicyLevel[],
): JsonObject & { readonly name: string } {
  const preset = PRESETS[policy.policy]
  const changes = SECTIONS.flatMap((section) => {
    const own = policy[section] as unknown as Section
    const usual = preset[section] as unknown as Section
    if (own === usual) return []
    return Object.entries(own).flatMap(([name, value]) => {
      // Most of it is the very value of the preset.
      if (value === usual[name] || JSON.stringify(value) === JSON.stringify(usual[name])) return []
      const by = levels.findLast(({ wishes }) => says(wishes, section, name))?.by ?? 'gateway'
      const field = `${section}.${toSnakeCase(name)}`
      return [{ field, value: value ?? null, preset: usual[name] ?? null, by }]
    })
  })
  const by = levels.findLast(({ wishes }) => wishes?.policy !== undefined)?.by ?? 'default'
  return { name: policy.policy, by, changes }
}

type Section = Readonly<Record<string, Json | undefined>>

/** All that has rules of its own, in its order. */
const SECTIONS = (Object.keys(PRESETS.retain) as readonly (keyof ContextPolicy)[]).filter(
  (name): name is Exclude<keyof ContextPolicy, 'policy'> => name !== 'policy',
)

function says(wishes: PolicyOverrides | null, section: string, name: string): boolean {
  const said = (wishes as Readonly<Record<string, unknown>> | null)?.[section]
  return typeof said === 'object' && said !== null && name in said
}
