/** Holds a working memory to its schema. What does that is loaded only where there is one. */
import type { JsonObject } from '../../core/json/json.ts'

/** What is wrong with a memory, in words for whoever wrote it; `null` if it is as it should be. */
export type WorkingMemoryCheck = (memory: JsonObject) => string | null

export async function createWorkingMemoryCheck(schema: JsonObject): Promise<WorkingMemoryCheck> {
  const { Validator } = await import('@cfworker/json-schema')
  const validator = new Validator(schema, '2020-12', false)
  return (memory) => {
    const { valid, errors } = validator.validate(memory)
    if (valid) return null
    // These only say that there is something wrong further down.
    const faults = errors
      .filter(({ keyword }) => !POINTING.has(keyword))
      .map(({ instanceLocation, error }) => `${instanceLocation}: ${error}`)
    return faults.slice(0, MOST_TOLD).join(' ').slice(0, MOST_CHARS)
  }
}

const POINTING: ReadonlySet<string> = new Set(['properties', 'items', 'prefixItems', 'allOf'])
const MOST_TOLD = 5
const MOST_CHARS = 1000
