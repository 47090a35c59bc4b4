/**
 * How services that speak Chat Completions differ, as named sets of quirks. An account picks one
 * with `quirks.profile`, and overrides any of it by naming the quirk beside it.
 *
 * Where a quirk is not set, a client that speaks chat itself gets its own way, and what is
 * translated from another language takes the form that the most services accept.
 */
export interface ChatQuirks {
  /** Takes the role `developer`; otherwise such messages become `system`. */
  readonly developerRole?: boolean
  /** Takes the role `system`; otherwise instructions become the first user turn. */
  readonly systemRole?: boolean
  /** The field that reasoning goes back in. `none`: reasoning is not sent. */
  readonly reasoningField?:
    | 'reasoning_content'
    | 'reasoning'
    | 'reasoning_details'
    | 'thinking-part'
    | 'none'
  /** Which of the assistant's messages reasoning is sent on. */
  readonly reasoningOn?: 'all' | 'calls'
  /** Refuses calls without the reasoning in front of them. Where it is not known, it is sent empty. */
  readonly reasoningDemanded?: boolean
  /** Knows tools with free text as input; otherwise they become functions with one parameter. */
  readonly customTools?: boolean
  /** Knows `allowed_tools`; otherwise the other tools are left out of the request. */
  readonly allowedTools?: boolean
  /** Takes a message's `name`. */
  readonly messageNames?: boolean
  /** Takes images in a tool's output; otherwise they follow in a user message. */
  readonly toolMedia?: boolean
  /** As many stop sequences are sent; the gateway ends the answer at the others itself. */
  readonly maxStops?: number
  readonly maxTokensField?: 'max_completion_tokens' | 'max_tokens'
  /** `reasoning` stands for `reasoning: { effort }`. `none`: there is no such setting. */
  readonly effortField?: 'reasoning_effort' | 'reasoning' | 'none'
  /** User and assistant must take turns, the user first, with system text only in front. */
  readonly strictAlternation?: boolean
  /** Takes a user message directly behind a tool's output. */
  readonly userAfterTool?: boolean
  /**
   * `true`: a last message of the assistant is marked `prefix: true`, to be gone on with.
   * `false`: it is refused as the last message, so that the user asks for the continuation.
   */
  readonly prefixCompletion?: boolean
  /** What a call's id must look like; one that does not becomes nine letters and digits. */
  readonly callIdPattern?: RegExp
  /** Fields of a request that are refused, and hence left out. */
  readonly refuses?: readonly string[]
  /**
   * Its answers are told anew even to clients that speak chat: it sends what OpenAI's clients cannot
   * read, as calls without an index.
   */
  readonly retell?: boolean
  /** Thinking comes as `<think>…</think>` in the text; `unopened`: without the opening tag. */
  readonly thinkTags?: true | 'unopened'
  /** The header that carries the key: `authorization` as a bearer token, `api-key` bare. */
  readonly keyHeader?: 'authorization' | 'api-key'
  /** Put behind the path, as in `api-version=2024-10-21`. */
  readonly query?: string
}

const OPENAI: ChatQuirks = {
  developerRole: true,
  customTools: true,
  allowedTools: true,
  maxStops: 4,
  callIdPattern: /^.{1,40}$/s,
}

/** Settings by which OpenAI keeps its users apart; strict services refuse a field unheard-of. */
const HOUSEKEEPING = [
  'prompt_cache_key',
  'prompt_cache_retention',
  'prompt_cache_options',
  'safety_identifier',
  'service_tier',
  'user',
  'verbosity',
] as const

export const PROFILES: Readonly<Record<string, ChatQuirks>> = {
  openai: OPENAI,
  azure: { ...OPENAI, keyHeader: 'api-key' },
  openrouter: {
    reasoningField: 'reasoning_details',
    effortField: 'reasoning',
    maxTokensField: 'max_tokens',
  },
  vllm: { reasoningField: 'reasoning_content', reasoningOn: 'calls' },
  ollama: { reasoningField: 'reasoning', maxTokensField: 'max_tokens', refuses: HOUSEKEEPING },
  groq: {
    reasoningField: 'reasoning',
    reasoningOn: 'calls',
    messageNames: false,
    maxStops: 4,
    refuses: [
      'logprobs',
      'top_logprobs',
      'logit_bias',
      'prompt_cache_key',
      'safety_identifier',
      'verbosity',
    ],
  },
  mistral: {
    developerRole: false,
    reasoningField: 'thinking-part',
    maxTokensField: 'max_tokens',
    effortField: 'none',
    userAfterTool: false,
    prefixCompletion: true,
    callIdPattern: /^[a-zA-Z0-9]{9}$/,
    retell: true,
    refuses: [...HOUSEKEEPING, 'stream_options', 'seed', 'logprobs', 'top_logprobs', 'logit_bias'],
  },
  deepseek: {
    developerRole: false,
    reasoningField: 'reasoning_content',
    reasoningOn: 'calls',
    reasoningDemanded: true,
    maxTokensField: 'max_tokens',
    maxStops: 16,
    effortField: 'none',
    prefixCompletion: true,
    refuses: [...HOUSEKEEPING, 'parallel_tool_calls', 'seed', 'logit_bias'],
  },
}
