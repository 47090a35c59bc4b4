/**
 * Reads what somebody wishes of a context: the field `backstory` of a request, the setting `CONTEXT`,
 * what is said of a conversation. What makes no sense is refused with its path.
 */
import { POLICY_NAMES, type PolicyName, type Wishes } from '../conversation/policy.ts'
import { isObject, type JsonObject } from '../conversation/json.ts'
import { writtenName } from '../conversation/written-name.ts'
import { asObject, asOneOf, asString } from './check.ts'
import { unknownField, type Field } from './wish-field.ts'
import { WISH_FIELDS } from './wish-fields.ts'

/** A name alone is a policy. */
export function readWishes(value: unknown, path: string): Wishes {
  if (typeof value === 'string') return { policy: asPolicy(value, path) }
  const said = asObject(value, path)
  const sections = Object.entries(said).flatMap(([section, raw]): readonly Entry[] => {
    if (raw === null || raw === undefined) return []
    const place = `${path}.${section}`
    if (section === 'policy') return [['policy', asPolicy(raw, place)]]
    const table = Object.hasOwn(FIELDS, section) ? FIELDS[section] : undefined
    if (table === undefined) throw unknownField(place, ['policy', ...Object.keys(FIELDS)])
    return [[section, readSection(table, asObject(raw, place), place)]]
  })
  return Object.fromEntries(sections)
}

type Entry = readonly [string, unknown]

const asPolicy = (value: unknown, path: string): PolicyName =>
  asOneOf(POLICY_NAMES)(asString(value, path), path)

type Fields = Readonly<Record<string, Field<unknown>>>

const FIELDS: Readonly<Record<string, Fields>> = WISH_FIELDS

function readSection(fields: Fields, said: JsonObject, path: string): JsonObject {
  const values = Object.entries(said).flatMap(([written, raw]): readonly Entry[] => {
    if (raw === undefined) return []
    const place = `${path}.${written}`
    const known = Object.keys(fields).find((field) => writtenName(field) === written)
    const field = known === undefined ? undefined : fields[known]
    if (known === undefined || field === undefined) {
      throw unknownField(place, Object.keys(fields).map(writtenName))
    }
    return [[known, field.read(raw, place)]]
  })
  return Object.fromEntries(values) as JsonObject
}

/** As they would be written in a request. */
export function writtenWishes(wishes: Wishes): JsonObject {
  return Object.fromEntries(
    Object.entries(wishes).map(([section, said]) => [
      section,
      isObject(said)
        ? Object.fromEntries(
            Object.entries(said).map(([field, value]) => [writtenName(field), value]),
          )
        : said,
    ]),
  ) as JsonObject
}
