/**
 * One small function for each word of Params: the fields that say it here. A word that the body
 * says already, in this language and with the same meaning, yields nothing.
 */
import { patchObject } from '../../../core/json/patch-object.ts'
import { isObject, type Json, type JsonObject } from '../../../core/json/json.ts'
import type { OutputFormat, PromptParameters, Prompt } from '../../../core/prompt.ts'
import type { Account } from '../../provider-interface.ts'
import type { BodyFields, NoteFieldChange } from './merge-parameters-into-body.ts'
import { encodeToolChoice, encodeTools } from './encode-tools.ts'
import { acceptsExtraField, planStopSequences } from './accepts-stop-sequences.ts'

export interface ParameterContext {
  readonly account: Account
  /** What the client wrote, if it speaks this language; otherwise empty. */
  readonly body: JsonObject
  readonly note: NoteFieldChange
}

type ParameterEncoder = (prompt: Prompt, place: ParameterContext) => BodyFields

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

/** Whether the client said it in this language, and the gateway has not changed it. */
function isUnchanged(
  { params, source }: Prompt,
  ...words: readonly (keyof PromptParameters)[]
): boolean {
  return (
    source.dialect === 'responses' && words.every((word) => params[word] === source.params[word])
  )
}

function encodePlain(
  word: {
    [Word in keyof PromptParameters]: PromptParameters[Word] extends
      | string
      | number
      | boolean
      | null
      ? Word
      : never
  }[keyof PromptParameters],
  field: string,
): ParameterEncoder {
  return (prompt) =>
    isUnchanged(prompt, word) ? NO_FIELDS : { [field]: prompt.params[word] ?? undefined }
}

/** As a list they stand among the items already. */
function encodeInstructions(prompt: Prompt, { body }: ParameterContext): BodyFields {
  if (isUnchanged(prompt, 'instructions') && !Array.isArray(body['instructions'])) return NO_FIELDS
  return { instructions: prompt.params.instructions ?? undefined }
}

function encodeToolList(prompt: Prompt, { note }: ParameterContext): BodyFields {
  if (isUnchanged(prompt, 'tools')) return NO_FIELDS
  const sent = encodeTools(prompt, (at, why, detail) => note(`tools[${at}]`, why, detail))
  return { tools: sent.length === 0 ? undefined : sent }
}

function encodeChoice(prompt: Prompt, { body, note }: ParameterContext): BodyFields {
  // Clients write it as Chat Completions wants it, too.
  const written = body['tool_choice']
  const isNested =
    isObject(written) &&
    ['function', 'custom', 'allowed_tools'].some((name) => isObject(written[name]))
  if (isUnchanged(prompt, 'toolChoice', 'tools') && !isNested) return NO_FIELDS
  const { params, source } = prompt
  return {
    tool_choice: encodeToolChoice(params, source.dialect, (why) => note('tool_choice', why)),
  }
}

const MIN_OUTPUT_TOKENS = 16

/** A probe for a single token is refused by OpenAI, so it gets a few more than it wanted. */
function encodeMaxOutputTokens(prompt: Prompt, { account, note }: ParameterContext): BodyFields {
  const wanted = prompt.params.maxOutputTokens
  const { minOutputTokens } = account.quirks
  const least = typeof minOutputTokens === 'number' ? minOutputTokens : MIN_OUTPUT_TOKENS
  if (wanted !== null && wanted < least) {
    note('max_output_tokens', 'below-minimum')
    return { max_output_tokens: least }
  }
  return isUnchanged(prompt, 'maxOutputTokens')
    ? NO_FIELDS
    : { max_output_tokens: wanted ?? undefined }
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
  const said = { verbosity: verbosity ?? undefined }
  const fields = isUnchanged(prompt, 'format') ? said : { ...said, format: encodeFormat(format) }
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

/** What is the gateway's own to include is not for the upstream. */
function encodeInclude(prompt: Prompt, { body }: ParameterContext): BodyFields {
  const { include, topLogprobs } = prompt.params
  const sent = include.filter((name) => name !== 'reasoning.raw')
  if (isUnchanged(prompt, 'include') && sent.length === include.length) return NO_FIELDS
  // In chat, who says how many has asked for them.
  if (prompt.source.dialect === 'chat' && topLogprobs !== null && !sent.includes(LOGPROBS)) {
    sent.push(LOGPROBS)
  }
  return { include: sent.length === 0 && body['include'] === undefined ? undefined : sent }
}

const LOGPROBS = 'message.output_text.logprobs'

/** Usage always comes here; to ask for it is a word of Chat Completions. */
function encodeStreamOptions(_prompt: Prompt, { body }: ParameterContext): BodyFields {
  const options = body['stream_options']
  if (!isObject(options) || !('include_usage' in options)) return NO_FIELDS
  return { stream_options: patchNestedFields(options, { include_usage: undefined }) }
}

/** A field that holds fields, without those that were never in it. */
function patchNestedFields(written: Json | undefined, fields: BodyFields): JsonObject | undefined {
  const object = patchObject(isObject(written) ? written : {}, fields)
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
