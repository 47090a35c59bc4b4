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

type Word = (prompt: Prompt, place: ParameterContext) => BodyFields

export const PARAMETER_ENCODERS: readonly Word[] = [
  plain('model', 'model'),
  instructions,
  tools,
  toolChoice,
  plain('parallelToolCalls', 'parallel_tool_calls'),
  plain('temperature', 'temperature'),
  plain('topP', 'top_p'),
  maxOutputTokens,
  stop,
  plain('topLogprobs', 'top_logprobs'),
  text,
  reasoning,
  plain('serviceTier', 'service_tier'),
  plain('promptCacheKey', 'prompt_cache_key'),
  plain('safetyIdentifier', 'safety_identifier'),
  plain('user', 'user'),
  include,
  streamOptions,
]

const NOTHING: BodyFields = {}

/** Whether the client said it in this language, and the gateway has not changed it. */
function isSaid(
  { params, source }: Prompt,
  ...words: readonly (keyof PromptParameters)[]
): boolean {
  return (
    source.dialect === 'responses' && words.every((word) => params[word] === source.params[word])
  )
}

function plain(
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
): Word {
  return (prompt) =>
    isSaid(prompt, word) ? NOTHING : { [field]: prompt.params[word] ?? undefined }
}

/** As a list they stand among the items already. */
function instructions(prompt: Prompt, { body }: ParameterContext): BodyFields {
  if (isSaid(prompt, 'instructions') && !Array.isArray(body['instructions'])) return NOTHING
  return { instructions: prompt.params.instructions ?? undefined }
}

function tools(prompt: Prompt, { note }: ParameterContext): BodyFields {
  if (isSaid(prompt, 'tools')) return NOTHING
  const sent = encodeTools(prompt, (at, why, detail) => note(`tools[${at}]`, why, detail))
  return { tools: sent.length === 0 ? undefined : sent }
}

function toolChoice(prompt: Prompt, { body, note }: ParameterContext): BodyFields {
  // Clients write it as Chat Completions wants it, too.
  const written = body['tool_choice']
  const isNested =
    isObject(written) &&
    ['function', 'custom', 'allowed_tools'].some((name) => isObject(written[name]))
  if (isSaid(prompt, 'toolChoice', 'tools') && !isNested) return NOTHING
  const { params, source } = prompt
  return {
    tool_choice: encodeToolChoice(params, source.dialect, (why) => note('tool_choice', why)),
  }
}

const MIN_OUTPUT_TOKENS = 16

/** A probe for a single token is refused by OpenAI, so it gets a few more than it wanted. */
function maxOutputTokens(prompt: Prompt, { account, note }: ParameterContext): BodyFields {
  const wanted = prompt.params.maxOutputTokens
  const { minOutputTokens } = account.quirks
  const least = typeof minOutputTokens === 'number' ? minOutputTokens : MIN_OUTPUT_TOKENS
  if (wanted !== null && wanted < least) {
    note('max_output_tokens', 'below-minimum')
    return { max_output_tokens: least }
  }
  return isSaid(prompt, 'maxOutputTokens') ? NOTHING : { max_output_tokens: wanted ?? undefined }
}

function stop(prompt: Prompt, { account, body, note }: ParameterContext): BodyFields {
  const { sent, unsent } = planStopSequences(prompt, account)
  if (unsent.length > 0) note('stop', 'stop-enforced')
  if (isSaid(prompt, 'stop') && (acceptsExtraField('stop', account) || !('stop' in body)))
    return NOTHING
  return { stop: sent.length === 0 ? undefined : sent }
}

function text(prompt: Prompt, { body, note }: ParameterContext): BodyFields {
  const isMisplaced = 'verbosity' in body
  if (isSaid(prompt, 'format', 'verbosity') && !isMisplaced) return NOTHING
  if (isMisplaced && body['verbosity'] !== null) note('verbosity', 'parameter-moved')
  const { format, verbosity } = prompt.params
  const said = { verbosity: verbosity ?? undefined }
  const fields = isSaid(prompt, 'format') ? said : { ...said, format: formatOf(format) }
  return { verbosity: undefined, text: inside(body['text'], fields) }
}

function reasoning(prompt: Prompt, { body, note }: ParameterContext): BodyFields {
  const isMisplaced = 'reasoning_effort' in body
  if (isSaid(prompt, 'effort', 'reasoningSummary') && !isMisplaced) return NOTHING
  if (isMisplaced && body['reasoning_effort'] !== null) note('reasoning_effort', 'parameter-moved')
  const { effort, reasoningSummary } = prompt.params
  const fields = { effort: effort ?? undefined, summary: reasoningSummary ?? undefined }
  return { reasoning_effort: undefined, reasoning: inside(body['reasoning'], fields) }
}

/** What is the gateway's own to include is not for the upstream. */
function include(prompt: Prompt, { body }: ParameterContext): BodyFields {
  const { include, topLogprobs } = prompt.params
  const sent = include.filter((name) => name !== 'reasoning.raw')
  if (isSaid(prompt, 'include') && sent.length === include.length) return NOTHING
  // In chat, who says how many has asked for them.
  if (prompt.source.dialect === 'chat' && topLogprobs !== null && !sent.includes(LOGPROBS)) {
    sent.push(LOGPROBS)
  }
  return { include: sent.length === 0 && body['include'] === undefined ? undefined : sent }
}

const LOGPROBS = 'message.output_text.logprobs'

/** Usage always comes here; to ask for it is a word of Chat Completions. */
function streamOptions(_prompt: Prompt, { body }: ParameterContext): BodyFields {
  const options = body['stream_options']
  if (!isObject(options) || !('include_usage' in options)) return NOTHING
  return { stream_options: inside(options, { include_usage: undefined }) }
}

/** A field that holds fields, without those that were never in it. */
function inside(written: Json | undefined, fields: BodyFields): JsonObject | undefined {
  const object = patchObject(isObject(written) ? written : {}, fields)
  return Object.keys(object).length === 0 ? undefined : object
}

function formatOf(format: OutputFormat | null): JsonObject | undefined {
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
