/**
 * Encodes each parameter of a prompt as Responses fields, with one function per parameter. A
 * parameter yields no field if the body of a Responses client contains it already, with the same
 * value and in the right format.
 */
import { patchObject } from '../../../core/json/patch-object.ts'
import { isObject, type Json, type JsonObject } from '../../../core/json/json.ts'
import type { OutputFormat, PromptParameters, Prompt } from '../../../core/prompt.ts'
import type { Account } from '../../provider-interface.ts'
import type { NoteCode } from '../encoding-notes.ts'
import { encodeToolChoice, encodeTools } from './encode-tools.ts'
import { acceptsExtraField, planStopSequences } from './accepts-stop-sequences.ts'

/** Fields to set in the body. A field with the value undefined is removed from it. */
export type BodyFields = Readonly<Record<string, Json | undefined>>
export type WriteFieldNote = (field: string, code: NoteCode, detail?: string) => void

export interface ParameterContext {
  readonly account: Account
  /** The body of a Responses client; empty for clients of other dialects. */
  readonly body: JsonObject
  readonly note: WriteFieldNote
}

type ParameterEncoder = (prompt: Prompt, context: ParameterContext) => BodyFields

export const PARAMETER_ENCODERS: readonly ParameterEncoder[] = [
  encodePlain('model', 'model'),
  encodeInstructions,
  encodeToolList,
  encodeChoice,
  encodePlain('parallelToolCalls', 'parallel_tool_calls'),
  encodePlain('temperature', 'temperature'),
  encodePlain('topP', 'top_p'),
  encodeMaxOutputTokens,
  encodeStop,
  encodePlain('topLogprobs', 'top_logprobs'),
  encodeText,
  encodeReasoning,
  encodePlain('serviceTier', 'service_tier'),
  encodePlain('promptCacheKey', 'prompt_cache_key'),
  encodePlain('safetyIdentifier', 'safety_identifier'),
  encodePlain('user', 'user'),
  encodeInclude,
  encodeStreamOptions,
]

const NO_FIELDS: BodyFields = {}

/** True if the client speaks Responses and no transform changed these parameters. */
function isUnchanged(
  { params, source }: Prompt,
  ...names: readonly (keyof PromptParameters)[]
): boolean {
  return (
    source.dialect === 'responses' && names.every((name) => params[name] === source.params[name])
  )
}

/** The names of the parameters whose value is a string, a number or a boolean. */
type PlainParameter = {
  [Name in keyof PromptParameters]: PromptParameters[Name] extends string | number | boolean | null
    ? Name
    : never
}[keyof PromptParameters]

function encodePlain(name: PlainParameter, field: string): ParameterEncoder {
  return (prompt) =>
    isUnchanged(prompt, name) ? NO_FIELDS : { [field]: prompt.params[name] ?? undefined }
}

/** Removes instructions that the client sent as a list, because they were parsed into items. */
function encodeInstructions(prompt: Prompt, { body }: ParameterContext): BodyFields {
  if (isUnchanged(prompt, 'instructions') && !Array.isArray(body['instructions'])) return NO_FIELDS
  return { instructions: prompt.params.instructions ?? undefined }
}

function encodeToolList(prompt: Prompt, { note }: ParameterContext): BodyFields {
  if (isUnchanged(prompt, 'tools')) return NO_FIELDS
  const encoded = encodeTools(prompt, (index, code, detail) =>
    note(`tools[${index}]`, code, detail),
  )
  return { tools: encoded.length === 0 ? undefined : encoded }
}

function encodeChoice(prompt: Prompt, { body, note }: ParameterContext): BodyFields {
  // Encodes the tool choice again if the client sent the nested form of Chat Completions:
  // `{ function: { name } }`.
  const clientChoice = body['tool_choice']
  const isNested =
    isObject(clientChoice) &&
    ['function', 'custom', 'allowed_tools'].some((name) => isObject(clientChoice[name]))
  if (isUnchanged(prompt, 'toolChoice', 'tools') && !isNested) return NO_FIELDS
  const { params, source } = prompt
  return {
    tool_choice: encodeToolChoice(params, source.dialect, (code) => note('tool_choice', code)),
  }
}

const MIN_OUTPUT_TOKENS = 16

