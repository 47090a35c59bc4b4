/** The settings of a chat request, every word of Params filled in. */
import { isObject, type JsonObject } from '../../../core/json/json.ts'
import type { Format, Params } from '../../../core/prompt.ts'
import {
  asBoolean,
  asInteger,
  asObject,
  asString,
  maybe,
  missing,
} from '../../checks/check-json-types.ts'
import { asDecimalIn, asIntegerIn } from '../../checks/check-value-limits.ts'
import { asStops } from '../../checks/read-stop-sequences.ts'
import {
  parseFunctionChoice,
  parseFunctions,
  parseToolChoice,
  parseTools,
} from './parse-chat-tools.ts'

export function parseParams(body: JsonObject): Params {
  const read = <Value>(name: string, as: (value: unknown, path: string) => Value) =>
    maybe(as, body[name], name)
  const reasoning = isObject(body['reasoning']) ? body['reasoning'] : {}
  const logprobs = read('logprobs', asBoolean) === true
  const topLogprobs = read('top_logprobs', asIntegerIn(0, 20))
  const limit = read('max_tokens', asLimit)
  const format = parseFormat(body['response_format'])
  read('n', asIntegerIn(1, 128))
  read('logit_bias', asObject)
  read('stream_options', asObject)
  return {
    model: parseModel(body['model']),
    instructions: null,
    tools: read('tools', parseTools) ?? read('functions', parseFunctions) ?? [],
    toolChoice: read('tool_choice', parseToolChoice) ?? read('function_call', parseFunctionChoice),
    parallelToolCalls: read('parallel_tool_calls', asBoolean),
    temperature: read('temperature', asDecimalIn(0, 2)),
    topP: read('top_p', asDecimalIn(0, 1)),
    maxOutputTokens: read('max_completion_tokens', asLimit) ?? limit,
    stop: read('stop', asStops) ?? [],
    seed: read('seed', asInteger),
    presencePenalty: read('presence_penalty', asDecimalIn(-2, 2)),
    frequencyPenalty: read('frequency_penalty', asDecimalIn(-2, 2)),
    topLogprobs: topLogprobs ?? (logprobs ? 0 : null),
    format,
    verbosity: read('verbosity', asString),
    effort: read('reasoning_effort', asString) ?? textAt(reasoning, 'effort'),
    reasoningSummary: textAt(reasoning, 'summary'),
    serviceTier: read('service_tier', asString),
    promptCacheKey: read('prompt_cache_key', asString),
    safetyIdentifier: read('safety_identifier', asString),
    user: read('user', asString),
    include: logprobs ? ['message.output_text.logprobs'] : [],
    extra: extraOf(body, format),
  }
}

const asLimit = asIntegerIn(1, Number.MAX_SAFE_INTEGER)

function parseModel(value: unknown): string {
  const model = asString(value, 'model')
  if (model === '') throw missing('model')
  return model
}

/** `null` as well for a format that other services have; it goes along as it is. */
function parseFormat(value: unknown): Format | null {
  const format = maybe(asObject, value, 'response_format')
  if (format === null) return null
  const type = asString(format['type'], 'response_format.type')
  if (type === 'text' || type === 'json_object') return { type }
  return type === 'json_schema' ? parseSchema(format['json_schema']) : null
}

function parseSchema(value: unknown): Format {
  const path = 'response_format.json_schema'
  const format = asObject(value, path)
  return {
    type: 'json_schema',
    name: asString(format['name'], `${path}.name`),
    schema: maybe(asObject, format['schema'], `${path}.schema`) ?? {},
    strict: maybe(asBoolean, format['strict'], `${path}.strict`),
    description: maybe(asString, format['description'], `${path}.description`),
  }
}

function textAt(object: JsonObject, name: string): string | null {
  const value = object[name]
  return typeof value === 'string' ? value : null
}

/** What has a place of its own in Params or in Memory, or is about the stream. */
const KNOWN: ReadonlySet<string> = new Set(
  `model messages tools functions tool_choice function_call parallel_tool_calls temperature top_p
  max_tokens max_completion_tokens stop seed presence_penalty frequency_penalty logprobs
  top_logprobs verbosity reasoning_effort service_tier prompt_cache_key safety_identifier user
  store metadata stream stream_options`.split(/\s+/),
)
const KNOWN_OF_REASONING: ReadonlySet<string> = new Set(['effort', 'summary'])

function extraOf(body: JsonObject, format: Format | null): JsonObject {
  const { reasoning } = body
  const isKnown = (name: string): boolean => {
    if (name === 'response_format') return format !== null
    if (name !== 'reasoning' || !isObject(reasoning)) return KNOWN.has(name)
    return Object.keys(reasoning).every((key) => KNOWN_OF_REASONING.has(key))
  }
  return Object.fromEntries(
    Object.entries(body).filter(
      ([name, value]) => value !== undefined && value !== null && !isKnown(name),
    ),
  )
}
