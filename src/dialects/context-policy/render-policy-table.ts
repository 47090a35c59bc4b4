/** Renders the README table of all policy fields, with the default of each preset. */
import { isObject } from '../../core/json/json.ts'
import { POLICY_NAMES, PRESETS, type ContextPolicy } from '../../core/context-policy.ts'
import { POLICY_FIELDS } from './policy-fields.ts'
import { toSnakeCase } from '../../core/text/snake-case.ts'

export function renderPolicyTable(): string {
  const rows = Object.entries(POLICY_FIELDS).flatMap(([section, fields]) =>
    Object.entries(fields).map(([field, { accepts, description }]) => {
      const defaults = POLICY_NAMES.map((policy) => renderValue(PRESETS[policy], section, field))
      const isSameForAll = defaults.every((value) => value === defaults[0])
      const shownDefault = isSameForAll
        ? defaults[0]
        : POLICY_NAMES.map((policy, index) => `${policy}: ${defaults[index]}`).join('<br>')
      return `| \`${section}.${toSnakeCase(field)}\` | ${accepts} | ${shownDefault} | ${description} |`
    }),
  )
  return ['| field | value | default | meaning |', '|---|---|---|---|', ...rows].join('\n')
}

/** Renders the value that a field has in a policy; renders `null` as a dash. */
function renderValue(policy: ContextPolicy, section: string, field: string): string {
  const fields: unknown = Object.entries(policy).find(([name]) => name === section)?.[1]
  const value: unknown = isObject(fields) ? fields[field] : undefined
  return value === null ? '–' : `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``
}
