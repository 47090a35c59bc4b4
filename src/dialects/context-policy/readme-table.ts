/** All that can be wished of a context, as the table of the README. */
import { isObject } from '../../core/json/json.ts'
import { POLICY_NAMES, PRESETS, type ContextPolicy } from '../../core/context-policy.ts'
import { POLICY_FIELDS } from './policy-fields.ts'
import { toSnakeCase } from '../../core/text/snake-case.ts'

export function renderPolicyTable(): string {
  const rows = Object.entries(POLICY_FIELDS).flatMap(([section, fields]) =>
    Object.entries(fields).map(([field, { what, sentence }]) => {
      const defaults = POLICY_NAMES.map((policy) => shown(PRESETS[policy], section, field))
      const same = defaults.every((value) => value === defaults[0])
      const told = same
        ? defaults[0]
        : POLICY_NAMES.map((policy, at) => `${policy}: ${defaults[at]}`).join('<br>')
      return `| \`${section}.${toSnakeCase(field)}\` | ${what} | ${told} | ${sentence} |`
    }),
  )
  return ['| field | value | default | meaning |', '|---|---|---|---|', ...rows].join('\n')
}

function shown(policy: ContextPolicy, section: string, field: string): string {
  const fields: unknown = Object.entries(policy).find(([name]) => name === section)?.[1]
  const value: unknown = isObject(fields) ? fields[field] : undefined
  return value === null ? '–' : `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``
}
