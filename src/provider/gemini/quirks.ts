/** What can be set about a Gemini upstream, under `quirks` of its account. */
import type { JsonObject } from '../../conversation/json.ts'

export interface Quirks {
  /** `jsonSchema`: JSON Schemas are sent as they are, to an API that takes them. Default false. */
  readonly jsonSchema: boolean
  /** `remoteUrls`: the API fetches media from any https address. Default false. */
  readonly remoteUrls: boolean
  /** `inlineLimitBytes`: how much base64 one request may hold. Default 20 million. */
  readonly inlineLimitBytes: number
  /** `callIds`: ids of function calls are sent back; Vertex AI refuses them. Default true. */
  readonly callIds: boolean
  /** `prefill`: whether a model continues its own words; by default the model's name decides. */
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
