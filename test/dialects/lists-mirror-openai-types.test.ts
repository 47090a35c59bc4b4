/**
 * Compares the lists that mirror a type of the package `openai` with that type. The comparison is made
 * by the compiler: if a new version of the package has one name more, the line of that list does not
 * compile, and the error shows the name.
 */
import type {
  ChatCompletionCreateParamsNonStreaming,
  ChatCompletionCreateParamsStreaming,
} from 'openai/resources/chat/completions'
import type {
  Response,
  ResponseCreateParamsNonStreaming,
  ResponseCreateParamsStreaming,
  ResponseError,
  ResponseIncludable,
  ResponseOutputItem,
} from 'openai/resources/responses/responses'
import { expect, test } from 'vitest'
import { ITEM_ID_PREFIXES } from '../../src/core/turn-derived-ids.ts'
import type { KNOWN_CHAT_FIELDS } from '../../src/dialects/chat/parse/parse-chat-parameters.ts'
import type { KNOWN_RESPONSES_FIELDS } from '../../src/dialects/responses/parse/parse-responses-parameters.ts'
import type { INCLUDE_RULES } from '../../src/dialects/responses/render/remove-unrequested-fields.ts'
import type {
  renderProgressFields,
  renderRequestFields,
  RESPONSE_ERROR_CODES,
} from '../../src/dialects/responses/render/render-response-fields.ts'

/** Compiles only if the type has no names; otherwise the error shows them. */
function expectNone<_Missing extends never>(): void {}

type RenderedField = keyof (ReturnType<typeof renderProgressFields> &
  ReturnType<typeof renderRequestFields>)

/** Optional fields of a response that only an upstream knows; they are in responses that pass through. */
type UpstreamField =
  | 'image'
  | 'moderation'
  | 'prompt_cache_diagnostics'
  | 'prompt_cache_options'
  | 'prompt_cache_retention'
  | 'tool_usage'

/** Fields that are forwarded to an upstream with the same API; for any other, a note is written. */
type ExtraResponsesField =
  | 'access_programs'
  | 'image'
  | 'max_tool_calls'
  | 'moderation'
  | 'prompt'
  | 'prompt_cache_options'
  | 'prompt_cache_retention'

type ExtraChatField =
  | 'audio'
  | 'logit_bias'
  | 'modalities'
  | 'moderation'
  | 'n'
  | 'prediction'
  | 'prompt_cache_options'
  | 'prompt_cache_retention'
  | 'response_format'
  | 'web_search_options'

test('a rendered response has every field of a response of the package openai, or leaves it to the upstream', () => {
  expectNone<
    Exclude<
      keyof Required<Response>,
      // `output` is rendered separately, and the SDK adds `output_text`.
      RenderedField | 'output' | 'output_text' | UpstreamField
    >
  >()
})

test('every parameter of a Responses request of the package openai is known, or forwarded as an extra field', () => {
  expectNone<
    Exclude<
      keyof ResponseCreateParamsNonStreaming | keyof ResponseCreateParamsStreaming,
      (typeof KNOWN_RESPONSES_FIELDS)[number] | ExtraResponsesField
    >
  >()
})

test('every parameter of a chat request of the package openai is known, or forwarded as an extra field', () => {
  expectNone<
    Exclude<
      keyof ChatCompletionCreateParamsNonStreaming | keyof ChatCompletionCreateParamsStreaming,
      (typeof KNOWN_CHAT_FIELDS)[number] | ExtraChatField
    >
  >()
})

test('every type of output item of the package openai has an id prefix', () => {
  expectNone<Exclude<ResponseOutputItem['type'], keyof typeof ITEM_ID_PREFIXES>>()
})

test('every error code of a response of the package openai is passed on', () => {
  expectNone<Exclude<ResponseError['code'], (typeof RESPONSE_ERROR_CODES)[number]>>()
})

test('every value of include of the package openai has a rule', () => {
  expectNone<Exclude<ResponseIncludable, keyof typeof INCLUDE_RULES>>()
})

test('item id prefixes are different, so that a prefix tells the type of an item', () => {
  const prefixes = Object.values(ITEM_ID_PREFIXES)
  expect(new Set(prefixes).size).toBe(prefixes.length)
  for (const prefix of prefixes) expect(prefix).toMatch(/^[a-z]{2,5}$/)
})
