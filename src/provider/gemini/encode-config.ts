/** Everything about how the answer is to be generated, and a note for what cannot be asked for. */
import type { Json, JsonObject } from '../../conversation/json.ts'
import type { Params } from '../../conversation/prompt.ts'
import type { Context } from './context.ts'
import { thinkingFor } from './thinking.ts'

const LOGPROBS = 'message.output_text.logprobs'

export function encodeConfig(params: Params, format: JsonObject, context: Context): JsonObject {
  const { temperature, topP, maxOutputTokens, seed } = params
  return {
    ...given({ maxOutputTokens, temperature, topP, seed }),
    ...stops(params.stop, context),
    ...penalties(params, context),
    ...format,
    ...logprobs(params),
    ...thinking(params.effort, context),
  }
}

/** Notes for the settings that have no counterpart at all. */
export function noteLostParams(params: Params, { notebook }: Context): void {
  const lost: Readonly<Record<string, Json>> = {
    verbosity: params.verbosity,
    prompt_cache_key: params.promptCacheKey,
    safety_identifier: params.safetyIdentifier,
    user: params.user,
  }
  for (const field in lost) {
    if (lost[field] !== null) notebook.add('unsupported-parameter', { field })
  }
  for (const detail of params.include) {
    if (!INCLUDED.has(detail)) notebook.add('unsupported-parameter', { field: 'include', detail })
  }
}

/** What an answer holds anyway, or is asked for elsewhere. */
const INCLUDED = new Set(['reasoning.encrypted_content', LOGPROBS])

function given(values: Readonly<Record<string, Json>>): JsonObject {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null))
}

function stops(stop: readonly string[], { notebook }: Context): JsonObject {
  const sequences = [...new Set(stop)].filter((sequence) => sequence !== '')
  if (sequences.length === 0) return {}
  if (sequences.length > 5) {
    notebook.add('stops-cut', { field: 'stop', detail: `${sequences.length - 5} left out` })
  }
  return { stopSequences: sequences.slice(0, 5) }
}

/** Gemini 2.5 answers them with a 400. */
function penalties({ presencePenalty, frequencyPenalty }: Params, context: Context): JsonObject {
  const { model, notebook } = context
  if (model.generation !== 2.5) return given({ presencePenalty, frequencyPenalty })
  if (presencePenalty !== null) {
    notebook.add('not-with-this-model', { field: 'presence_penalty' })
  }
  if (frequencyPenalty !== null) {
    notebook.add('not-with-this-model', { field: 'frequency_penalty' })
  }
  return {}
}

function logprobs({ topLogprobs, include }: Params): JsonObject {
  if (topLogprobs === null && !include.includes(LOGPROBS)) return {}
  const count = topLogprobs ?? 0
  return { responseLogprobs: true, ...(count === 0 ? {} : { logprobs: count }) }
}

function thinking(effort: string | null, { model, notebook }: Context): JsonObject {
  const { config, instead, unknown } = thinkingFor(effort, model)
  const field = 'reasoning_effort'
  if (unknown) notebook.add('unsupported-parameter', { field })
  else if (instead !== null) notebook.add('effort-mapped', { field, detail: instead })
  return config === null ? {} : { thinkingConfig: config }
}
