/**
 * Reads settings with a structure: API keys, storage keys, model aliases and context policies. The
 * functions throw an Error whose message continues the setting's name (`must be …`), or an
 * AggregateError of several.
 */
import type { PolicyOverrides } from '../core/context-policy.ts'
import { readAllOrThrow } from '../core/errors/read-all-or-throw.ts'
import { describeJsonFault } from '../core/json/describe-json-fault.ts'
import { isObject } from '../core/json/json.ts'
import { readPolicyOverrides } from '../dialects/context-policy/parse-and-format-overrides.ts'
import { readWithErrorPrefix, readCommaList } from './scalar-readers.ts'

export interface NamedApiKey {
  readonly name: string
  readonly key: string
}

export interface StorageKeySetting {
  readonly kid: string
  /** The 32 bytes of the key. */
  readonly key: Uint8Array
}

export function readApiKeys(raw: unknown): readonly NamedApiKey[] {
  const keys = readSecretList(raw, parseApiKey, 'must be name:key,name:key; ')
  if (new Set(keys.map(({ key }) => key)).size < keys.length) {
    throw new Error('has the same key twice; each belongs to one name.')
  }
  return keys
}

/** Parses an entry of BACKSTORY_KEYS: `ada:sk:1` → name `ada`, key `sk:1`. Returns null if it is invalid. */
function parseApiKey(entry: string): NamedApiKey | null {
  const colon = entry.indexOf(':')
  const [name, key] = [entry.slice(0, colon), entry.slice(colon + 1)]
  return colon < 1 || key === '' ? null : { name, key }
}

export function readStorageKeys(raw: unknown): readonly StorageKeySetting[] {
  const keys = readSecretList(
    raw,
    parseStorageKey,
    'must be kid:key,kid:key, each kid of letters, digits and ._- and each key of 32 bytes as base64 or hex; ',
    ' `openssl rand -base64 32` makes a key.',
  )
  if (new Set(keys.map(({ kid }) => kid)).size < keys.length) {
    throw new Error('has the same kid twice; each names one key.')
  }
  return keys
}

function parseStorageKey(entry: string): StorageKeySetting | null {
  const [, kid, keyText] = /^([\w.-]{1,32}):(\S+)$/.exec(entry) ?? []
  const key = keyText === undefined ? null : decodeStorageKey(keyText)
  return kid === undefined || key === null ? null : { kid, key }
}

/**
 * Reads a comma-separated list of secrets. Throws an Error that names invalid entries by their number,
 * because their text must stay secret.
 */
function readSecretList<Entry>(
  raw: unknown,
  parse: (entry: string) => Entry | null,
  requirement: string,
  help = '',
): readonly Entry[] {
  const entries = readCommaList(raw).map(parse)
  const faulty = entries.flatMap((entry, index) => (entry === null ? [index + 1] : []))
  if (faulty.length > 0) {
    const [noun, verb] = faulty.length === 1 ? ['entry', 'is'] : ['entries', 'are']
    throw new Error(`${requirement}${noun} ${faulty.join(', ')} ${verb} not.${help}`)
  }
  return entries.filter((entry) => entry !== null)
}

/** Decodes a storage key from 64 hex digits or from base64. Returns null for any other text. */
function decodeStorageKey(text: string): Uint8Array | null {
  if (/^[0-9a-f]{64}$/i.test(text)) return Uint8Array.from(Buffer.from(text, 'hex'))
  // Node decodes base64url, with `-` and `_`, as `base64` too.
  return /^[\w+/-]{43}=?$/.test(text) ? Uint8Array.from(Buffer.from(text, 'base64')) : null
}

export function readModelAliases(raw: unknown): Readonly<Record<string, readonly string[]>> {
  const fault = new Error('must be a JSON object of names, each with a model or a list of models.')
  const json: unknown = typeof raw === 'string' ? parseJsonOrThrow(raw, fault) : raw
  if (!isObject(json)) throw fault
  const entries = Object.entries(json).map(([name, models]) => {
    const list: readonly unknown[] = Array.isArray(models) ? models : [models]
    if (list.length === 0 || !list.every((model) => typeof model === 'string')) throw fault
    return [name, list] as const
  })
  return Object.fromEntries(entries)
}

/** The operator's policy overrides: for all requests, by model pattern (`qwen*`), and by name of the API key. */
export interface ContextSetting {
  readonly all: PolicyOverrides
  readonly models: Readonly<Record<string, PolicyOverrides>>
  readonly keys: Readonly<Record<string, PolicyOverrides>>
}

/**
 * Reads the setting CONTEXT: the name of a policy for all requests, e.g. `lean`, or JSON with overrides,
 * e.g. `{"models": {"qwen*": "lean"}}`.
 */
export function readContextSetting(raw: unknown): ContextSetting {
  const isJson = typeof raw === 'string' && raw.trimStart().startsWith('{')
  const fault = new Error('must be the name of a policy, or a JSON object.')
  const json: unknown = isJson ? parseJsonOrThrow(raw, fault) : raw
  if (!isObject(json)) return { all: readOverrides(json, 'policy'), models: {}, keys: {} }
  const { models = {}, keys = {}, ...all } = json
  const fields = readAllOrThrow(
    [
      ['all', () => readOverrides(all, 'CONTEXT')],
      ['models', () => readOverridesByName(models, 'models')],
      ['keys', () => readOverridesByName(keys, 'keys')],
    ] as const,
    ([name, read]) => [name, read()] as const,
  )
  return Object.fromEntries(fields) as unknown as ContextSetting
}

function readOverridesByName(
  value: unknown,
  path: string,
): Readonly<Record<string, PolicyOverrides>> {
  if (!isObject(value)) throw new Error(`has \`${path}\` that are not an object.`)
  const entries = readAllOrThrow(Object.entries(value), ([name, overrides]) => {
    return [name, readOverrides(overrides, `${path}.${name}`)] as const
  })
  return Object.fromEntries(entries)
}

function readOverrides(value: unknown, path: string): PolicyOverrides {
  return readWithErrorPrefix('makes no sense:', () => readPolicyOverrides(value, path))
}

export function parseJsonOrThrow(text: string, fault: Error): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new Error(`${fault.message} As JSON, ${describeJsonFault(text)}.`)
  }
}
