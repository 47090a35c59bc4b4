/**
 * A prompt as a request to /chat/completions. What a client of the same language wrote is sent on
 * as it is, to the byte where nothing had to change; anything else is told in chat's words.
 */
import { isObject, type Json, type JsonObject } from '../../../core/json/json.ts'
import type { PromptParameters, Prompt } from '../../../core/prompt.ts'
import type { Account, EncodedRequest } from '../../provider-interface.ts'
import { encodeMessages } from './encode-messages.ts'
import { PARAMETER_ENCODERS, planStopSequences } from './encode-parameters.ts'
import { isDefaultValue } from '../../request/is-default-value.ts'
import { createNoteCollector } from '../encoding-notes.ts'
import { resolveChatOptions, type EncodingContext } from './encoding-context.ts'
import { mustRewriteMessages } from './detect-unsupported-messages.ts'
import { removeJsonField } from './remove-json-field.ts'

export function encodeRequest(prompt: Prompt, account: Account): EncodedRequest {
  const options = resolveChatOptions(prompt, account)
  const notebook = createNoteCollector()
  const encoding: EncodingContext = { options, notes: notebook }
  const said = options.isChatClient
    ? editClientBody(prompt, encoding)
    : { body: buildBody(prompt, encoding) }
  const { query } = options.quirks
  const path = query === undefined ? '/chat/completions' : `/chat/completions?${query}`
  const { unsent } = planStopSequences(prompt.params, options)
  return { ...said, path, notes: notebook.notes, unsentStopSequences: unsent }
}

function buildBody(prompt: Prompt, encoding: EncodingContext): JsonObject {
  const { params, stream, items } = prompt
  let fields: JsonObject = {}
  for (const write of Object.values(PARAMETER_ENCODERS))
    fields = { ...fields, ...write(params, encoding) }
  if (stream) fields = { ...fields, stream, ...requestUsage(encoding) }
  const messages = encodeMessages(items, params.instructions, encoding)
  // Last, so that with one more turn the body only grows at its end.
  return { ...removeUnsendableFields(fields, encoding), messages }
}

function requestUsage({ options: { quirks } }: EncodingContext): JsonObject {
  if (quirks.refuses?.includes('stream_options')) return {}
  return { stream_options: { include_usage: true } }
}

/** What the client wrote, with as little of it changed as can be. */
function editClientBody(
  prompt: Prompt,
  encoding: EncodingContext,
): Pick<EncodedRequest, 'body' | 'bytes'> {
  const { source } = prompt
  const changes = {
    ...encodeChangedParameters(prompt, encoding),
    ...overrideGatewayFields(prompt),
    ...replaceMessages(prompt, encoding),
  }
  const changed = Object.entries(changes).filter(([name, value]) => source.body[name] !== value)
  const own = changed.length === 0 ? source.body : { ...source.body, ...changes }
  const body = removeUnsendableFields(own, encoding)
  const bytes = body === source.body ? source.bytes() : removeStoreFromBytes(body, source)
  return bytes === null ? { body } : { body, bytes }
}

/** If that is all that they have to lack. */
function removeStoreFromBytes(
  sent: JsonObject,
  { body, bytes }: Prompt['source'],
): Uint8Array | null {
  return differsOnlyInStore(sent, body) ? removeJsonField(bytes(), 'store') : null
}

function differsOnlyInStore(sent: JsonObject, written: JsonObject): boolean {
  const names = new Set([...Object.keys(sent), ...Object.keys(written)])
  return (
    [...names].every((name) => sent[name] === written[name] || name === 'store') &&
    !('store' in sent)
  )
}

