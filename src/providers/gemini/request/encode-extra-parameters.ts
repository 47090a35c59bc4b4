/** The fields that only some clients send: a few have a counterpart, the others get a note. */
import type { Json, JsonObject } from '../../../core/json/json.ts'
import type { PromptParameters } from '../../../core/prompt.ts'
import { isDefaultValue } from '../../request/is-default-value.ts'
import type { EncodingContext } from './encoding-context.ts'

export interface EncodedExtraParameters {
  /** Goes into `generationConfig`. */
  readonly config: JsonObject
  /** Goes beside it. */
  readonly body: JsonObject
}

export function encodeExtraParameters(
  { extra, serviceTier }: PromptParameters,
  { notebook }: EncodingContext,
): EncodedExtraParameters {
  const config: Record<string, Json> = {}
  const body: Record<string, Json> = {}
  for (const [field, value] of Object.entries(extra)) {
    if (isDefaultValue(field, value)) continue
    const known = Object.hasOwn(KNOWN, field) ? KNOWN[field] : undefined
    const translated = value === undefined ? undefined : known?.read(value)
    if (known === undefined || translated === undefined) {
      notebook.write('unsupported-parameter', { field })
    } else if (known.inConfig) config[known.name] = translated
    else body[known.name] = translated
  }
  if (serviceTier === 'flex' || serviceTier === 'priority') body['serviceTier'] = serviceTier
  else if (serviceTier !== null && serviceTier !== 'auto' && serviceTier !== 'default') {
    notebook.write('unsupported-parameter', { field: 'service_tier' })
  }
  return { config, body }
}

interface Known {
  readonly name: string
  readonly inConfig: boolean
  /** `undefined` for a value that makes no sense. */
  readonly read: (value: Json) => Json | undefined
}

const safety: Known = {
  name: 'safetySettings',
  inConfig: false,
  read: (value) => (Array.isArray(value) ? (value as readonly Json[]) : undefined),
}

const KNOWN: Readonly<Record<string, Known>> = {
  top_k: {
    name: 'topK',
    inConfig: true,
    read: (value) => (typeof value === 'number' ? value : undefined),
  },
  modalities: {
    name: 'responseModalities',
    inConfig: true,
    read: (value) =>
      Array.isArray(value) ? value.map((word) => String(word).toUpperCase()) : undefined,
  },
  cached_content: {
    name: 'cachedContent',
    inConfig: false,
    read: (value) => (typeof value === 'string' ? value : undefined),
  },
  safety_settings: safety,
  safetySettings: safety,
}
