/** Encodes fields that only some clients send: a few have a counterpart, the others get a note. */
import type { Json, JsonObject } from '../../../core/json/json.ts'
import type { PromptParameters } from '../../../core/prompt.ts'
import { isDefaultValue } from '../../request/is-default-value.ts'
import type { EncodingContext } from './encoding-context.ts'

export interface EncodedExtraParameters {
  /** Fields of `generationConfig`. */
  readonly config: JsonObject
  /** Fields of the request itself. */
  readonly body: JsonObject
}

export function encodeExtraParameters(
  { extra, serviceTier }: PromptParameters,
  { notes }: EncodingContext,
): EncodedExtraParameters {
  const config: Record<string, Json> = {}
  const body: Record<string, Json> = {}
  for (const [field, value] of Object.entries(extra)) {
    if (isDefaultValue(field, value)) continue
    const mapping = Object.hasOwn(MAPPINGS, field) ? MAPPINGS[field] : undefined
    const converted = value === undefined ? undefined : mapping?.read(value)
    if (mapping === undefined || converted === undefined) {
      notes.write('unsupported-parameter', { field })
    } else if (mapping.isInConfig) config[mapping.name] = converted
    else body[mapping.name] = converted
  }
  if (serviceTier === 'flex' || serviceTier === 'priority') body['serviceTier'] = serviceTier
  else if (serviceTier !== null && serviceTier !== 'auto' && serviceTier !== 'default') {
    notes.write('unsupported-parameter', { field: 'service_tier' })
  }
  return { config, body }
}

interface ParameterMapping {
  readonly name: string
  readonly isInConfig: boolean
  /** Returns `undefined` for an invalid value. */
  readonly read: (value: Json) => Json | undefined
}

const SAFETY_SETTINGS: ParameterMapping = {
  name: 'safetySettings',
  isInConfig: false,
  read: (value) => (Array.isArray(value) ? (value as readonly Json[]) : undefined),
}

const MAPPINGS: Readonly<Record<string, ParameterMapping>> = {
  top_k: {
    name: 'topK',
    isInConfig: true,
    read: (value) => (typeof value === 'number' ? value : undefined),
  },
  modalities: {
    name: 'responseModalities',
    isInConfig: true,
    read: (value) =>
      Array.isArray(value) ? value.map((modality) => String(modality).toUpperCase()) : undefined,
  },
  cached_content: {
    name: 'cachedContent',
    isInConfig: false,
    read: (value) => (typeof value === 'string' ? value : undefined),
  },
  safety_settings: SAFETY_SETTINGS,
  safetySettings: SAFETY_SETTINGS,
}