function encodeChangedParameters(
  { params, source }: Prompt,
  encoding: EncodingContext,
): JsonObject {
  const { quirks, customTools } = encoding.options
  const names = Object.keys(PARAMETER_ENCODERS) as (keyof PromptParameters)[]
  const isChanged = (name: keyof PromptParameters): boolean => params[name] !== source.params[name]
  const changed = new Set(names.filter(isChanged))
  // What the account says of its upstream holds for what a client wrote as well.
  const { maxTokensField } = quirks
  const otherLimit = maxTokensField === 'max_tokens' ? 'max_completion_tokens' : 'max_tokens'
  if (maxTokensField !== undefined && (source.body[otherLimit] ?? null) !== null) {
    changed.add('maxOutputTokens')
    encoding.notes.write('parameter-renamed', { field: otherLimit })
  }
  if (planStopSequences(params, encoding.options).unsent.length > 0) changed.add('stop')
  if (!customTools && params.tools.some((tool) => tool.type === 'custom')) {
    changed.add('tools').add('toolChoice')
  }
  // A choice among functions is refused beside tools, and the other way round.
  if (changed.has('tools') || changed.has('toolChoice')) {
    if (usesLegacyFunctions(source.body)) changed.add('tools').add('toolChoice')
  }
  let fields: JsonObject = {}
  for (const name of changed) {
    if (name === 'extra') fields = { ...clearFields(source.params.extra), ...fields }
    fields = { ...fields, ...PARAMETER_ENCODERS[name](params, encoding) }
  }
  return fields
}

function usesLegacyFunctions(body: JsonObject): boolean {
  return (body['functions'] ?? body['function_call'] ?? null) !== null
}

function clearFields(fields: JsonObject): JsonObject {
  return Object.fromEntries(Object.keys(fields).map((name) => [name, undefined]))
}

/** Storing is what the client asks of the gateway; no upstream shall do it as well. */
function overrideGatewayFields({
  stream,
  wantsUsage = false,
  source: { body },
}: Prompt): JsonObject {
  const fields: Record<string, Json | undefined> = {}
  if (body['store'] !== undefined) fields['store'] = undefined
  if (body['store'] === true) fields['metadata'] = undefined
  if (stream !== (body['stream'] === true)) {
    fields['stream'] = stream
    if (!stream) fields['stream_options'] = undefined
  }
  if (stream && wantsUsage) {
    const { stream_options: options } = body
    const isAsked = isObject(options) && options['include_usage'] === true
    if (!isAsked)
      fields['stream_options'] = { ...(isObject(options) ? options : {}), include_usage: true }
  }
  return fields
}

/** The client's own messages, unless the conversation changed or the upstream could not take them. */
function replaceMessages(prompt: Prompt, encoding: EncodingContext): JsonObject {
  const { items, params, source } = prompt
  const { instructions } = params
  if (
    items !== source.items ||
    mustRewriteMessages(items, source.body['messages'], encoding.options)
  ) {
    return { messages: encodeMessages(items, instructions, encoding) }
  }
  if (instructions === source.params.instructions || instructions === null) return {}
  const messages = source.body['messages'] as readonly Json[]
  return { messages: [{ role: 'system', content: instructions }, ...messages] }
}

/** Without what is not there, what is refused, and a choice among tools that are not there. */
function removeUnsendableFields(body: JsonObject, { options, notes }: EncodingContext): JsonObject {
  const { refuses = [] } = options.quirks
  const hasTools = (body['tools'] ?? body['functions']) !== undefined
  const isSent = (name: string, value: Json | undefined): boolean => {
    if (value === undefined) return false
    if (refuses.includes(name)) {
      if (!isDefaultValue(name, value)) notes.write('parameter-refused', { field: name })
      return false
    }
    if (hasTools || options.isChatClient || !TOOL_CHOICE_FIELDS.has(name)) return true
    if (!isDefaultValue(name, value)) notes.write('tool-choice-without-tools', { field: name })
    return false
  }
  const entries = Object.entries(body)
  const sent = entries.filter(([name, value]) => isSent(name, value))
  return sent.length === entries.length ? body : Object.fromEntries(sent)
}

const TOOL_CHOICE_FIELDS: ReadonlySet<string> = new Set(['tool_choice', 'parallel_tool_calls'])
