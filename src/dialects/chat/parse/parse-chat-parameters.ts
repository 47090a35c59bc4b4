/** Parses the parameters of a chat request: model, tools, sampling, output format. */
import { isObject, type JsonObject } from '../../../core/json/json.ts'
import type { OutputFormat, PromptParameters } from '../../../core/prompt.ts'
import {
  asBoolean,
  asInteger,
  asObject,
  asString,
  readOptional,
  createMissingFieldError,
  type JsonReader,
} from '../../checks/check-json-types.ts'
import {
  asDecimalBetween,
  asIntegerBetween,
  asStopSequences,
  asPositiveInteger,
} from '../../checks/check-value-limits.ts'
import {
  parseLegacyFunctionChoice,
  parseLegacyFunctions,
  parseChatToolChoice,
  parseChatTools,
} from './parse-chat-tools.ts'

export function parseChatParameters(body: JsonObject): PromptParameters {
  const read = <Value>(name: string, reader: JsonReader<Value>) =>
    readOptional(reader, body[name], name)
  const reasoning = isObject(body['reasoning']) ? body['reasoning'] : {}
  const logprobs = read('logprobs', asBoolean) === true
  const topLogprobs = read('top_logprobs', asIntegerBetween(0, 20))
  const legacyLimit = read('max_tokens', asPositiveInteger)
  const format = parseFormat(body['response_format'])
  // Checks three parameters that have no field of their own in the result: `n` and `logit_bias` are
  // forwarded unchanged in `extra`, and the stream renderer reads `stream_options` from the body.
  read('n', asIntegerBetween(1, 128))
  read('logit_bias', asObject)
  read('stream_options', asObject)
  return {
    model: parseModel(body['model']),
    instructions: null,
    tools: read('tools', parseChatTools) ?? read('functions', parseLegacyFunctions) ?? [],
    toolChoice:
      read('tool_choice', parseChatToolChoice) ?? read('function_call', parseLegacyFunctionChoice),
    parallelToolCalls: read('parallel_tool_calls', asBoolean),
    temperature: read('temperature', asDecimalBetween(0, 2)),
    topP: read('top_p', asDecimalBetween(0, 1)),
    maxOutputTokens: read('max_completion_tokens', asPositiveInteger) ?? legacyLimit,
    stop: read('stop', asStopSequences) ?? [],
    seed: read('seed', asInteger),
    presencePenalty: read('presence_penalty', asDecimalBetween(-2, 2)),
    frequencyPenalty: read('frequency_penalty', asDecimalBetween(-2, 2)),
    topLogprobs: topLogprobs ?? (logprobs ? 0 : null),
    format,
    verbosity: read('verbosity', asString),
    effort: read('reasoning_effort', asString) ?? readText(reasoning, 'effort'),
    reasoningSummary: readText(reasoning, 'summary'),
    serviceTier: read('service_tier', asString),
    promptCacheKey: read('prompt_cache_key', asString),
    safetyIdentifier: read('safety_identifier', asString),
    user: read('user', asString),
    include: logprobs ? ['message.output_text.logprobs'] : [],
    extra: pickExtraFields(body, format),
  }
}

function parseModel(value: unknown): string {
  const model = asString(value, 'model')
  if (model === '') throw createMissingFieldError('model')
  return model
}

/**
 * Parses `response_format`. Returns `null` if it is absent or its type is unknown. A format of an
 * unknown type is forwarded unchanged in `extra`.
 */
function parseFormat(value: unknown): OutputFormat | null {
  const format = readOptional(asObject, value, 'response_format')
  if (format === null) return null
  const type = asString(format['type'], 'response_format.type')
  if (type === 'text' || type === 'json_object') return { type }
  return type === 'json_schema' ? parseSchema(format['json_schema']) : null
}

function parseSchema(value: unknown): OutputFormat {
  const path = 'response_format.json_schema'
  const format = asObject(value, path)
  return {
    type: 'json_schema',
    name: asString(format['name'], `${path}.name`),
    schema: readOptional(asObject, format['schema'], `${path}.schema`) ?? {},
    strict: readOptional(asBoolean, format['strict'], `${path}.strict`),
    description: readOptional(asString, format['description'], `${path}.description`),
  }
}

function readText(object: JsonObject, name: string): string | null {
  const value = object[name]
  return typeof value === 'string' ? value : null
}

/**
 * Fields of a request that are never copied to `extra` (the unknown fields, forwarded unchanged),
 * because PromptParameters, StorageOptions or the stream renderer handle them.
 */
export const KNOWN_CHAT_FIELDS = [
  'model',
  'messages',
  'tools',
  'functions',
  'tool_choice',
  'function_call',
  'parallel_tool_calls',
  'temperature',
  'top_p',
  'max_tokens',
  'max_completion_tokens',
  'stop',
  'seed',
  'presence_penalty',
  'frequency_penalty',
  'logprobs',
  'top_logprobs',
  'verbosity',
  'reasoning_effort',
  'service_tier',
  'prompt_cache_key',
  'safety_identifier',
  'user',
  'store',
  'metadata',
  'stream',
  'stream_options',
] as const
const KNOWN_FIELDS: ReadonlySet<string> = new Set(KNOWN_CHAT_FIELDS)
const KNOWN_REASONING_FIELDS: ReadonlySet<string> = new Set(['effort', 'summary'])

function pickExtraFields(body: JsonObject, format: OutputFormat | null): JsonObject {
  const { reasoning } = body
  const isKnown = (name: string): boolean => {
    if (name === 'response_format') return format !== null
    if (name !== 'reasoning' || !isObject(reasoning)) return KNOWN_FIELDS.has(name)
    return Object.keys(reasoning).every((key) => KNOWN_REASONING_FIELDS.has(key))
  }
  return Object.fromEntries(
    Object.entries(body).filter(
      ([name, value]) => value !== undefined && value !== null && !isKnown(name),
    ),
  )
}
