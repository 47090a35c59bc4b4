/**
 * Reads what somebody wishes of a context: the field `backstory` of a request, the setting `CONTEXT`,
 * what is said of a conversation. What makes no sense is refused with its path.
 */
import { POLICY_NAMES, type PolicyName, type PolicyOverrides } from '../../core/context-policy.ts'
import { isObject, type JsonObject } from '../../core/json/json.ts'
import { toSnakeCase } from '../../core/text/snake-case.ts'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { asObject, asOneOf, asString, createUnknownFieldError } from '../checks/check-json-types.ts'
import { findContradictingNumbers } from './find-contradicting-numbers.ts'
import type { PolicyField } from './field-kinds.ts'
import { POLICY_FIELDS } from './policy-fields.ts'

/** A name alone is a policy. Throws a GatewayError that tells of every fault, at the place of the first. */
export function readPolicyOverrides(value: unknown, path: string): PolicyOverrides {
  const { wishes, faults } = readFields(value, path)
  throwAll(faults)
  throwAll(findContradictingNumbers(wishes, path))
  return wishes
}

/** What has been kept: what contradicts itself was let in before, and is as sensible as it was. */
export function readStoredPolicyOverrides(value: unknown, path: string): PolicyOverrides {
  const { wishes, faults } = readFields(value, path)
  throwAll(faults)
  return wishes
}

function throwAll(faults: readonly GatewayError[]): void {
  const [first, ...others] = faults
  if (first === undefined) return
  if (others.length === 0) throw first
  const message = faults.map((fault) => fault.message).join(' ')
  throw new GatewayError({ ...first.failure, message }, message, { cause: first })
}

function readFields(value: unknown, path: string) {
  const faults: GatewayError[] = []
  const wishes = tried(faults, (): PolicyOverrides => {
    if (typeof value === 'string') return { policy: asPolicy(value, path) }
    const said = asObject(value, path)
    const sections = Object.entries(said).map(([section, raw]) => {
      return tried(faults, () => readEntry(section, raw, path, faults))
    })
    return Object.fromEntries(sections.flatMap((section) => section ?? []))
  })
  return { wishes: wishes ?? {}, faults }
}

/** `null` for what makes no sense, which is one more fault. */
function tried<Read>(faults: GatewayError[], read: () => Read): Read | null {
  try {
    return read()
  } catch (fault) {
    if (!(fault instanceof GatewayError)) throw fault
    faults.push(fault)
    return null
  }
}

function readEntry(
  section: string,
  raw: unknown,
  path: string,
  faults: GatewayError[],
): readonly Entry[] {
  if (raw === null || raw === undefined) return []
  const place = `${path}.${section}`
  if (section === 'policy') return [['policy', asPolicy(raw, place)]]
  const table = Object.hasOwn(FIELDS, section) ? FIELDS[section] : undefined
  if (table === undefined) throw createUnknownFieldError(place, ['policy', ...Object.keys(FIELDS)])
  return [[section, readSection(table, asObject(raw, place), place, faults)]]
}

type Entry = readonly [string, unknown]

const asPolicy = (value: unknown, path: string): PolicyName =>
  asOneOf(POLICY_NAMES)(asString(value, path), path)

type Fields = Readonly<Record<string, PolicyField<unknown>>>

const FIELDS: Readonly<Record<string, Fields>> = POLICY_FIELDS

function readSection(
  fields: Fields,
  said: JsonObject,
  path: string,
  faults: GatewayError[],
): JsonObject {
  const values = Object.entries(said).flatMap(([written, raw]): readonly Entry[] => {
    if (raw === undefined) return []
    return tried(faults, () => [readField(fields, written, raw, path)]) ?? []
  })
  return Object.fromEntries(values) as JsonObject
}

function readField(fields: Fields, written: string, raw: unknown, path: string): Entry {
  const place = `${path}.${written}`
  const known = Object.keys(fields).find((field) => toSnakeCase(field) === written)
  const field = known === undefined ? undefined : fields[known]
  if (known === undefined || field === undefined) {
    throw createUnknownFieldError(place, Object.keys(fields).map(toSnakeCase))
  }
  return [known, field.read(raw, place)]
}

/** As they would be written in a request. */
export function formatPolicyOverrides(wishes: PolicyOverrides): JsonObject {
  return Object.fromEntries(
    Object.entries(wishes).map(([section, said]) => [
      section,
      isObject(said)
        ? Object.fromEntries(
            Object.entries(said).map(([field, value]) => [toSnakeCase(field), value]),
          )
        : said,
    ]),
  ) as JsonObject
}
