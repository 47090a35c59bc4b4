/**
 * Compares a request with the previous one, in the order in which a model reads them: tools, instructions,
 * messages. The provider has probably cached the prefix that is equal in both. The provider has to process
 * the rest again.
 */
import { isObject, type Json, type JsonObject } from '../../core/json/json.ts'
import { estimateTokens } from '../../core/text/estimate-tokens.ts'

export interface RequestComparison {
  /** Bytes before the first difference. */
  readonly equalPrefixBytes: number
  /** Estimated tokens before the first difference. */
  readonly equalPrefixTokens: number
  /** JSON path of the first difference, e.g. `['messages', 3, 'content']`; null if there is none. */
  readonly differencePath: JsonPath | null
  /** Number of equal characters at the start of the two strings at `differencePath`. */
  readonly differenceOffset: number
  /** True if the first difference is an entry after the end of the previous list, e.g. a new message. */
  readonly isContinuation: boolean
  /** True if the new request only adds to the last entry of the previous list, e.g. continues its text. */
  readonly isLastValueExtended: boolean
  /** True if the difference is in the last entry of the previous list. */
  readonly isInLastEntry: boolean
  /** The new string at `differencePath`; null if the value is no string. */
  readonly newText: string | null
}

export type JsonPath = readonly (string | number)[]

/** Request fields in the order in which a model reads them, whatever their order in the body. */
const PROMPT_FIELDS = [
  'tools',
  'systemInstruction',
  'system',
  'instructions',
  'messages',
  'input',
  'contents',
  'items',
] as const

/** Request fields with instructions, by wire: Gemini, Anthropic, OpenAI Responses. */
export const INSTRUCTION_FIELDS = ['systemInstruction', 'system', 'instructions'] as const

/**
 * Field that marks the end of a cached prefix. The gateway moves it in every request. The comparison
 * ignores it, because the provider still finds the prefix that was cached earlier.
 */
const CACHE_CONTROL_FIELD = 'cache_control'

export function compareRequests(before: JsonObject, now: JsonObject): RequestComparison {
  let [equalPrefixBytes, equalPrefixTokens] = [0, 0]
  for (const field of PROMPT_FIELDS) {
    const value = now[field]
    const oldList = toList(before[field])
    const newList = toList(value)
    for (const [index, entry] of newList.entries()) {
      const oldEntry = oldList[index]
      const text = toComparableText(entry)
      if (oldEntry !== undefined && toComparableText(oldEntry) === text) {
        equalPrefixBytes += encoder.encode(text).length
        equalPrefixTokens += estimateTokens(entry)
        continue
      }
      const entryPath = Array.isArray(value) ? [field, index] : [field]
      const prefix = { ...NO_DIFFERENCE, equalPrefixBytes, equalPrefixTokens }
      if (oldEntry === undefined)
        return { ...prefix, differencePath: entryPath, isContinuation: true }
      const isInLastEntry = index === oldList.length - 1
      return { ...prefix, ...findDifference(oldEntry, entry, entryPath, isInLastEntry) }
    }
    // If entries were removed, the difference is at the index of the first removed entry.
    if (oldList.length > newList.length) {
      const differencePath = [field, newList.length]
      return { ...NO_DIFFERENCE, equalPrefixBytes, equalPrefixTokens, differencePath }
    }
  }
  return { ...NO_DIFFERENCE, equalPrefixBytes, equalPrefixTokens }
}

const NO_DIFFERENCE = {
  differencePath: null,
  differenceOffset: 0,
  isContinuation: false,
  isLastValueExtended: false,
  isInLastEntry: false,
  newText: null,
}

/** Formats a JSON path: `['messages', 3, 'content']` → `messages[3].content`. */
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

/**
 * Finds the first difference of two list entries. Searches inside of their objects and lists as long as
 * both values are objects, or both are lists.
 */
function findDifference(before: Json, now: Json, entryPath: JsonPath, isInLastEntry: boolean) {
  const differencePath = [...entryPath]
  let [old, current]: [Json | undefined, Json | undefined] = [before, now]
  for (;;) {
    const step: string | number | null = findDifferingKey(old, current)
    if (step === null) break
    differencePath.push(step)
    old = childOf(old, step)
    current = childOf(current, step)
  }
  const differenceOffset = countEqualChars(old, current)
  const isExtended =
    old === undefined || (typeof old === 'string' && differenceOffset === old.length)
  const isLastValueExtended = isInLastEntry && isExtended
  const newText = typeof current === 'string' ? current : null
  return { differencePath, differenceOffset, isLastValueExtended, isInLastEntry, newText }
}

function childOf(value: Json | undefined, step: string | number): Json | undefined {
  if (Array.isArray(value)) return (value as readonly Json[])[Number(step)]
  return isObject(value) ? value[step] : undefined
}

/** Returns the first key or index whose values differ; null if the two are not both objects or both lists. */
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
