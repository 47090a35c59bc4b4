/** What can be said of an upstream that serves Gemini. */
import type { JsonObject } from '../../core/json/json.ts'
import { countQuirk, flagQuirk, type QuirkTable } from '../quirks/quirk-value-kinds.ts'

export const QUIRKS: QuirkTable = {
  callIds: flagQuirk(
    'Takes ids of function calls back; Vertex AI refuses them. `true` if not said.',
  ),
  inlineLimitBytes: countQuirk('How much base64 one request may hold; 20 million if not said.'),
  jsonSchema: flagQuirk('Takes JSON Schemas as they are, so that they are sent as they are.'),
  prefill: flagQuirk("Its models continue their own words; if not said, the model's name decides."),
  remoteUrls: flagQuirk('Fetches media from any https address.'),
}

export interface GeminiQuirks {
  readonly jsonSchema: boolean
  readonly remoteUrls: boolean
  readonly inlineLimitBytes: number
  readonly callIds: boolean
  readonly prefill: boolean | null
}

export function readGeminiQuirks(quirks: JsonObject): GeminiQuirks {
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
