/**
 * Encodes fields that only some clients send. Gemini has counterparts for a few of them, and the
 * others get a note.
 */
import type { Json, JsonObject } from '../../../core/json/json.ts'
import type { PromptParameters } from '../../../core/prompt.ts'
import { isDefaultValue } from '../../request/is-default-value.ts'
import type { EncodingContext } from './encoding-context.ts'

export interface EncodedExtraParameters {
  /** Encoded fields for `generationConfig`. */
  readonly config: JsonObject
  /** Encoded fields for the root of the request. */
  readonly body: JsonObject
}

export function encodeExtraParameters(
  { extra, serviceTier }: PromptParameters,
  { notes }: EncodingContext,
): EncodedExtraParameters {
  const config: Record<string, Json | undefined> = {}
  const body: Record<string, Json | undefined> = {}
  for (const [field, value] of Object.entries(extra)) {
    if (isDefaultValue(field, value)) continue
    const encoded = encodeField(field, value)
    if (encoded === null) notes.write('unsupported-parameter', { field })
    Object.assign(config, encoded?.config)
    Object.assign(body, encoded?.body)
  }
  if (serviceTier === 'flex' || serviceTier === 'priority') body['serviceTier'] = serviceTier
  else if (serviceTier !== null && serviceTier !== 'auto' && serviceTier !== 'default') {
    notes.write('unsupported-parameter', { field: 'service_tier' })
  }
  return { config, body }
}

/** Encodes a field; returns `null` if it is unknown or its value is invalid. */
function encodeField(
  field: string,
  value: Json | undefined,
): Partial<EncodedExtraParameters> | null {
  switch (field) {
    case 'top_k':
      return typeof value === 'number' ? { config: { topK: value } } : null
    case 'modalities': {
      if (!Array.isArray(value)) return null
      return { config: { responseModalities: value.map((each) => String(each).toUpperCase()) } }
    }
    case 'cached_content':
      return typeof value === 'string' ? { body: { cachedContent: value } } : null
    case 'safety_settings':
    case 'safetySettings':
      return Array.isArray(value) ? { body: { safetySettings: value as readonly Json[] } } : null
    default:
      return null
  }
}
