/** Everything about how the answer is to be generated, and a note for what cannot be asked for. */
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
    ...given({ maxOutputTokens, temperature, topP, seed }),
    ...stopSequences(stops, context),
    ...penalties(params, context),
    ...format,
    ...logprobs(params),
    ...thinking(params.effort, context),
  }
}

/** Notes for the settings that have no counterpart at all. */
export function noteUnsupportedParameters(
  params: PromptParameters,
  { notebook }: EncodingContext,
): void {
  const lost: Readonly<Record<string, Json>> = {
    verbosity: params.verbosity,
    prompt_cache_key: params.promptCacheKey,
    safety_identifier: params.safetyIdentifier,
    user: params.user,
  }
  for (const field in lost) {
    if (!isDefaultValue(field, lost[field])) notebook.write('unsupported-parameter', { field })
  }
  for (const detail of params.include) {
    if (!INCLUDED.has(detail)) notebook.write('unsupported-parameter', { field: 'include', detail })
  }
}

/** What an answer holds anyway, or is asked for elsewhere. */
const INCLUDED = new Set(['reasoning.encrypted_content', LOGPROBS])

function given(values: Readonly<Record<string, Json>>): JsonObject {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null))
}

const MAX_STOPS = 5

export function planStopSequences({ stop }: PromptParameters): SplitStopSequences {
  return splitStopSequences(stop, MAX_STOPS)
}

function stopSequences(
  { sent, unsent }: SplitStopSequences,
  { notebook }: EncodingContext,
): JsonObject {
  if (unsent.length > 0) notebook.write('stop-enforced', { field: 'stop' })
  return sent.length === 0 ? {} : { stopSequences: sent }
}

/** Gemini 2.5 answers them with a 400. */
function penalties(
  { presencePenalty, frequencyPenalty }: PromptParameters,
  context: EncodingContext,
): JsonObject {
  const { model, notebook } = context
  if (model.generation !== 2.5) return given({ presencePenalty, frequencyPenalty })
  if (presencePenalty !== null) {
    notebook.write('not-with-this-model', { field: 'presence_penalty' })
  }
  if (frequencyPenalty !== null) {
    notebook.write('not-with-this-model', { field: 'frequency_penalty' })
  }
  return {}
}

function logprobs({ topLogprobs, include }: PromptParameters): JsonObject {
  if (topLogprobs === null && !include.includes(LOGPROBS)) return {}
  const count = topLogprobs ?? 0
  return { responseLogprobs: true, ...(count === 0 ? {} : { logprobs: count }) }
}

function thinking(effort: string | null, { model, notebook }: EncodingContext): JsonObject {
  const { config, instead, unknown } = planThinking(effort, model)
  const field = 'reasoning.effort'
  if (unknown) notebook.write('unsupported-parameter', { field })
  else if (instead !== null) notebook.write('effort-mapped', { field, detail: instead })
  return config === null ? {} : { thinkingConfig: config }
}
