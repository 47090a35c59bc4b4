/**
 * Validates a working memory (a JSON object that the model maintains) against the JSON Schema of
 * the policy. The validator is imported only when it is needed.
 */
import type { JsonObject } from '../../core/json/json.ts'

/**
 * Checks a working memory. Returns a description of the errors, with which the model can correct
 * the memory; `null` if the memory is valid.
 */
export type WorkingMemoryCheck = (memory: JsonObject) => string | null

export async function createWorkingMemoryCheck(schema: JsonObject): Promise<WorkingMemoryCheck> {
  const { Validator } = await import('@cfworker/json-schema')
  const validator = new Validator(schema, '2020-12', false)
  return (memory) => {
    const { valid, errors } = validator.validate(memory)
    if (valid) return null
    // An error of one of these JSON Schema keywords only repeats that a nested value is invalid.
    // The nested value has an error of its own.
    const faults = errors
      .filter(({ keyword }) => !PARENT_KEYWORDS.has(keyword))
      .map(({ instanceLocation, error }) => `${instanceLocation}: ${error}`)
    return faults.slice(0, MAX_ERRORS).join(' ').slice(0, MAX_MESSAGE_CHARS)
  }
}

const PARENT_KEYWORDS = new Set(['properties', 'items', 'prefixItems', 'allOf'])
const MAX_ERRORS = 5
const MAX_MESSAGE_CHARS = 1000
