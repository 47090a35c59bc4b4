/**
 * Compares two requests in the order in which a model reads them. The provider has probably cached the
 * equal beginning, and reads everything after the first difference again.
 */
import { isObject, type Json, type JsonObject } from '../../core/json/json.ts'
import { estimateTokens } from '../../core/text/estimate-tokens.ts'
import { CACHE_CONTROL_FIELD, PROMPT_FIELDS } from './prompt-field-order.ts'

export interface RequestComparison {
  /** Size of the equal beginning in bytes. */
  readonly sameBytes: number
  /** Size of the equal beginning in estimated tokens. */
  readonly sameTokens: number
  /** Position of the first difference; null if there is none. */
  readonly path: JsonPath | null
  /** Number of equal characters in the text at that position. */
  readonly offset: number
  /** True if the first request ended before this position, so the second continues it. */
  readonly isNew: boolean
  /** True if the last value of the first request is a prefix of the second request's value. */
  readonly isGrown: boolean
  /** True if the difference is in the last entry of the first request. */
  readonly isOfLast: boolean
  /** Text of the second request at that position; null for other values. */
  readonly text: string | null
}

export type JsonPath = readonly (string | number)[]

export function compareRequests(before: JsonObject, now: JsonObject): RequestComparison {
  let [bytes, tokens] = [0, 0]
  for (const field of PROMPT_FIELDS) {
    const value = now[field]
    const oldList = toList(before[field])
    const newList = toList(value)
    for (const [index, entry] of newList.entries()) {
      const oldEntry = oldList[index]
      const text = toComparableText(entry)
      if (oldEntry !== undefined && toComparableText(oldEntry) === text) {
        bytes += encoder.encode(text).length
        tokens += estimateTokens(entry)
        continue
      }
      const root = Array.isArray(value) ? [field, index] : [field]
      const same = { sameBytes: bytes, sameTokens: tokens }
      if (oldEntry === undefined) return { ...same, ...NO_TEXT, path: root, isNew: true }
      const { path, ...rest } = findDifference(oldEntry, entry)
      const isOfLast = index === oldList.length - 1
      const isGrown = isOfLast && rest.isGrown
      return { ...same, ...rest, path: [...root, ...path], isNew: false, isGrown, isOfLast }
    }
    // Removed entries differ at the index of the first one.
    if (oldList.length > newList.length) {
      const path = [field, newList.length]
      return { sameBytes: bytes, sameTokens: tokens, path, ...NO_TEXT }
    }
  }
  return { sameBytes: bytes, sameTokens: tokens, path: null, ...NO_TEXT }
}

const NO_TEXT = { offset: 0, isNew: false, isGrown: false, isOfLast: false, text: null }

/** Formats a path as `messages[3].content[0].text`. */
export function formatJsonPath(path: JsonPath): string {
  return path.reduce<string>(
    (text, step) =>
      typeof step === 'number' ? `${text}[${step}]` : text === '' ? step : `${text}.${step}`,
    '',
  )
}

const encoder = new TextEncoder()

function toList(value: Json | undefined): readonly Json[] {
  if (value === undefined || value === null) return []
  return Array.isArray(value) ? (value as readonly Json[]) : [value]
}

function toComparableText(value: Json): string {
  return JSON.stringify(value, (key, inner: Json) =>
    key === CACHE_CONTROL_FIELD ? undefined : inner,
  )
}

type Difference = Pick<RequestComparison, 'offset' | 'isGrown' | 'text'> & {
  readonly path: JsonPath
}

/** Finds the first difference of two values, as deep in their fields and lists as possible. */
function findDifference(before: Json, now: Json): Difference {
  const path: (string | number)[] = []
  let [old, current]: [Json | undefined, Json | undefined] = [before, now]
  for (;;) {
    const step: string | number | null = findDifferingKey(old, current)
    if (step === null) break
    path.push(step)
    old = childOf(old, step)
    current = childOf(current, step)
  }
  const offset = countEqualChars(old, current)
  const isGrown = old === undefined || (typeof old === 'string' && offset === old.length)
  return { path, offset, isGrown, text: typeof current === 'string' ? current : null }
}

function childOf(value: Json | undefined, step: string | number): Json | undefined {
  if (Array.isArray(value)) return (value as readonly Json[])[Number(step)]
  return isObject(value) ? value[step] : undefined
}

/** Returns the first key or index whose values differ; null if the values have no common structure. */
function findDifferingKey(
  old: Json | undefined,
  current: Json | undefined,
): string | number | null {
  const differs = (step: string | number): boolean => {
    const [one, other] = [childOf(old, step), childOf(current, step)]
    if (one === undefined || other === undefined) return one !== other
    return toComparableText(one) !== toComparableText(other)
  }
  if (Array.isArray(old) && Array.isArray(current)) {
    const index = current.findIndex((_, position) => differs(position))
    return index < 0 ? null : index
  }
  if (!isObject(old) || !isObject(current)) return null
  return Object.keys(current).find((name) => name !== CACHE_CONTROL_FIELD && differs(name)) ?? null
}

function countEqualChars(old: Json | undefined, current: Json | undefined): number {
  if (typeof old !== 'string' || typeof current !== 'string') return 0
  let count = 0
  const maxCount = Math.min(old.length, current.length)
  while (count < maxCount && old.charCodeAt(count) === current.charCodeAt(count)) count += 1
  return count
}
