/**
 * Encodes the parameters of a request, and writes notes for parameters that Anthropic's API does
 * not have.
 */
import type { Json, JsonObject } from '../../../core/json/json.ts'
import type { PromptParameters } from '../../../core/prompt.ts'
import { INCLUDED_WITHOUT_UPSTREAM } from '../../request/include-values.ts'
import { isDefaultValue } from '../../request/is-default-value.ts'
import type { AnthropicNotes } from '../encoding-notes.ts'
import type { EncodingContext } from './encoding-context.ts'
import { splitStopSequences, type SplitStopSequences } from '../../request/split-stop-sequences.ts'

export function encodeParameters(
  params: PromptParameters,
  stops: SplitStopSequences,
  isThinking: boolean,
  context: EncodingContext,
): JsonObject {
  const { notes } = context
  noteUnsupported(params, notes)
  return {
    ...encodeSampling(params, isThinking, context),
    ...encodeStopSequences(stops, notes),
    ...encodeMetadata(params, notes),
    ...encodeServiceTier(params, notes),
  }
}

function encodeSampling(
  { temperature, topP, extra }: PromptParameters,
  isThinking: boolean,
  { traits, notes }: EncodingContext,
): JsonObject {
  const topK = typeof extra['top_k'] === 'number' ? extra['top_k'] : null
  const requested = { temperature, top_p: topP, top_k: topK }
  if (isThinking || traits.samplingParameters === 'none') {
    const why =
      traits.samplingParameters === 'none' ? 'sampling-unsupported' : 'sampling-with-thinking'
    for (const [field, value] of Object.entries(requested)) {
      // A value of 1 needs no note: it is the default of `temperature` and `top_p`, so leaving it
      // out changes nothing.
      if (value !== null && (value !== 1 || field === 'top_k')) notes.write(why, { field })
    }
    return {}
  }
  const isConflict = traits.samplingParameters === 'one' && temperature !== null && topP !== null
  if (isConflict) notes.write('sampling-conflict', { field: 'top_p' })
  return {
    ...(temperature === null ? {} : { temperature: clampTemperature(temperature, notes) }),
    ...(topP === null || isConflict ? {} : { top_p: topP }),
    ...(topK === null ? {} : { top_k: topK }),
  }
}

function clampTemperature(temperature: number, notes: AnthropicNotes): number {
  const clamped = Math.min(Math.max(temperature, 0), 1)
  if (clamped !== temperature) notes.write('temperature-clamped', { field: 'temperature' })
  return clamped
}

/**
 * Splits the stop sequences: the API rejects blank ones, so the gateway itself ends the answer at
 * those.
 */
export function planStopSequences({ stop }: PromptParameters): SplitStopSequences {
  return splitStopSequences(stop, Infinity, (sequence) => sequence.trim() !== '')
}

function encodeStopSequences(
  { sent, unsent }: SplitStopSequences,
  notes: AnthropicNotes,
): JsonObject {
  if (unsent.length > 0) notes.write('stop-enforced', { field: 'stop' })
  return sent.length === 0 ? {} : { stop_sequences: sent }
}

const MAX_USER_ID_CHARS = 256

function encodeMetadata(
  { safetyIdentifier, user }: PromptParameters,
  notes: AnthropicNotes,
): JsonObject {
  const id = safetyIdentifier ?? user
  if (id === null || id === '') return {}
  if (id.length <= MAX_USER_ID_CHARS) return { metadata: { user_id: id } }
  notes.write('user-id-too-long', { field: 'safety_identifier' })
  return {}
}

function encodeServiceTier(
  { serviceTier: tier }: PromptParameters,
  notes: AnthropicNotes,
): JsonObject {
  if (tier === null || tier === 'auto') return {}
  if (tier === 'default') return { service_tier: 'standard_only' }
  notes.write('parameter-unsupported', { field: 'service_tier', detail: tier })
  return {}
}

function noteUnsupported(params: PromptParameters, notes: AnthropicNotes): void {
  const { extra } = params
  const named: Readonly<Record<string, Json>> = {
    seed: params.seed,
    presence_penalty: params.presencePenalty,
    frequency_penalty: params.frequencyPenalty,
    top_logprobs: params.topLogprobs,
    verbosity: params.verbosity,
    prompt_cache_key: params.promptCacheKey,
    include: params.include.filter((value) => !INCLUDED_WITHOUT_UPSTREAM.has(value)),
  }
  for (const [field, value] of [...Object.entries(named), ...Object.entries(extra)]) {
    if (field === 'top_k' && typeof value === 'number') continue
    if (!isDefaultValue(field, value)) notes.write('parameter-unsupported', { field })
  }
}
