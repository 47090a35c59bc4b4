/**
 * Adds values to an environment for variables that are not set, and from which UPSTREAMS takes an API key (`"apiKey":
 * "env:NAME"`). For commands that send nothing to an upstream, and therefore need no keys.
 */
import { isObject } from '../../core/json/json.ts'
import type { Environment } from '../../settings/scalar-readers.ts'

export function addMissingKeys(environment: Environment, configFile: unknown): Environment {
  const upstreams =
    environment['UPSTREAMS'] ?? (isObject(configFile) ? configFile['UPSTREAMS'] : '')
  const text = typeof upstreams === 'string' ? upstreams : JSON.stringify(upstreams ?? '')
  const names = [...text.matchAll(/"env:([^"\\]+)"/g)].map(([, name = '']) => name)
  const missing = names.filter((name) => isBlank(environment[name]))
  return {
    ...environment,
    ...Object.fromEntries(missing.map((name) => [name, 'no-key-is-set'])),
  }
}

function isBlank(value: unknown): boolean {
  return typeof value !== 'string' || value.trim() === ''
}