/**
 * Encodes the output limit, raised to OpenAI's minimum of 16, because clients send
 * `max_output_tokens: 1` to test a model.
 */
function encodeMaxOutputTokens(prompt: Prompt, { account, note }: ParameterContext): BodyFields {
  const requested = prompt.params.maxOutputTokens
  const { minOutputTokens } = account.quirks
  const minimum = typeof minOutputTokens === 'number' ? minOutputTokens : MIN_OUTPUT_TOKENS
  if (requested !== null && requested < minimum) {
    note('max_output_tokens', 'below-minimum')
    return { max_output_tokens: minimum }
  }
  return isUnchanged(prompt, 'maxOutputTokens')
    ? NO_FIELDS
    : { max_output_tokens: requested ?? undefined }
}

function encodeStop(prompt: Prompt, { account, body, note }: ParameterContext): BodyFields {
  const { sent, unsent } = planStopSequences(prompt, account)
  if (unsent.length > 0) note('stop', 'stop-enforced')
  if (isUnchanged(prompt, 'stop') && (acceptsExtraField('stop', account) || !('stop' in body)))
    return NO_FIELDS
  return { stop: sent.length === 0 ? undefined : sent }
}

function encodeText(prompt: Prompt, { body, note }: ParameterContext): BodyFields {
  const isMisplaced = 'verbosity' in body
  if (isUnchanged(prompt, 'format', 'verbosity') && !isMisplaced) return NO_FIELDS
  if (isMisplaced && body['verbosity'] !== null) note('verbosity', 'parameter-moved')
  const { format, verbosity } = prompt.params
  const fields: BodyFields = {
    verbosity: verbosity ?? undefined,
    ...(isUnchanged(prompt, 'format') ? {} : { format: encodeFormat(format) }),
  }
  return { verbosity: undefined, text: patchNestedFields(body['text'], fields) }
}

function encodeReasoning(prompt: Prompt, { body, note }: ParameterContext): BodyFields {
  const isMisplaced = 'reasoning_effort' in body
  if (isUnchanged(prompt, 'effort', 'reasoningSummary') && !isMisplaced) return NO_FIELDS
  if (isMisplaced && body['reasoning_effort'] !== null) note('reasoning_effort', 'parameter-moved')
  const { effort, reasoningSummary } = prompt.params
  const fields = { effort: effort ?? undefined, summary: reasoningSummary ?? undefined }
  return { reasoning_effort: undefined, reasoning: patchNestedFields(body['reasoning'], fields) }
}

/** Removes `reasoning.raw`, a value of `include` that only the gateway supports. */
function encodeInclude(prompt: Prompt, { body }: ParameterContext): BodyFields {
  const { include, topLogprobs } = prompt.params
  const sent = include.filter((name) => name !== 'reasoning.raw')
  if (isUnchanged(prompt, 'include') && sent.length === include.length) return NO_FIELDS
  // Chat Completions requests log probabilities by `top_logprobs` alone; this API needs a value of
  // `include` too.
  if (prompt.source.dialect === 'chat' && topLogprobs !== null && !sent.includes(LOGPROBS)) {
    sent.push(LOGPROBS)
  }
  return { include: sent.length === 0 && body['include'] === undefined ? undefined : sent }
}

const LOGPROBS = 'message.output_text.logprobs'

/** Removes `include_usage`, which only Chat Completions has: this API always sends usage. */
function encodeStreamOptions(_prompt: Prompt, { body }: ParameterContext): BodyFields {
  const options = body['stream_options']
  if (!isObject(options) || !('include_usage' in options)) return NO_FIELDS
  return { stream_options: patchNestedFields(options, { include_usage: undefined }) }
}

/** Returns `original` with `fields` set, or undefined if the result is an empty object. */
function patchNestedFields(original: Json | undefined, fields: BodyFields): JsonObject | undefined {
  const object = patchObject(isObject(original) ? original : {}, fields)
  return Object.keys(object).length === 0 ? undefined : object
}

function encodeFormat(format: OutputFormat | null): JsonObject | undefined {
  if (format === null) return undefined
  if (format.type !== 'json_schema') return { type: format.type }
  const { type, name, schema, strict, description } = format
  return {
    type,
    name,
    schema,
    ...(strict === null ? {} : { strict }),
    ...(description === null ? {} : { description }),
  }
}
