/**
 * Reads the settings that have a shape of their own: addresses, keys, names for models. A fault is
 * an Error whose message completes "NAME …".
 */
import { isObject } from '../core/json/json.ts'
import type { PolicyOverrides } from '../core/context-policy.ts'
import { readPolicyOverrides } from '../dialects/context-policy/parse-and-format-overrides.ts'
import { errorMessage } from '../core/errors/gateway-error.ts'
import { readCommaList, readText } from './scalar-readers.ts'
import { parseDatabaseUrl } from '../store/database/database-url.ts'

type Raw = unknown

export interface NamedApiKey {
  readonly name: string
  readonly key: string
}

export interface StorageKeySetting {
  readonly kid: string
  /** 32 bytes. */
  readonly key: Uint8Array
}

export function readUrl(raw: Raw): string {
  const said = typeof raw === 'string' ? raw.trim() : ''
  // Of what an address can hold, so much goes into a request as it stands.
  if (URL.canParse(said) && /^(https?|demo):[\x21-\xFF]*$/.test(said)) {
    return said.replace(/\/+$/, '')
  }
  throw new Error(
    `must be an address that begins with http:// or https://, not ${JSON.stringify(raw)}.`,
  )
}

export function readDatabaseUrl(raw: Raw): string {
  const url = readText(raw)
  parseDatabaseUrl(url)
  return url
}

export function readApiKeys(raw: Raw): readonly NamedApiKey[] {
  const keys = entriesOf(raw, namedKey, 'must be name:key,name:key; ')
  if (new Set(keys.map(({ key }) => key)).size < keys.length) {
    throw new Error('has the same key twice; each belongs to one name.')
  }
  return keys
}

function namedKey(pair: string): NamedApiKey | null {
  const colon = pair.indexOf(':')
  const [name, key] = [pair.slice(0, colon), pair.slice(colon + 1)]
  return colon < 1 || key === '' ? null : { name, key }
}

export function readStorageKeys(raw: Raw): readonly StorageKeySetting[] {
  const keys = entriesOf(
    raw,
    storageKey,
    'must be kid:key,kid:key, each kid of letters, digits and ._- and each key of 32 bytes as base64 or hex; ',
    ' `openssl rand -base64 32` makes a key.',
  )
  if (new Set(keys.map(({ kid }) => kid)).size < keys.length) {
    throw new Error('has the same kid twice; each names one key.')
  }
  return keys
}

function storageKey(pair: string): StorageKeySetting | null {
  const [, kid, words] = /^([\w.-]{1,32}):(\S+)$/.exec(pair) ?? []
  const key = words === undefined ? null : bytesOfKey(words)
  return kid === undefined || key === null ? null : { kid, key }
}

/** The entries themselves are secrets and stay out of the message. */
function entriesOf<Entry>(
  raw: Raw,
  read: (pair: string) => Entry | null,
  wanted: string,
  help = '',
): readonly Entry[] {
  const entries = readCommaList(raw).map(read)
  const faulty = entries.flatMap((entry, at) => (entry === null ? [at + 1] : []))
  if (faulty.length > 0) {
    const named = faulty.length === 1 ? 'entry' : 'entries'
    const which = `${named} ${faulty.join(', ')} ${faulty.length === 1 ? 'is' : 'are'} not.`
    throw new Error(`${wanted}${which}${help}`)
  }
  return entries.filter((entry) => entry !== null)
}

/** `null` if it is not what 32 bytes look like. */
function bytesOfKey(words: string): Uint8Array | null {
  if (/^[0-9a-f]{64}$/i.test(words)) {
    return Uint8Array.from({ length: 32 }, (_, at) =>
      Number.parseInt(words.slice(2 * at, 2 * at + 2), 16),
    )
  }
  if (!/^[\w+/-]{43}=?$/.test(words)) return null
  const base64 = words.replaceAll('-', '+').replaceAll('_', '/').slice(0, 43)
  return Uint8Array.from(atob(base64), (char) => char.charCodeAt(0))
}

export function readModelAliases(raw: Raw): Readonly<Record<string, readonly string[]>> {
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

/** What the operator says of contexts: of all, of those for some models, of those of some keys. */
export interface ContextSetting {
  readonly all: PolicyOverrides
  readonly models: Readonly<Record<string, PolicyOverrides>>
  readonly keys: Readonly<Record<string, PolicyOverrides>>
}

export function readContextSetting(raw: Raw): ContextSetting {
  const isJson = typeof raw === 'string' && raw.trimStart().startsWith('{')
  const json: unknown = isJson ? parseJsonOrThrow(raw, NOT_A_CONTEXT) : raw
  if (!isObject(json)) {
    const faults: string[] = []
    const all = wishesIn(json, 'policy', faults)
    throwNonsense(faults)
    return { all, models: {}, keys: {} }
  }
  const { models = {}, keys = {}, ...all } = json
  const faults: string[] = []
  const read = {
    all: wishesIn(all, 'CONTEXT', faults),
    models: wishesByName(models, 'models', faults),
    keys: wishesByName(keys, 'keys', faults),
  }
  throwNonsense(faults)
  return read
}

const NOT_A_CONTEXT = new Error('must be the name of a policy, or a JSON object.')

function wishesByName(
  said: unknown,
  path: string,
  faults: string[],
): Readonly<Record<string, PolicyOverrides>> {
  if (!isObject(said)) throw new Error(`has \`${path}\` that are not an object.`)
  const entries = Object.entries(said).map(([name, wishes]) => {
    return [name, wishesIn(wishes, `${path}.${name}`, faults)] as const
  })
  return Object.fromEntries(entries)
}

function wishesIn(said: unknown, path: string, faults: string[]): PolicyOverrides {
  try {
    return readPolicyOverrides(said, path)
  } catch (fault) {
    faults.push(errorMessage(fault))
    return {}
  }
}

function throwNonsense(faults: readonly string[]): void {
  if (faults.length > 0) throw new Error(`makes no sense: ${faults.join(' ')}`)
}

/** JSON, or the fault that it is none. */
export function parseJsonOrThrow(raw: string, fault: Error): unknown {
  try {
    return JSON.parse(raw)
  } catch {
    throw fault
  }
}
