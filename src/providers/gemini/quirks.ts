/** What can be said of an upstream that serves Gemini. */
import type { JsonObject } from '../../core/json/json.ts'
import { count, flag, type QuirkTable } from '../quirks/quirk-value-kinds.ts'

export const QUIRKS: QuirkTable = {
  callIds: flag('Takes ids of function calls back; Vertex AI refuses them. `true` if not said.'),
  inlineLimitBytes: count('How much base64 one request may hold; 20 million if not said.'),
  jsonSchema: flag('Takes JSON Schemas as they are, so that they are sent as they are.'),
  prefill: flag("Its models continue their own words; if not said, the model's name decides."),
  remoteUrls: flag('Fetches media from any https address.'),
}

export interface Quirks {
  readonly jsonSchema: boolean
  readonly remoteUrls: boolean
  readonly inlineLimitBytes: number
  readonly callIds: boolean
  readonly prefill: boolean | null
}

export function readQuirks(quirks: JsonObject): Quirks {
  const limit = quirks['inlineLimitBytes']
  const prefill = quirks['prefill']
  return {
    jsonSchema: quirks['jsonSchema'] === true,
    remoteUrls: quirks['remoteUrls'] === true,
    inlineLimitBytes: typeof limit === 'number' ? limit : 20_000_000,
    callIds: quirks['callIds'] !== false,
    prefill: typeof prefill === 'boolean' ? prefill : null,
  }
}
