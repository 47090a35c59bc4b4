/**
 * Reads everything that can be set (`settings-table.ts`). Values come from the environment, or from a
 * JSON file (`BACKSTORY_CONFIG`) under the same names; the environment wins. All faults are reported at
 * once.
 */
import { isObject } from '../core/json/json.ts'
import { listFaultMessages, type Environment } from './scalar-readers.ts'
import type { ContextSetting, NamedApiKey } from './structured-readers.ts'
import { SETTINGS_TABLE, type Setting } from './settings-table.ts'
import { LOCAL_TENANT, listTenants } from './tenants.ts'

export type Settings = {
  readonly [Name in keyof typeof SETTINGS_TABLE]: (typeof SETTINGS_TABLE)[Name] extends Setting<
    infer Value
  >
    ? Value
    : never
}

/** Throws an Error that names every fault. `file` is the parsed JSON of BACKSTORY_CONFIG. */
export function readSettings(environment: Environment, file: unknown = {}): Settings {
  const faults: string[] = []
  if (!isObject(file)) faults.push('BACKSTORY_CONFIG must hold a JSON object.')
  const fromFile = isObject(file) ? file : {}
  for (const name of Object.keys(fromFile)) {
    if (!(name in SETTINGS_TABLE)) faults.push(`${name} is not a setting (in BACKSTORY_CONFIG).`)
  }
  const settings: Record<string, unknown> = {}
  for (const [name, setting] of Object.entries<Setting<unknown>>(SETTINGS_TABLE)) {
    const raw = environment[name] ?? fromFile[name]
    try {
      settings[name] = isUnset(raw) ? setting.default : setting.read(raw, environment)
    } catch (thrown) {
      faults.push(...listFaultMessages(thrown).map((fault) => `${name} ${fault}`))
    }
  }
  faults.push(...strangers(settings))
  if (faults.length > 0) throw new Error(`The settings have faults:\n- ${faults.join('\n- ')}`)
  return settings as Settings
}

/** An empty variable is none, and neither is the blank line that is left of an empty file. */
function isUnset(raw: unknown): boolean {
  return raw === undefined || (typeof raw === 'string' && raw.trim() === '')
}

/** A wish for a key that nobody has would never be heard. */
function strangers({
  CONTEXT: context,
  BACKSTORY_KEYS: keys,
}: Record<string, unknown>): readonly string[] {
  // Of keys that could not be read it is not known whose they are.
  if (keys === undefined) return []
  const { keys: wishes = {} } = (context ?? {}) as Partial<ContextSetting>
  const known = new Set([LOCAL_TENANT, ...listTenants(keys as readonly NamedApiKey[])])
  return Object.keys(wishes)
    .filter((name) => !known.has(name))
    .map(
      (name) => `CONTEXT says something of the key "${name}", which BACKSTORY_KEYS does not name.`,
    )
}

/** The table of the README. */
export function renderSettingsTable(): string {
  const rows = Object.entries<Setting<unknown>>(SETTINGS_TABLE).map(([name, setting]) => {
    const shown = setting.shown ?? `\`${String(setting.default)}\``
    return `| \`${name}\` | ${shown} | ${setting.sentence} |`
  })
  return ['| name | default | meaning |', '|---|---|---|', ...rows].join('\n')
}
