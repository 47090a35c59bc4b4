/**
 * The settings of a request as chat's fields: one small function for each, so that a setting that
 * changed can be written anew without the others. A field that is `undefined` is not to be there.
 */
import type { Json, JsonObject } from '../../../core/json/json.ts'
import type { OutputFormat, PromptParameters } from '../../../core/prompt.ts'
import { encodeToolChoice, encodeTools } from './encode-tools.ts'
import { isDefaultValue } from '../../request/is-default-value.ts'
import { splitStopSequences, type SplitStopSequences } from '../../request/split-stop-sequences.ts'
import type { ChatOptions, EncodingContext } from './encoding-context.ts'

type Write = (params: PromptParameters, encoding: EncodingContext) => JsonObject

export const PARAMETER_ENCODERS: { readonly [Name in keyof PromptParameters]: Write } = {
  model: ({ model }) => ({ model }),
  // In front of the messages.
  instructions: () => ({}),
  tools: (params, encoding) => ({ tools: encodeTools(params, encoding), functions: undefined }),
  toolChoice: (params, encoding) => ({
    tool_choice: encodeToolChoice(params, encoding),
    function_call: undefined,
  }),
  parallelToolCalls: ({ parallelToolCalls }) => said('parallel_tool_calls', parallelToolCalls),
  temperature: ({ temperature }) => said('temperature', temperature),
  topP: ({ topP }) => said('top_p', topP),
  maxOutputTokens: ({ maxOutputTokens }, { options }) => {
    const field = options.quirks.maxTokensField ?? 'max_completion_tokens'
    return {
      max_completion_tokens: undefined,
      max_tokens: undefined,
      ...said(field, maxOutputTokens),
    }
  },
  stop: (params, { options, notebook }) => {
    const { sent, unsent } = planStopSequences(params, options)
    if (unsent.length > 0) notebook.write('stop-enforced', { field: 'stop' })
    return { stop: sent.length > 0 ? sent : undefined }
  },
  seed: ({ seed }) => said('seed', seed),
  presencePenalty: ({ presencePenalty }) => said('presence_penalty', presencePenalty),
  frequencyPenalty: ({ frequencyPenalty }) => said('frequency_penalty', frequencyPenalty),
  topLogprobs: (params) => logprobs(params),
  format: ({ format }) => ({ response_format: format === null ? undefined : nested(format) }),
  verbosity: ({ verbosity }) => said('verbosity', verbosity),
  effort: ({ effort }, { options, notebook }) => {
    const field = options.quirks.effortField ?? 'reasoning_effort'
    if (effort === null) return { reasoning_effort: undefined }
    if (field === 'reasoning') return { reasoning: { effort } }
    if (field === 'reasoning_effort') return { reasoning_effort: effort }
    notebook.write('parameter-refused', { field: 'reasoning_effort' })
    return { reasoning_effort: undefined }
  },
  reasoningSummary: ({ reasoningSummary }, { notebook }) => {
    if (reasoningSummary !== null) {
      notebook.write('parameter-unsupported', { field: 'reasoning.summary' })
    }
    return {}
  },
  serviceTier: ({ serviceTier }) => said('service_tier', serviceTier),
  promptCacheKey: ({ promptCacheKey }) => said('prompt_cache_key', promptCacheKey),
  safetyIdentifier: ({ safetyIdentifier }) => said('safety_identifier', safetyIdentifier),
  user: ({ user }) => said('user', user),
  include: (params, { notebook }) => {
    const unknown = params.include.filter((name) => name !== LOGPROBS && name !== SEALED)
    if (params.include.includes(SEALED)) notebook.write('reasoning-unsealed', { field: 'include' })
    if (unknown.length > 0) {
      notebook.write('parameter-unsupported', { field: 'include', detail: unknown.join(', ') })
    }
    return logprobs(params)
  },
  extra: ({ extra }, { options, notebook }) => {
    const known = Object.entries(extra).filter(([name]) => {
      const isKnown = options.isOwn || CHAT_FIELDS.has(name)
      if (!isKnown && !isDefaultValue(name, extra[name])) {
        notebook.write('parameter-unsupported', { field: name })
      }
      return isKnown
    })
    return Object.fromEntries(known)
  },
}

/** As many as OpenAI takes; who speaks chat itself is told by its upstream what is too many. */
const MAX_STOPS = 4

export function planStopSequences(
  { stop, extra }: PromptParameters,
  { quirks, isOwn }: ChatOptions,
): SplitStopSequences {
  // An answer that is watched is told anew, which can be done with one choice only.
  if (isOwn && !isDefaultValue('n', extra['n'])) return { sent: stop, unsent: [] }
  const limit = quirks.maxStops ?? (isOwn ? Infinity : MAX_STOPS)
  return splitStopSequences(stop, quirks.refuses?.includes('stop') === true ? 0 : limit)
}

const LOGPROBS = 'message.output_text.logprobs'
const SEALED = 'reasoning.encrypted_content'

/** Fields of chat services that clients of another language send along for them. */
const CHAT_FIELDS: ReadonlySet<string> = new Set([
  'chat_template_kwargs',
  'guided_choice',
  'guided_grammar',
  'guided_json',
  'guided_regex',
  'ignore_eos',
  'include_reasoning',
  'logit_bias',
  'min_p',
  'min_tokens',
  'mirostat',
  'mirostat_eta',
  'mirostat_tau',
  'modalities',
  'models',
  'num_ctx',
  'options',
  'plugins',
  'prediction',
  'prompt_cache_options',
  'prompt_cache_retention',
  'provider',
  'reasoning_format',
  'repeat_penalty',
  'repetition_penalty',
  'response_format',
  'route',
  'safe_prompt',
  'skip_special_tokens',
  'stop_token_ids',
  'structured_outputs',
  'thinking',
  'top_a',
  'top_k',
  'transforms',
  'typical_p',
  'web_search_options',
])

function said(field: string, value: Json): JsonObject {
  return { [field]: value ?? undefined }
}

function logprobs({ topLogprobs, include }: PromptParameters): JsonObject {
  const isAsked = topLogprobs !== null || include.includes(LOGPROBS)
  return {
    logprobs: isAsked ? true : undefined,
    top_logprobs: topLogprobs === null || topLogprobs === 0 ? undefined : topLogprobs,
  }
}

function nested(format: OutputFormat): Json {
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
