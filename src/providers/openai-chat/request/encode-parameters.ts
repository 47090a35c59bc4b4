/**
 * Encodes the parameters of a prompt as Chat Completions fields. There is one function per
 * parameter, so that a changed parameter can be encoded alone. A field with the value undefined is
 * removed from the request.
 */
import type { Json, JsonObject } from '../../../core/json/json.ts'
import type { OutputFormat, PromptParameters } from '../../../core/prompt.ts'
import { encodeToolChoice, encodeTools } from './encode-tools.ts'
import { INCLUDED_WITHOUT_UPSTREAM } from '../../request/include-values.ts'
import { isDefaultValue } from '../../request/is-default-value.ts'
import { splitStopSequences, type SplitStopSequences } from '../../request/split-stop-sequences.ts'
import type { ChatEncodingOptions, EncodingContext } from './encoding-context.ts'

type ParameterEncoder = (params: PromptParameters, encoding: EncodingContext) => JsonObject

export const PARAMETER_ENCODERS: { readonly [Name in keyof PromptParameters]: ParameterEncoder } = {
  model: ({ model }) => ({ model }),
  // Instructions are not a parameter, but the first message.
  instructions: () => ({}),
  tools: (params, encoding) => ({ tools: encodeTools(params, encoding), functions: undefined }),
  toolChoice: (params, encoding) => ({
    tool_choice: encodeToolChoice(params, encoding),
    function_call: undefined,
  }),
  parallelToolCalls: ({ parallelToolCalls }) =>
    createField('parallel_tool_calls', parallelToolCalls),
  temperature: ({ temperature }) => createField('temperature', temperature),
  topP: ({ topP }) => createField('top_p', topP),
  maxOutputTokens: ({ maxOutputTokens }, { options }) => {
    const field = options.quirks.maxTokensField ?? 'max_completion_tokens'
    return {
      max_completion_tokens: undefined,
      max_tokens: undefined,
      ...createField(field, maxOutputTokens),
    }
  },
  stop: (params, { options, notes }) => {
    const { sent, unsent } = planStopSequences(params, options)
    if (unsent.length > 0) notes.write('stop-enforced', { field: 'stop' })
    return { stop: sent.length > 0 ? sent : undefined }
  },
  seed: ({ seed }) => createField('seed', seed),
  presencePenalty: ({ presencePenalty }) => createField('presence_penalty', presencePenalty),
  frequencyPenalty: ({ frequencyPenalty }) => createField('frequency_penalty', frequencyPenalty),
  topLogprobs: (params) => encodeLogprobs(params),
  format: ({ format }) => ({
    response_format: format === null ? undefined : encodeResponseFormat(format),
  }),
  verbosity: ({ verbosity }) => createField('verbosity', verbosity),
  effort: ({ effort }, { options, notes }) => {
    const field = options.quirks.effortField ?? 'reasoning_effort'
    if (effort === null) return { reasoning_effort: undefined }
    if (field === 'reasoning') return { reasoning: { effort } }
    if (field === 'reasoning_effort') return { reasoning_effort: effort }
    notes.write('parameter-refused', { field: 'reasoning_effort' })
    return { reasoning_effort: undefined }
  },
  reasoningSummary: ({ reasoningSummary }, { notes }) => {
    if (reasoningSummary !== null) {
      notes.write('parameter-unsupported', { field: 'reasoning.summary' })
    }
    return {}
  },
  serviceTier: ({ serviceTier }) => createField('service_tier', serviceTier),
  promptCacheKey: ({ promptCacheKey }) => createField('prompt_cache_key', promptCacheKey),
  safetyIdentifier: ({ safetyIdentifier }) => createField('safety_identifier', safetyIdentifier),
  user: ({ user }) => createField('user', user),
  include: (params, { notes }) => {
    const unknown = params.include.filter(
      (name) => name !== LOGPROBS && !INCLUDED_WITHOUT_UPSTREAM.has(name),
    )
    if (params.include.includes(ENCRYPTED_REASONING))
      notes.write('reasoning-unsealed', { field: 'include' })
    if (unknown.length > 0) {
      notes.write('parameter-unsupported', { field: 'include', detail: unknown.join(', ') })
    }
    return encodeLogprobs(params)
  },
  extra: ({ extra }, { options, notes }) => {
    const sent = Object.entries(extra).filter(([name, value]) => {
      if (options.isChatClient || CHAT_FIELDS.has(name)) return true
      if (!isDefaultValue(name, value)) notes.write('parameter-unsupported', { field: name })
      return false
    })
    return Object.fromEntries(sent)
  },
}

/**
 * OpenAI's maximum number of stop sequences. It does not apply to requests of Chat Completions
 * clients, because they learn from the upstream's error that their list is too long.
 */
const MAX_STOP_SEQUENCES = 4

export function planStopSequences(
  { stop, extra }: PromptParameters,
  { quirks, isChatClient }: ChatEncodingOptions,
): SplitStopSequences {
  // With several choices (`n: 2`), all sequences are sent, because the gateway can end only a
  // single choice.
  if (isChatClient && !isDefaultValue('n', extra['n'])) return { sent: stop, unsent: [] }
  const limit = quirks.maxStops ?? (isChatClient ? Infinity : MAX_STOP_SEQUENCES)
  return splitStopSequences(stop, quirks.refuses?.includes('stop') === true ? 0 : limit)
}

const LOGPROBS = 'message.output_text.logprobs'
const ENCRYPTED_REASONING = 'reasoning.encrypted_content'

/**
 * Fields of Chat Completions services that the gateway also sends for Responses clients, e.g.
 * `top_k`.
 */
const CHAT_FIELDS: ReadonlySet<string> = new Set(
  `chat_template_kwargs guided_choice guided_grammar guided_json guided_regex ignore_eos
  include_reasoning logit_bias min_p min_tokens mirostat mirostat_eta mirostat_tau modalities
  models num_ctx options plugins prediction prompt_cache_options prompt_cache_retention provider
  reasoning_format repeat_penalty repetition_penalty response_format route safe_prompt
  skip_special_tokens stop_token_ids structured_outputs thinking top_a top_k transforms
  typical_p web_search_options`.split(/\s+/),
)

function createField(field: string, value: Json): JsonObject {
  return { [field]: value ?? undefined }
}

function encodeLogprobs({ topLogprobs, include }: PromptParameters): JsonObject {
  const isRequested = topLogprobs !== null || include.includes(LOGPROBS)
  return {
    logprobs: isRequested ? true : undefined,
    top_logprobs: topLogprobs === null || topLogprobs === 0 ? undefined : topLogprobs,
  }
}

function encodeResponseFormat(format: OutputFormat): Json {
  if (format.type !== 'json_schema') return { type: format.type }
  const { name, schema, strict, description } = format
  return {
    type: 'json_schema',
    json_schema: {
      name,
      ...(description === null ? {} : { description }),
      schema,
      ...(strict === null ? {} : { strict }),
    },
  }
}
