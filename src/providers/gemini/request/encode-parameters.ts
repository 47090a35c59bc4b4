/**
 * Encodes the parameters of a request as `generationConfig`, and writes notes for those that Gemini
 * does not have.
 */
import type { Json, JsonObject } from '../../../core/json/json.ts'
import type { PromptParameters } from '../../../core/prompt.ts'
import { isDefaultValue } from '../../request/is-default-value.ts'
import { splitStopSequences, type SplitStopSequences } from '../../request/split-stop-sequences.ts'
import type { EncodingContext } from './encoding-context.ts'
import { planThinking } from './plan-thinking.ts'

const LOGPROBS = 'message.output_text.logprobs'

export function encodeParameters(
  params: PromptParameters,
  stops: SplitStopSequences,
  format: JsonObject,
  context: EncodingContext,
): JsonObject {
  const { temperature, topP, maxOutputTokens, seed } = params
  return {
    ...omitNulls({ maxOutputTokens, temperature, topP, seed }),
    ...encodeStopSequences(stops, context),
    ...encodePenalties(params, context),
    ...format,
    ...encodeLogprobs(params),
    ...encodeThinking(params.effort, context),
  }
}

/** Writes notes for the parameters that Gemini does not have at all. */
export function noteUnsupportedParameters(
  params: PromptParameters,
  { notes }: EncodingContext,
): void {
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
    if (!ALWAYS_INCLUDED.has(detail))
      notes.write('unsupported-parameter', { field: 'include', detail })
  }
}

/**
 * Values of `include` that need no parameter: every answer contains these data, or another
 * parameter requests them.
 */
const ALWAYS_INCLUDED = new Set(['reasoning.encrypted_content', LOGPROBS])

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

/** Encodes penalties, except for Gemini 2.5, which rejects them with a 400. */
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
  const { config, replacement, isUnknownEffort } = planThinking(effort, model)
  const field = 'reasoning.effort'
  if (isUnknownEffort) notes.write('unsupported-parameter', { field })
  else if (replacement !== null) notes.write('effort-mapped', { field, detail: replacement })
  return config === null ? {} : { thinkingConfig: config }
}
