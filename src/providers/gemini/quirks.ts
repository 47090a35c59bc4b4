/** The quirks of the Gemini wire. */
import type { JsonObject } from '../../core/json/json.ts'
import { countQuirk, flagQuirk, type QuirkTable } from '../quirks/quirk-value-kinds.ts'

export const QUIRKS: QuirkTable = {
  callIds: flagQuirk('Accepts ids of function calls; Vertex AI rejects them. Default: true.'),
  inlineLimitBytes: countQuirk('Maximum base64 characters of a request. Default: 20 million.'),
  jsonSchema: flagQuirk('Accepts JSON Schema, so schemas are sent unchanged.'),
  prefill: flagQuirk(
    'Continues an assistant message at the end of the conversation. Default: by the model.',
  ),
  remoteUrls: flagQuirk('Loads media from any https URL.'),
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
