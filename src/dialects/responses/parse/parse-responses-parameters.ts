/** Parses the parameters of a Responses request: model, tools, sampling, output format. */
import type { Json, JsonObject } from '../../../core/json/json.ts'
import type { OutputFormat, PromptParameters } from '../../../core/prompt.ts'
import {
  asBoolean,
  asInteger,
  asListOf,
  asObject,
  asOneOf,
  asString,
  readOptional,
  type JsonReader,
} from '../../checks/check-json-types.ts'
import {
  asStopSequences,
  asDecimalBetween,
  asIntegerBetween,
  asPositiveInteger,
} from '../../checks/check-value-limits.ts'
import { parseResponsesToolChoice, parseResponsesTools } from './parse-responses-tools.ts'

export function parseResponsesParameters(body: JsonObject): PromptParameters {
  const read = <Value>(name: string, reader: JsonReader<Value>) =>
    readOptional(reader, body[name], name)
  const text = read('text', asObject) ?? {}
  const reasoning = read('reasoning', asObject) ?? {}
  const { instructions } = body
  return {
    model: asString(body['model'], 'model'),
    instructions: Array.isArray(instructions) ? null : read('instructions', asString),
    tools: read('tools', parseResponsesTools) ?? [],
    toolChoice: read('tool_choice', parseResponsesToolChoice),
    parallelToolCalls: read('parallel_tool_calls', asBoolean),
    temperature: read('temperature', asDecimalBetween(0, 2)),
    topP: read('top_p', asDecimalBetween(0, 1)),
    // OpenAI requires 16 or more, which `reject-low-output-limit.ts` checks in new requests.
    maxOutputTokens: read('max_output_tokens', asPositiveInteger),
    stop: read('stop', asStopSequences) ?? [],
    seed: read('seed', asInteger),
    presencePenalty: read('presence_penalty', asDecimalBetween(-2, 2)),
    frequencyPenalty: read('frequency_penalty', asDecimalBetween(-2, 2)),
    topLogprobs: read('top_logprobs', asIntegerBetween(0, 20)),
    format: readOptional(asFormat, text['format'], 'text.format'),
    verbosity:
      readOptional(asString, text['verbosity'], 'text.verbosity') ?? read('verbosity', asString),
    effort:
      readOptional(asString, reasoning['effort'], 'reasoning.effort') ??
      read('reasoning_effort', asString),
    reasoningSummary:
      readOptional(asString, reasoning['summary'], 'reasoning.summary') ??
      readOptional(asString, reasoning['generate_summary'], 'reasoning.generate_summary'),
    serviceTier: read('service_tier', asString),
    promptCacheKey: read('prompt_cache_key', asString),
    safetyIdentifier: read('safety_identifier', asString),
    user: read('user', asString),
    include: read('include', asListOf(asString)) ?? [],
    extra: pickExtraFields(body, text, reasoning),
  }
}

/**
 * Fields of a request that are never copied to `extra` (the unknown fields, forwarded unchanged),
 * because PromptParameters, StorageOptions or OverflowOptions contain them.
 */
export const KNOWN_RESPONSES_FIELDS = [
  'model',
  'input',
  'instructions',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'temperature',
  'top_p',
  'max_output_tokens',
  'stop',
  'seed',
  'presence_penalty',
  'frequency_penalty',
  'top_logprobs',
  'text',
  'verbosity',
  'reasoning',
  'reasoning_effort',
  'service_tier',
  'prompt_cache_key',
  'safety_identifier',
  'user',
  'include',
  'store',
  'background',
  'previous_response_id',
  'conversation',
  'metadata',
  'stream',
  'stream_options',
  'truncation',
  'context_management',
  'generate',
] as const
const KNOWN_FIELDS: ReadonlySet<string> = new Set(KNOWN_RESPONSES_FIELDS)
const KNOWN_TEXT_FIELDS = new Set(['format', 'verbosity'])
const KNOWN_REASONING_FIELDS = new Set(['effort', 'summary', 'generate_summary'])

/**
 * Returns the unknown fields of the body, of `text` and of `reasoning` by path, e.g. `{
 * "text.new_field": 1 }`.
 */
function pickExtraFields(body: JsonObject, text: JsonObject, reasoning: JsonObject): JsonObject {
  return Object.fromEntries([
    ...listUnknownFields(body, KNOWN_FIELDS, ''),
    ...listUnknownFields(text, KNOWN_TEXT_FIELDS, 'text.'),
    ...listUnknownFields(reasoning, KNOWN_REASONING_FIELDS, 'reasoning.'),
  ])
}

function listUnknownFields(
  object: JsonObject,
  known: ReadonlySet<string>,
  prefix: string,
): readonly (readonly [string, Json | undefined])[] {
  return Object.entries(object)
    .filter(([name, value]) => !known.has(name) && value !== null && value !== undefined)
    .map(([name, value]) => [prefix + name, value])
}

const asFormatType = asOneOf(['text', 'json_object', 'json_schema'])

function asFormat(value: unknown, path: string): OutputFormat {
  const format = asObject(value, path)
  const type = asFormatType(asString(format['type'], `${path}.type`), `${path}.type`)
  if (type !== 'json_schema') return { type }
  return {
    type,
    name: asString(format['name'], `${path}.name`),
    schema: asObject(format['schema'], `${path}.schema`),
    strict: readOptional(asBoolean, format['strict'], `${path}.strict`),
    description: readOptional(asString, format['description'], `${path}.description`),
  }
}
