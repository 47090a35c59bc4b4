/**
 * Encodes the parameters of a request as `generationConfig`, and writes notes for parameters that
 * Gemini does not have.
 */
import type { Json, JsonObject } from '../../../core/json/json.ts'
import type { PromptParameters } from '../../../core/prompt.ts'
import { INCLUDED_WITHOUT_UPSTREAM } from '../../request/include-values.ts'
import { isDefaultValue } from '../../request/is-default-value.ts'
import { splitStopSequences, type SplitStopSequences } from '../../request/split-stop-sequences.ts'
import type { EncodingContext } from './encoding-context.ts'
import { planThinking } from './plan-thinking.ts'

const LOGPROBS = 'message.output_text.logprobs'

export interface EncodedParameters {
  readonly generationConfig: JsonObject
  /** The encoded fields that belong at the root of the request. */
  readonly rootFields: JsonObject
}

export function encodeParameters(
  params: PromptParameters,
  stops: SplitStopSequences,
  format: JsonObject,
  context: EncodingContext,
): EncodedParameters {
  const { temperature, topP, maxOutputTokens, seed } = params
  const extra = encodeExtraParameters(params, context)
  const generationConfig = {
    ...omitNulls({ maxOutputTokens, temperature, topP, seed }),
    ...encodeStopSequences(stops, context),
    ...encodePenalties(params, context),
    ...format,
    ...encodeLogprobs(params),
    ...encodeThinking(params.effort, context),
    ...extra.generationConfig,
  }
  noteUnsupportedParameters(params, context)
  return { ...extra, generationConfig }
}

/** Writes a note for each parameter that Gemini does not have. */
function noteUnsupportedParameters(params: PromptParameters, { notes }: EncodingContext): void {
  const unsupported: Readonly<Record<string, Json>> = {
    verbosity: params.verbosity,
    prompt_cache_key: params.promptCacheKey,
    safety_identifier: params.safetyIdentifier,
    user: params.user,
  }
  for (const field in unsupported) {
    if (!isDefaultValue(field, unsupported[field])) notes.write('unsupported-parameter', { field })
  }
  for (const detail of params.include) {
    if (detail !== LOGPROBS && !INCLUDED_WITHOUT_UPSTREAM.has(detail))
      notes.write('unsupported-parameter', { field: 'include', detail })
  }
}

function omitNulls(values: Readonly<Record<string, Json>>): JsonObject {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null))
}

const MAX_STOP_SEQUENCES = 5

export function planStopSequences({ stop }: PromptParameters): SplitStopSequences {
  return splitStopSequences(stop, MAX_STOP_SEQUENCES)
}

function encodeStopSequences(
  { sent, unsent }: SplitStopSequences,
  { notes }: EncodingContext,
): JsonObject {
  if (unsent.length > 0) notes.write('stop-enforced', { field: 'stop' })
  return sent.length === 0 ? {} : { stopSequences: sent }
}

/** Encodes penalties. Leaves them out for Gemini 2.5, which rejects them with status 400. */
function encodePenalties(
  { presencePenalty, frequencyPenalty }: PromptParameters,
  context: EncodingContext,
): JsonObject {
  const { model, notes } = context
  if (model.generation !== 2.5) return omitNulls({ presencePenalty, frequencyPenalty })
  const penalties = { presence_penalty: presencePenalty, frequency_penalty: frequencyPenalty }
  for (const field in omitNulls(penalties)) notes.write('not-with-this-model', { field })
  return {}
}

function encodeLogprobs({ topLogprobs, include }: PromptParameters): JsonObject {
  if (topLogprobs === null && !include.includes(LOGPROBS)) return {}
  const count = topLogprobs ?? 0
  return { responseLogprobs: true, ...(count === 0 ? {} : { logprobs: count }) }
}

function encodeThinking(effort: string | null, { model, notes }: EncodingContext): JsonObject {
  const { thinkingConfig, replacementSetting, isUnknownEffort } = planThinking(effort, model)
  const field = 'reasoning.effort'
  if (isUnknownEffort) notes.write('unsupported-parameter', { field })
  else if (replacementSetting !== null)
    notes.write('effort-mapped', { field, detail: replacementSetting })
  return thinkingConfig === null ? {} : { thinkingConfig }
}

/**
 * Encodes `service_tier`, and fields of the client that OpenAI does not define, e.g. `top_k`.
 * Writes a note for each field that Gemini does not have.
 */
function encodeExtraParameters(
  { extra, serviceTier }: PromptParameters,
  { notes }: EncodingContext,
): EncodedParameters {
  const generationConfig: Record<string, Json | undefined> = {}
  const rootFields: Record<string, Json | undefined> = {}
  for (const [field, value] of Object.entries(extra)) {
    if (isDefaultValue(field, value)) continue
    const encoded = encodeField(field, value)
    if (encoded === null) notes.write('unsupported-parameter', { field })
    Object.assign(generationConfig, encoded?.generationConfig)
    Object.assign(rootFields, encoded?.rootFields)
  }
  if (serviceTier === 'flex' || serviceTier === 'priority') rootFields['serviceTier'] = serviceTier
  else if (serviceTier !== null && serviceTier !== 'auto' && serviceTier !== 'default') {
    notes.write('unsupported-parameter', { field: 'service_tier' })
  }
  return { generationConfig, rootFields }
}

/** Encodes a field; returns `null` if Gemini does not have it or the value is invalid. */
function encodeField(field: string, value: Json | undefined): Partial<EncodedParameters> | null {
  switch (field) {
    case 'top_k':
      return typeof value === 'number' ? { generationConfig: { topK: value } } : null
    case 'modalities': {
      if (!Array.isArray(value)) return null
      const responseModalities = value.map((name) => String(name).toUpperCase())
      return { generationConfig: { responseModalities } }
    }
    case 'cached_content':
      return typeof value === 'string' ? { rootFields: { cachedContent: value } } : null
    case 'safety_settings':
    case 'safetySettings':
      return Array.isArray(value)
        ? { rootFields: { safetySettings: value as readonly Json[] } }
        : null
    default:
      return null
  }
}
