/**
 * Reads all settings of `settings-table.ts` from the environment and from the JSON file BACKSTORY_CONFIG,
 * with the same names in both. The environment takes precedence. One error lists all faults.
 */
import { isObject } from '../core/json/json.ts'
import { errorMessage } from '../core/errors/gateway-error.ts'
import { listFaults } from '../core/errors/read-all-or-throw.ts'
import type { Environment } from './scalar-readers.ts'
import type { ContextSetting, NamedApiKey } from './key-alias-and-policy-readers.ts'
import { SETTINGS_TABLE, type Setting } from './settings-table.ts'
import { LOCAL_TENANT, listTenants } from './list-tenants.ts'

export type Settings = {
  readonly [Name in keyof typeof SETTINGS_TABLE]: (typeof SETTINGS_TABLE)[Name] extends Setting<
    infer Value
  >
    ? Value
    : never
}

/**
 * Returns all settings, or throws an Error that lists every fault. `configFile` is the parsed JSON of
 * BACKSTORY_CONFIG. `runtimeDefaults`: defaults that differ from those of the table.
 */
export function readSettings(
  environment: Environment,
  configFile: unknown = {},
  runtimeDefaults: Partial<Settings> = {},
): Settings {
  const faults: string[] = []
  if (!isObject(configFile)) faults.push('BACKSTORY_CONFIG must hold a JSON object.')
  const fromFile = isObject(configFile) ? configFile : {}
  for (const name of Object.keys(fromFile)) {
    if (!(name in SETTINGS_TABLE) && name !== SCHEMA_FIELD)
      faults.push(`${name} is not a setting (in BACKSTORY_CONFIG).`)
  }
  const defaults: Record<string, unknown> = { ...TABLE_DEFAULTS, ...runtimeDefaults }
  const settings: Record<string, unknown> = {}
  for (const [name, setting] of Object.entries<Setting<unknown>>(SETTINGS_TABLE)) {
    const raw = environment[name] ?? fromFile[name]
    try {
      settings[name] = isUnset(raw) ? defaults[name] : setting.read(raw, environment)
    } catch (thrown) {
      faults.push(...listFaults(thrown).map((fault) => `${name} ${errorMessage(fault)}`))
    }
  }
  faults.push(...findUnknownContextKeys(settings))
  if (faults.length > 0) throw new Error(`The settings have faults:\n- ${faults.join('\n- ')}`)
  return settings as Settings
}

/** Names the JSON Schema by which an editor checks the file. */
const SCHEMA_FIELD = '$schema'

const TABLE_DEFAULTS = Object.fromEntries(
  Object.entries<Setting<unknown>>(SETTINGS_TABLE).map(([name, setting]) => [
    name,
    setting.default,
  ]),
)

/**
 * True for the raw value of a setting that is not set. A blank text, e.g. of `PORT=`, counts as not set.
 */
function isUnset(raw: unknown): boolean {
  return raw === undefined || (typeof raw === 'string' && raw.trim() === '')
}

/**
 * Returns a fault for each API key name in CONTEXT that is not in BACKSTORY_KEYS, because the
 * overrides under such a name would never apply.
 */
function findUnknownContextKeys({
  CONTEXT: context,
  BACKSTORY_KEYS: keys,
}: Record<string, unknown>): readonly string[] {
  // If BACKSTORY_KEYS itself has a fault, the names of the keys are unknown and cannot be checked.
  if (keys === undefined) return []
  const { keys: overridesByKey = {} } = (context ?? {}) as Partial<ContextSetting>
  const known = new Set([LOCAL_TENANT, ...listTenants(keys as readonly NamedApiKey[])])
  return Object.keys(overridesByKey)
    .filter((name) => !known.has(name))
    .map(
      (name) => `CONTEXT has a policy for the key "${name}", which BACKSTORY_KEYS does not name.`,
    )
}

/** Renders the table of all settings for the README. */
export function renderSettingsTable(): string {
  const rows = Object.entries<Setting<unknown>>(SETTINGS_TABLE).map(([name, setting]) => {
    const shown = setting.shownDefault ?? `\`${String(setting.default)}\``
    return `| \`${name}\` | ${shown} | ${setting.description} |`
  })
  return ['| name | default | meaning |', '|---|---|---|', ...rows].join('\n')
}
