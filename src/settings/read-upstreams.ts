/**
 * Reads the setting UPSTREAMS, a list of accounts. Throws an AggregateError with the faults of all entries,
 * e.g. `entry 1 needs a "name".`
 */
import { readAllOrThrow } from '../core/errors/read-all-or-throw.ts'
import { isObject, type JsonObject } from '../core/json/json.ts'
import { WIRE_NAMES, type Account } from '../providers/provider-interface.ts'
import { isStringList } from '../providers/quirks/quirk-value-kinds.ts'
import { validateQuirks } from '../providers/quirks/validate-quirks.ts'
import { parseJsonOrThrow } from './key-alias-and-policy-readers.ts'
import { readWithErrorPrefix, type Environment } from './scalar-readers.ts'
import { readHeaderName, readHeaderValue, readUrl } from './url-and-header-readers.ts'

export function readUpstreams(raw: unknown, environment: Environment): readonly Account[] {
  const list: unknown = typeof raw === 'string' ? parseJsonOrThrow(raw, NOT_A_LIST) : raw
  if (!Array.isArray(list)) throw NOT_A_LIST
  return readAllOrThrow(list, (entry: unknown, index) =>
    readWithErrorPrefix(`entry ${index + 1}`, () => readAccount(entry, environment)),
  )
}

const NOT_A_LIST = new Error('must be a JSON list of upstreams.')

function readAccount(entry: unknown, environment: Environment): Account {
  if (!isObject(entry)) throw new Error('must be an object.')
  const unknownFields = Object.keys(entry).filter((name) => !Object.hasOwn(FIELD_READERS, name))
  const fields = readAllOrThrow(
    Object.entries(FIELD_READERS),
    ([name, read]) => [name, read(entry, environment)],
    unknownFields.map((name) => new Error(`has no field "${name}".`)),
  )
  return Object.fromEntries(fields) as Account
}

/** One reader for each field of an entry. It throws an Error such as `needs a "name".` if the field is invalid. */
const FIELD_READERS: {
  readonly [Field in keyof Account]: (entry: JsonObject, environment: Environment) => Account[Field]
} = {
  name({ name }) {
    if (typeof name === 'string' && name !== '') return name
    throw new Error('needs a "name".')
  },
  wire(entry) {
    const wire = findWire(entry)
    if (wire !== undefined) return wire
    throw new Error(`needs a "wire" of ${WIRE_NAMES.join(', ')}.`)
  },
  baseUrl(entry) {
    if (findWire(entry) === 'demo') return 'demo://built-in'
    const { baseUrl } = entry
    if (typeof baseUrl !== 'string') throw new Error('needs a "baseUrl".')
    return readWithErrorPrefix('has a "baseUrl" that', () => readUrl(baseUrl))
  },
  apiKey({ apiKey = null }, environment) {
    if (apiKey === null) return null
    if (typeof apiKey !== 'string') throw new Error('has an "apiKey" that is not a text.')
    if (!apiKey.startsWith('env:'))
      return readWithErrorPrefix('has an "apiKey" that', () => readHeaderValue(apiKey))
    const key = environment[apiKey.slice('env:'.length)]
    return readWithErrorPrefix(`takes its apiKey from ${apiKey}, which`, () => {
      if (typeof key === 'string' && key.trim() !== '') return readHeaderValue(key)
      throw new Error('is not set. Set it, or remove the entry.')
    })
  },
  models({ models = ['*'] }) {
    if (isStringList(models)) return models
    throw new Error('has "models" that are not a list of texts.')
  },
  headers({ headers = {} }) {
    if (!isObject(headers) || !isStringList(Object.values(headers))) {
      throw new Error('has "headers" that are not texts by name.')
    }
    const read = readAllOrThrow(Object.entries(headers), ([name, value]) =>
      readWithErrorPrefix(`has a header ${JSON.stringify(name)} that`, () => [
        readHeaderName(name),
        readHeaderValue(value),
      ]),
    )
    return Object.fromEntries(read) as Account['headers']
  },
  quirks(entry) {
    const { quirks = {} } = entry
    if (!isObject(quirks)) throw new Error('has "quirks" that are not an object.')
    const wire = findWire(entry)
    const faults = wire === undefined ? [] : validateQuirks(wire, quirks)
    if (faults.length === 0) return quirks
    throw new Error(`has quirks that make no sense: ${faults.join(' ')}`)
  },
}

function findWire({ wire }: JsonObject): Account['wire'] | undefined {
  return WIRE_NAMES.find((name) => name === wire)
}
