/**
 * Encodes single parameters of a prompt as Responses fields. A parameter yields no field if the
 * body of a Responses client already contains it in the right form.
 */
import { isObject, type Json, type JsonObject } from '../../../core/json/json.ts'
import { patchObject } from '../../../core/json/patch-object.ts'
import type { OutputFormat, PromptParameters, Prompt } from '../../../core/prompt.ts'
import type { Account } from '../../provider-interface.ts'
import { type SplitStopSequences, splitStopSequences } from '../../request/split-stop-sequences.ts'
import type { ResponsesNotes } from '../encoding-notes.ts'
import { encodeToolChoice, encodeTools } from './encode-tools.ts'

/** Changes to the body by field: the new value, or undefined to remove the field. */
export type BodyChanges = Readonly<Record<string, Json | undefined>>

export interface ParameterContext {
  readonly account: Account
  /** The body of a Responses client; empty for other clients. */
  readonly body: JsonObject
  readonly notes: ResponsesNotes
}

type ParameterEncoder = (prompt: Prompt, context: ParameterContext) => BodyChanges

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

const NO_CHANGES: BodyChanges = {}

/** True if the client uses the Responses API and no transform changed the parameters `names`. */
function isUnchanged(
  { params, source }: Prompt,
  ...names: readonly (keyof PromptParameters)[]
): boolean {
  return (
    source.dialect === 'responses' && names.every((name) => params[name] === source.params[name])
  )
}

/** The parameters whose value is a string, a number or a boolean. */
type PlainParameter = {
  [Name in keyof PromptParameters]: PromptParameters[Name] extends string | number | boolean | null
    ? Name
    : never
}[keyof PromptParameters]

function encodePlain(name: PlainParameter, field: string): ParameterEncoder {
  return (prompt) =>
    isUnchanged(prompt, name) ? NO_CHANGES : { [field]: prompt.params[name] ?? undefined }
}

/**
 * Replaces instructions that the client sent as a list: they were parsed into items, which are part
 * of `input`.
 */
function encodeInstructions(prompt: Prompt, { body }: ParameterContext): BodyChanges {
  if (isUnchanged(prompt, 'instructions') && !Array.isArray(body['instructions'])) return NO_CHANGES
  return { instructions: prompt.params.instructions ?? undefined }
}

function encodeToolList(prompt: Prompt, { notes }: ParameterContext): BodyChanges {
  if (isUnchanged(prompt, 'tools')) return NO_CHANGES
  const encoded = encodeTools(prompt, notes)
  return { tools: encoded.length === 0 ? undefined : encoded }
}

function encodeChoice(prompt: Prompt, { body, notes }: ParameterContext): BodyChanges {
  // A choice in the nested form of Chat Completions, `{ function: { name } }`, must be encoded
  // again.
  const clientChoice = body['tool_choice']
  const isNested =
    isObject(clientChoice) &&
    ['function', 'custom', 'allowed_tools'].some((name) => isObject(clientChoice[name]))
  if (isUnchanged(prompt, 'toolChoice', 'tools') && !isNested) return NO_CHANGES
  const { params, source } = prompt
  return {
    tool_choice: encodeToolChoice(params, source.dialect, notes),
  }
}

const MIN_OUTPUT_TOKENS = 16

/**
 * Encodes the output limit. Raises it to OpenAI's minimum of 16, because clients test models with
 * `max_output_tokens: 1`.
 */
function encodeMaxOutputTokens(prompt: Prompt, { account, notes }: ParameterContext): BodyChanges {
  const requested = prompt.params.maxOutputTokens
  const { minOutputTokens } = account.quirks
  const minimum = typeof minOutputTokens === 'number' ? minOutputTokens : MIN_OUTPUT_TOKENS
  if (requested !== null && requested < minimum) {
    notes.write('below-minimum', { field: 'max_output_tokens' })
    return { max_output_tokens: minimum }
  }
  return isUnchanged(prompt, 'maxOutputTokens')
    ? NO_CHANGES
    : { max_output_tokens: requested ?? undefined }
}

function encodeStop(prompt: Prompt, { account, body, notes }: ParameterContext): BodyChanges {
  const { sent, unsent } = planStopSequences(prompt, account)
  if (unsent.length > 0) notes.write('stop-enforced', { field: 'stop' })
  if (isUnchanged(prompt, 'stop') && (acceptsExtraField('stop', account) || !('stop' in body)))
    return NO_CHANGES
  return { stop: sent.length === 0 ? undefined : sent }
}

function encodeText(prompt: Prompt, { body, notes }: ParameterContext): BodyChanges {
  const isMisplaced = 'verbosity' in body
  if (isUnchanged(prompt, 'format', 'verbosity') && !isMisplaced) return NO_CHANGES
  if (isMisplaced && body['verbosity'] !== null)
    notes.write('parameter-moved', { field: 'verbosity' })
  const { format, verbosity } = prompt.params
  const fields: BodyChanges = {
    verbosity: verbosity ?? undefined,
    ...(isUnchanged(prompt, 'format') ? {} : { format: encodeFormat(format) }),
  }
  return { verbosity: undefined, text: patchNestedFields(body['text'], fields) }
}

function encodeReasoning(prompt: Prompt, { body, notes }: ParameterContext): BodyChanges {
  const isMisplaced = 'reasoning_effort' in body
  if (isUnchanged(prompt, 'effort', 'reasoningSummary') && !isMisplaced) return NO_CHANGES
  if (isMisplaced && body['reasoning_effort'] !== null)
    notes.write('parameter-moved', { field: 'reasoning_effort' })
  const { effort, reasoningSummary } = prompt.params
  const fields = { effort: effort ?? undefined, summary: reasoningSummary ?? undefined }
  return { reasoning_effort: undefined, reasoning: patchNestedFields(body['reasoning'], fields) }
}

/** Encodes `include` without `reasoning.raw`, a value that only the gateway supports. */
function encodeInclude(prompt: Prompt, { body }: ParameterContext): BodyChanges {
  const { include, topLogprobs } = prompt.params
  const sent = include.filter((name) => name !== 'reasoning.raw')
  if (isUnchanged(prompt, 'include') && sent.length === include.length) return NO_CHANGES
  // `top_logprobs` alone suffices in Chat Completions. The Responses API also needs a value of
  // `include`.
  if (prompt.source.dialect === 'chat' && topLogprobs !== null && !sent.includes(LOGPROBS)) {
    sent.push(LOGPROBS)
  }
  return { include: sent.length === 0 && body['include'] === undefined ? undefined : sent }
}

const LOGPROBS = 'message.output_text.logprobs'

/**
 * Removes `include_usage`, which only Chat Completions has. The Responses API always sends usage.
 */
function encodeStreamOptions(_prompt: Prompt, { body }: ParameterContext): BodyChanges {
  const options = body['stream_options']
  if (!isObject(options) || !('include_usage' in options)) return NO_CHANGES
  return { stream_options: patchNestedFields(options, { include_usage: undefined }) }
}

/** Returns `base` with `fields` set; undefined if the result has no fields. */
function patchNestedFields(base: Json | undefined, fields: BodyChanges): JsonObject | undefined {
  const object = patchObject(isObject(base) ? base : {}, fields)
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

export function planStopSequences({ params }: Prompt, account: Account): SplitStopSequences {
  return splitStopSequences(params.stop, acceptsExtraField('stop', account) ? Infinity : 0)
}

/** True if the account's quirk `passes` lists the field, which OpenAI's API does not have. */
export function acceptsExtraField(field: string, { quirks }: Account): boolean {
  return Array.isArray(quirks['passes']) && quirks['passes'].includes(field)
}
