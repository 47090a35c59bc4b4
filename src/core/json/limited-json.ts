/**
 * Parses JSON that is inside a string, e.g. the arguments of a call. Limits its number of values and its depth:
 * the limits of the body do not apply inside strings, and a parsed value takes many times the memory of its text.
 * JSON beyond the limits counts as malformed.
 */
import { isObject, tryParseJson, type JsonObject } from './json.ts'
import { MAX_JSON_DEPTH, measureJsonAtOnce } from './measure-json.ts'

/** Maximum number of values of one text. */
export const MAX_TEXT_VALUES = 20_000

/** Maximum number of values of all texts that share a budget. */
export const MAX_TOTAL_VALUES = 200_000

/** The number of values that texts may still have together, e.g. all calls and outputs of one request. */
export interface JsonBudget {
  values: number
}

export function createJsonBudget(): JsonBudget {
  return { values: MAX_TOTAL_VALUES }
}

/** Parses JSON; returns null if the text is malformed, exceeds a limit, or is `null` itself. */
export function tryParseLimitedJson(text: string, budget?: JsonBudget): unknown {
  return isWithinLimits(utf8.encode(text), budget) ? tryParseJson(text) : null
}

/** Parses a JSON object; returns null if the text is malformed, exceeds a limit, or is another JSON value. */
export function tryParseLimitedJsonObject(text: string, budget?: JsonBudget): JsonObject | null {
  const json = tryParseLimitedJson(text, budget)
  return isObject(json) ? json : null
}

/** True if the JSON has at most 500 levels and few enough values. Then takes these values from the budget. */
export function isWithinLimits(json: Uint8Array, budget: JsonBudget = createJsonBudget()): boolean {
  const maxValues = Math.min(MAX_TEXT_VALUES, budget.values)
  const { values, exceededLimit } = measureJsonAtOnce(json, {
    maxValues,
    maxItems: Infinity,
    maxDepth: MAX_JSON_DEPTH,
  })
  if (exceededLimit !== null) return false
  budget.values -= values
  return true
}

const utf8 = new TextEncoder()
