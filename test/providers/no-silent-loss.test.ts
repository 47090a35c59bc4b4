/**
 * Law: whatever field a client sets, over every wire either the upstream request changes, or a note names
 * the field, or the gateway itself implements the field.
 */
import type { ChatCompletionCreateParamsStreaming } from 'openai/resources/chat/completions'
import type {
  ResponseCreateParamsStreaming,
  FunctionTool,
} from 'openai/resources/responses/responses'
import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/core/json/json.ts'
import type { Dialect } from '../../src/core/ports/dialect-interface.ts'
import { chatDialect } from '../../src/dialects/chat/chat-dialect.ts'
import { responsesDialect } from '../../src/dialects/responses/responses-dialect.ts'
import type { Provider } from '../../src/providers/provider-interface.ts'
import { PROVIDERS } from '../../src/providers/provider-registry.ts'
import { plainAccount } from '../support/account.ts'

/** `null`: a field that the gateway itself implements, or without which there is no request. */
type Samples<Field extends PropertyKey> = Readonly<Record<Field, unknown>>

const TOOL = { type: 'function', name: 'f', parameters: { type: 'object' } }
const SCHEMA = { type: 'object', properties: { a: { type: 'string' } } }

const RESPONSES_FIELDS: Samples<keyof ResponseCreateParamsStreaming> = {
  access_programs: { cyber: 'standard' },
  background: null,
  // Compaction is the gateway's own, if the upstream has none.
  context_management: null,
  conversation: null,
  image: { context_compression: 'enabled' },
  include: ['file_search_call.results'],
  input: null,
  instructions: 'Be brief.',
  max_output_tokens: 50,
  max_tool_calls: 3,
  metadata: null,
  model: null,
  moderation: { model: 'omni-moderation-latest' },
  parallel_tool_calls: false,
  previous_response_id: null,
  prompt: { id: 'pmpt_1' },
  prompt_cache_key: 'k',
  prompt_cache_options: { mode: 'explicit' },
  prompt_cache_retention: '24h',
  reasoning: { effort: 'high' },
  safety_identifier: 's',
  service_tier: 'flex',
  store: null,
  stream: null,
  // Obfuscation pads events against observers, which only the server that writes them can do.
  stream_options: null,
  temperature: 0.5,
  text: { verbosity: 'low' },
  tool_choice: 'required',
  tools: [TOOL],
  top_logprobs: 3,
  top_p: 0.5,
  truncation: null,
  user: 'u',
}

const CHAT_FIELDS: Samples<keyof ChatCompletionCreateParamsStreaming> = {
  messages: null,
  model: null,
  audio: { voice: 'alloy', format: 'wav' },
  frequency_penalty: 1,
  function_call: { name: 'f' },
  functions: [{ name: 'f', parameters: SCHEMA }],
  logit_bias: { 5: 1 },
  logprobs: true,
  max_completion_tokens: 50,
  max_tokens: 50,
  metadata: null,
  modalities: ['text', 'audio'],
  moderation: { model: 'omni-moderation-latest' },
  n: 2,
  parallel_tool_calls: false,
  prediction: { type: 'content', content: 'x' },
  presence_penalty: 1,
  prompt_cache_key: 'k',
  prompt_cache_options: { mode: 'explicit' },
  prompt_cache_retention: '24h',
  reasoning_effort: 'high',
  response_format: { type: 'json_schema', json_schema: { name: 'n', schema: SCHEMA } },
  safety_identifier: 's',
  seed: 1,
  service_tier: 'flex',
  stop: ['x'],
  store: null,
  stream: null,
  stream_options: null,
  temperature: 0.5,
  tool_choice: 'required',
  tools: [{ type: 'function', function: { name: 'f', parameters: SCHEMA } }],
  top_logprobs: 3,
  top_p: 0.5,
  user: 'u',
  verbosity: 'low',
  web_search_options: { search_context_size: 'low' },
}

const TOOL_FIELDS: Samples<keyof FunctionTool> = {
  name: null,
  type: null,
  parameters: null,
  strict: null,
  allowed_callers: ['programmatic'],
  async: true,
  defer_loading: true,
  description: 'Tells the time.',
  output_schema: SCHEMA,
}

const WIRES = Object.values(PROVIDERS).map((provider) => [provider.wire, provider] as const)

