/** The settings of a request that are no part of the conversation, and notes for those without a word. */
import type { Json, JsonObject } from '../../../core/json/json.ts'
import type { PromptParameters } from '../../../core/prompt.ts'
import { isDefaultValue } from '../../request/is-default-value.ts'
import type { NoteCollector } from '../encoding-notes.ts'
import { splitStopSequences, type SplitStopSequences } from '../../request/split-stop-sequences.ts'
import type { ModelTraits } from '../model-traits.ts'

export function encodeParameters(
  params: PromptParameters,
  stops: SplitStopSequences,
  isThinking: boolean,
  traits: ModelTraits,
  notebook: NoteCollector,
): JsonObject {
  noteUnsupported(params, notebook)
  return {
    ...sampling(params, isThinking, traits, notebook),
    ...stopSequences(stops, notebook),
    ...metadata(params, notebook),
    ...serviceTier(params, notebook),
  }
}

function sampling(
  { temperature, topP, extra }: PromptParameters,
  isThinking: boolean,
  traits: ModelTraits,
  notebook: NoteCollector,
): JsonObject {
  const topK = typeof extra['top_k'] === 'number' ? extra['top_k'] : null
  const asked = { temperature, top_p: topP, top_k: topK }
  if (isThinking || traits.sampling === 'none') {
    const why = traits.sampling === 'none' ? 'sampling-unsupported' : 'sampling-with-thinking'
    for (const [field, value] of Object.entries(asked)) {
      // 1 is the default of both, so that nothing is lost.
      if (value !== null && (value !== 1 || field === 'top_k')) notebook.write(why, { field })
    }
    return {}
  }
  const isConflict = traits.sampling === 'one' && temperature !== null && topP !== null
  if (isConflict) notebook.write('sampling-conflict', { field: 'top_p' })
  return {
    ...(temperature === null ? {} : { temperature: clamped(temperature, notebook) }),
    ...(topP === null || isConflict ? {} : { top_p: topP }),
    ...(topK === null ? {} : { top_k: topK }),
  }
}

function clamped(temperature: number, notebook: NoteCollector): number {
  const lawful = Math.min(Math.max(temperature, 0), 1)
  if (lawful !== temperature) {
    notebook.write('temperature-clamped', { field: 'temperature' })
  }
  return lawful
}

/** They are refused if they are nothing but white space. */
export function planStopSequences({ stop }: PromptParameters): SplitStopSequences {
  return splitStopSequences(stop, Infinity, (sequence) => sequence.trim() !== '')
}

function stopSequences({ sent, unsent }: SplitStopSequences, notebook: NoteCollector): JsonObject {
  if (unsent.length > 0) notebook.write('stop-enforced', { field: 'stop' })
  return sent.length === 0 ? {} : { stop_sequences: sent }
}

const LONGEST_USER_ID = 256

function metadata(
  { safetyIdentifier, user }: PromptParameters,
  notebook: NoteCollector,
): JsonObject {
  const id = safetyIdentifier ?? user
  if (id === null || id === '') return {}
  if (id.length <= LONGEST_USER_ID) return { metadata: { user_id: id } }
  notebook.write('user-id-too-long', { field: 'safety_identifier' })
  return {}
}

function serviceTier({ serviceTier: tier }: PromptParameters, notebook: NoteCollector): JsonObject {
  if (tier === null || tier === 'auto') return {}
  if (tier === 'default') return { service_tier: 'standard_only' }
  notebook.write('parameter-unsupported', { field: 'service_tier', detail: tier })
  return {}
}

/** What the client gets anyway: reasoning is always given sealed. */
const GRANTED: ReadonlySet<string> = new Set(['reasoning.encrypted_content'])

function noteUnsupported(params: PromptParameters, notebook: NoteCollector): void {
  const { extra } = params
  const named: Readonly<Record<string, Json>> = {
    seed: params.seed,
    presence_penalty: params.presencePenalty,
    frequency_penalty: params.frequencyPenalty,
    top_logprobs: params.topLogprobs,
    verbosity: params.verbosity,
    prompt_cache_key: params.promptCacheKey,
    include: params.include.filter((wish) => !GRANTED.has(wish)),
  }
  for (const [field, value] of [...Object.entries(named), ...Object.entries(extra)]) {
    if (field === 'top_k' && typeof value === 'number') continue
    if (!isDefaultValue(field, value)) notebook.write('parameter-unsupported', { field })
  }
}
