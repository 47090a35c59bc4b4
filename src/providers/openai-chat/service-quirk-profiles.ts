/**
 * Lists the quirks of well-known Chat Completions services by name. An account refers to a name
 * with `quirks.profile`, e.g. `{ profile: 'groq' }`.
 */
import type { ChatQuirks } from './quirk-table.ts'

const OPENAI: ChatQuirks = {
  developerRole: true,
  customTools: true,
  allowedTools: true,
  maxStops: 4,
  callIdPattern: /^.{1,40}$/s,
}

/** Fields for OpenAI's caching, service tiers and abuse checks, which strict services reject. */
const OPENAI_FIELDS =
  `prompt_cache_key prompt_cache_retention prompt_cache_options safety_identifier service_tier user
  verbosity`.split(/\s+/)

export const SERVICE_QUIRK_PROFILES: Readonly<Record<string, ChatQuirks>> = {
  openai: OPENAI,
  azure: { ...OPENAI, keyHeader: 'api-key' },
  openrouter: {
    reasoningField: 'reasoning_details',
    effortField: 'reasoning',
    maxTokensField: 'max_tokens',
  },
  vllm: { reasoningField: 'reasoning_content', reasoningOn: 'calls' },
  ollama: {
    reasoningField: 'reasoning',
    maxTokensField: 'max_tokens',
    refuses: OPENAI_FIELDS,
  },
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
    refuses: [...OPENAI_FIELDS, 'stream_options', 'seed', 'logprobs', 'top_logprobs', 'logit_bias'],
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
    refuses: [...OPENAI_FIELDS, 'parallel_tool_calls', 'seed', 'logit_bias'],
  },
}