describe.each(WIRES)('requests over the wire %s', (_, provider) => {
  test.each([
    ...listCases(responsesDialect, { input: 'Hi' }, RESPONSES_FIELDS),
    ...listCases(chatDialect, { messages: [{ role: 'user', content: 'Hi' }] }, CHAT_FIELDS),
  ])(
    'no field of a %s request vanishes without a note: %s',
    (_name, field, dialect, body, value) => {
      const base = { ...body, ...addTools(field, dialect) }
      expectNoLoss(provider, dialect, base, { ...base, [field]: value }, field)
    },
  )

  test.each(Object.entries(TOOL_FIELDS).filter(([, value]) => value !== null))(
    'no field of a function vanishes without a note: %s',
    (field, value) => {
      const wrap = (fn: object, outer: object = {}) => ({
        tools: [{ type: 'function', function: fn, ...outer }],
      })
      const responses = { model: 'm', input: 'Hi', tools: [TOOL] }
      const changed = {
        ...responses,
        tools: [{ ...TOOL, [field]: value }],
      } as unknown as JsonObject
      expectNoLoss(provider, responsesDialect, responses, changed, `tools[0].${field}`)
      const chat = { model: 'm', messages: [{ role: 'user', content: 'Hi' }] }
      const plain = { ...chat, ...wrap({ name: 'f' }) } as unknown as JsonObject
      for (const tools of [
        wrap({ name: 'f', [field]: value }),
        wrap({ name: 'f' }, { [`x_${field}`]: value }),
      ]) {
        const name = field in (tools.tools[0]?.function ?? {}) ? field : `x_${field}`
        expectNoLoss(
          provider,
          chatDialect,
          plain,
          { ...chat, ...tools } as unknown as JsonObject,
          `tools[0].${name}`,
        )
      }
    },
  )
})

/** Adds tools to a request whose field is about tools. */
function addTools(field: string, { name }: Dialect): object {
  if (field === 'function_call') return { functions: CHAT_FIELDS.functions }
  if (field !== 'tool_choice' && field !== 'parallel_tool_calls') return {}
  return { tools: (name === 'chat' ? CHAT_FIELDS : RESPONSES_FIELDS).tools }
}

function listCases(dialect: Dialect, body: object, samples: Samples<string>) {
  return Object.entries(samples)
    .filter(([, value]) => value !== null)
    .map(
      ([field, value]) => [dialect.name, field, dialect, { model: 'm', ...body }, value] as const,
    )
}

function expectNoLoss(
  provider: Provider,
  dialect: Dialect,
  without: JsonObject,
  body: JsonObject,
  field: string,
): void {
  const before = encode(provider, dialect, without)
  const after = encode(provider, dialect, body)
  const isSent = JSON.stringify(after.body) !== JSON.stringify(before.body)
  const isHandled = (after.unsentStopSequences ?? []).length > 0
  const noted = after.notes.map((note) => note.field ?? '')
  const names = [field, ...(NAMES_IN_NOTES[field] ?? [])]
  const isNoted = noted.some((name) =>
    names.some((each) => name === each || name.startsWith(`${each}.`)),
  )
  expect({ field, isKnown: isSent || isHandled || isNoted, noted }).toMatchObject({ isKnown: true })
}

/** Notes have the names of the Responses API; `translate-provider-notes.ts` translates them. */
const NAMES_IN_NOTES: Readonly<Record<string, readonly string[]>> = {
  logprobs: ['include'],
  text: ['verbosity', 'text.verbosity'],
  verbosity: ['text.verbosity'],
  reasoning: ['reasoning_effort'],
  reasoning_effort: ['reasoning.effort'],
  response_format: ['text.format'],
  max_tokens: ['max_output_tokens'],
  max_completion_tokens: ['max_output_tokens'],
  function_call: ['tool_choice'],
}

function encode(provider: Provider, dialect: Dialect, body: JsonObject) {
  const clientRequest = dialect.parse(body)
  const { items, params, stream, bytes } = clientRequest
  const source = { dialect: dialect.name, body: clientRequest.body, bytes, items, params }
  // A gateway tool is offered too, so that a client's own body cannot be forwarded as it is.
  const tools = [
    ...params.tools,
    { type: 'function', name: 'own', description: null, parameters: null, strict: false } as const,
  ]
  return provider.encode(
    { items, params: { ...params, tools }, stream, source },
    plainAccount(provider.wire),
  )
}

test.each(WIRES)('over the wire %s, raw reasoning is included without a note', (_, provider) => {
  const body = {
    model: 'm',
    input: 'Hi',
    include: ['reasoning.raw', 'reasoning.encrypted_content'],
  }
  const lost = encode(provider, responsesDialect, body).notes.filter(({ did }) => did === 'dropped')
  expect(lost).toEqual([])
})
