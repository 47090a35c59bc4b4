/**
 * Reads and writes policy overrides: the policy fields that a request (field `backstory`), the
 * setting CONTEXT or a stored conversation sets. In JSON, field names have underscores:
 * `outputs.keep_turns`.
 */
import { POLICY_NAMES, type PolicyOverrides } from '../../core/context-policy.ts'
import { isObject, type JsonObject } from '../../core/json/json.ts'
import { toSnakeCase } from '../../core/text/snake-case.ts'
import { listFaults, readAllOrThrow } from '../../core/errors/read-all-or-throw.ts'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import {
  asObject,
  asOneOf,
  createInvalidFieldError,
  createUnknownFieldError,
} from '../checks/check-json-types.ts'
import type { PolicyField } from './field-kinds.ts'
import { POLICY_FIELDS } from './policy-fields.ts'

/**
 * Reads a policy name, or an object with sections of policy fields. Throws one GatewayError for all
 * faults: its message lists them, and its `param` is the path of the first.
 */
export function readPolicyOverrides(value: unknown, path: string): PolicyOverrides {
  const overrides = readStoredPolicyOverrides(value, path)
  const contradictions = findContradictions(overrides, path)
  if (contradictions.length > 0) throw joinFaults(contradictions)
  return overrides
}

/**
 * Reads overrides without checking whether numbers contradict each other. Stored overrides are read
 * in this way, because the gateway ignores stored overrides with an error: one contradiction would
 * switch off all of them.
 */
export function readStoredPolicyOverrides(value: unknown, path: string): PolicyOverrides {
  if (typeof value === 'string') return { policy: asPolicyName(value, path) }
  const entries = Object.entries(asObject(value, path))
  try {
    const sections = readAllOrThrow(entries, ([name, raw]) => readSection(name, raw, path))
    return Object.fromEntries(sections.flat())
  } catch (thrown) {
    throw joinFaults(listFaults(thrown))
  }
}

const asPolicyName = asOneOf(POLICY_NAMES)

/**
 * Joins several faults to one GatewayError. A fault that is not a GatewayError is a bug, and is
 * returned unchanged.
 */
function joinFaults(faults: readonly unknown[]): unknown {
  const errors = faults.filter((fault) => fault instanceof GatewayError)
  const [first] = errors
  if (first === undefined || errors.length < faults.length) {
    return faults.find((fault) => !(fault instanceof GatewayError))
  }
  if (errors.length === 1) return first
  const message = errors.map((error) => error.message).join(' ')
  return new GatewayError({ ...first.failure, message }, message, { cause: first })
}

/**
 * Returns an error for each pair of numbers that contradict each other in the same overrides, and
 * for a percentage in place of a share.
 *
 * Numbers in different overrides, e.g. in the setting CONTEXT and in a request, may contradict each
 * other: if the reserve is too large, half of the window is reserved.
 */
function findContradictions(
  { outputs, summaries, budget }: PolicyOverrides,
  path: string,
): readonly GatewayError[] {
  const { longerThan, head = 0, tail = 0 } = outputs ?? {}
  const { trigger, above = 0 } = summaries ?? {}
  const { window, reserve } = budget ?? {}
  const faults: GatewayError[] = []
  const remainingChars = head + tail
  if (longerThan !== undefined && remainingChars >= longerThan) {
    const reason = `must be more than \`head\` and \`tail\` together (${remainingChars}), but is ${longerThan}.`
    faults.push(createInvalidFieldError(`${path}.outputs.longer_than`, reason))
  }
  if (above > 1 && above < MIN_SUMMARY_TOKENS && trigger !== 'turns') {
    const share = above <= 100 ? `for ${above} %, write ${above / 100}` : 'for 64 %, write 0.64'
    const reason = `must be a share of the context window (${share}), or at least ${MIN_SUMMARY_TOKENS} tokens, but is ${above}. For a number of turns, set \`trigger\` to \`turns\` with it.`
    faults.push(createInvalidFieldError(`${path}.summaries.above`, reason))
  }
  if (typeof window === 'number' && typeof reserve === 'number' && reserve >= window) {
    const reason = `must be less than \`window\` (${window}), or nothing is left for the conversation, but is ${reserve}.`
    faults.push(createInvalidFieldError(`${path}.budget.reserve`, reason))
  }
  return faults
}

/**
 * The minimum of `summaries.above` in tokens. A smaller number above 1 is probably meant as a
 * percentage, e.g. 64.
 */
const MIN_SUMMARY_TOKENS = 1000

type Entry = readonly [string, unknown]
type PolicyFields = Readonly<Record<string, PolicyField<unknown>>>

const SECTIONS: Readonly<Record<string, PolicyFields>> = POLICY_FIELDS

/**
 * Reads a section, e.g. `window`. Returns a list with one pair of the section's name and its
 * fields, or an empty list if the section is `null` or absent.
 */
function readSection(name: string, raw: unknown, parentPath: string): readonly Entry[] {
  if (raw === null || raw === undefined) return []
  const path = `${parentPath}.${name}`
  if (name === 'policy') return [[name, asPolicyName(raw, path)]]
  const fields = Object.hasOwn(SECTIONS, name) ? SECTIONS[name] : undefined
  if (fields === undefined) {
    throw createUnknownFieldError(path, ['policy', ...Object.keys(SECTIONS)])
  }
  const entries = Object.entries(asObject(raw, path)).filter(([, value]) => value !== undefined)
  const values = readAllOrThrow(entries, ([field, value]) => readField(fields, field, value, path))
  return [[name, Object.fromEntries(values)]]
}

function readField(
  fields: PolicyFields,
  jsonName: string,
  raw: unknown,
  parentPath: string,
): Entry {
  const path = `${parentPath}.${jsonName}`
  const found = Object.entries(fields).find(([name]) => toSnakeCase(name) === jsonName)
  if (found === undefined) throw createUnknownFieldError(path, Object.keys(fields).map(toSnakeCase))
  const [name, field] = found
  return [name, field.read(raw, path)]
}

/**
 * Formats overrides as a request contains them: `{ window: { keepTurns: 1 } }` →
 * `{ window: { keep_turns: 1 } }`.
 */
export function formatPolicyOverrides(overrides: PolicyOverrides): JsonObject {
  const sections = Object.entries(overrides).map(([name, section]) => {
    return [name, isObject(section) ? formatSection(section) : section] as const
  })
  return Object.fromEntries(sections) as JsonObject
}

function formatSection(section: JsonObject): JsonObject {
  const fields = Object.entries(section).map(([name, value]) => [toSnakeCase(name), value] as const)
  return Object.fromEntries(fields)
}
