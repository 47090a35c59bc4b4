/** The quirks of Gemini accounts: settings for services that deviate from Google's Gemini API. */
import type { JsonObject } from '../../core/json/json.ts'
import { countQuirk, flagQuirk, type QuirkTable } from '../quirks/quirk-value-kinds.ts'

export const QUIRKS: QuirkTable = {
  callIds: flagQuirk('Accepts ids of function calls; Vertex AI rejects them. Default: true.'),
  inlineLimitBytes: countQuirk('Maximum base64 characters of all media. Default: 20 million.'),
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
  const { jsonSchema, remoteUrls, inlineLimitBytes, callIds, prefill } = quirks
  return {
    jsonSchema: jsonSchema === true,
    remoteUrls: remoteUrls === true,
    inlineLimitBytes: typeof inlineLimitBytes === 'number' ? inlineLimitBytes : 20_000_000,
    callIds: callIds !== false,
    prefill: typeof prefill === 'boolean' ? prefill : null,
  }
}
