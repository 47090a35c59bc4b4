/**
 * Encodes a prompt as a request to `POST /chat/completions`. The body of a Chat Completions client
 * is edited as little as possible; without edits, its original bytes are sent. Other requests are
 * built from the prompt.
 */
import { isObject, type Json, type JsonObject } from '../../../core/json/json.ts'
import { createJsonBudget } from '../../../core/json/limited-json.ts'
import type { PromptParameters, Prompt } from '../../../core/prompt.ts'
import type { Account, EncodedRequest } from '../../provider-interface.ts'
import { encodeMessages } from './encode-messages.ts'
import { PARAMETER_ENCODERS, planStopSequences } from './encode-parameters.ts'
import { isDefaultValue } from '../../request/is-default-value.ts'
import { NOTES } from '../encoding-notes.ts'
import { createNoteCollector } from '../../note-collector.ts'
import { resolveChatEncodingOptions, type EncodingContext } from './encoding-context.ts'
import { mustRewriteMessages } from './must-rewrite-messages.ts'
import { removeJsonField } from './remove-json-field.ts'

export function encodeRequest(prompt: Prompt, account: Account): EncodedRequest {
  const options = resolveChatEncodingOptions(prompt, account)
  const collector = createNoteCollector('chat', NOTES)
  const encoding: EncodingContext = {
    options,
    notes: collector,
    jsonBudget: createJsonBudget(),
  }
  const encoded = options.isChatClient
    ? editClientBody(prompt, encoding)
    : { body: buildBody(prompt, encoding) }
  const { query } = options.quirks
  const path = query === undefined ? '/chat/completions' : `/chat/completions?${query}`
  const { unsent } = planStopSequences(prompt.params, options)
  return { ...encoded, path, notes: collector.notes, unsentStopSequences: unsent }
}

function buildBody({ params, stream, items }: Prompt, encoding: EncodingContext): JsonObject {
  const encoders = Object.values(PARAMETER_ENCODERS)
  const fields = Object.assign(
    {},
    ...encoders.map((encode) => encode(params, encoding)),
  ) as JsonObject
  const takesStreamOptions = encoding.options.quirks.refuses?.includes('stream_options') !== true
  const usageField = takesStreamOptions ? { stream_options: { include_usage: true } } : {}
  const streamFields = stream ? { stream, ...usageField } : {}
  const messages = encodeMessages(items, params.instructions, encoding)
  // `messages` is the last field, so that the next request of a conversation begins with the same
  // bytes, and the upstream can reuse its cache.
  return { ...removeUnsendableFields({ ...fields, ...streamFields }, encoding), messages }
}

function editClientBody(
  prompt: Prompt,
  encoding: EncodingContext,
): Pick<EncodedRequest, 'body' | 'bytes'> {
  const { source } = prompt
  const changes: JsonObject = {
    ...encodeChangedParameters(prompt, encoding),
    ...overrideGatewayFields(prompt),
    ...replaceMessages(prompt, encoding),
  }
  const isChanged = Object.keys(changes).some((name) => source.body[name] !== changes[name])
  const body = removeUnsendableFields(
    isChanged ? { ...source.body, ...changes } : source.body,
    encoding,
  )
  const bytes = body === source.body ? source.bytes() : removeStoreFromBytes(body, source)
  return bytes === null ? { body } : { body, bytes }
}

/**
 * Returns the client's bytes without the field `store`. Returns null if the new body differs from
 * the client's in another field too.
 */
function removeStoreFromBytes(
  body: JsonObject,
  { body: clientBody, bytes }: Prompt['source'],
): Uint8Array | null {
  const names = Object.keys({ ...body, ...clientBody })
  const isSame = (name: string): boolean => name === 'store' || body[name] === clientBody[name]
  return !('store' in body) && names.every(isSame) ? removeJsonField(bytes(), 'store') : null
}

/**
 * Encodes the parameters that a transform changed, or that the account's quirks require in another
 * form.
 */
function encodeChangedParameters(
  { params, source }: Prompt,
  encoding: EncodingContext,
): JsonObject {
  const { quirks, customTools } = encoding.options
  const names = Object.keys(PARAMETER_ENCODERS) as (keyof PromptParameters)[]
  const changed = new Set(names.filter((name) => params[name] !== source.params[name]))
  const { maxTokensField } = quirks
  const otherField = maxTokensField === 'max_tokens' ? 'max_completion_tokens' : 'max_tokens'
  if (maxTokensField !== undefined && (source.body[otherField] ?? null) !== null) {
    changed.add('maxOutputTokens')
    encoding.notes.write('parameter-renamed', { field: otherField })
  }
  if (planStopSequences(params, encoding.options).unsent.length > 0) changed.add('stop')
  if (!customTools && params.tools.some((tool) => tool.type === 'custom')) {
    changed.add('tools').add('toolChoice')
  }
  // The tool choice must have the same form as the tools: upstreams reject `tools` with
  // `function_call`, and the deprecated `functions` with `tool_choice`.
  const changesTools = changed.has('tools') || changed.has('toolChoice')
  if (changesTools && usesLegacyFunctions(source.body)) changed.add('tools').add('toolChoice')
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

/**
 * Returns the fields that the gateway controls: removes `store`, because the gateway stores the
 * answer, removes the `metadata` of an answer that the client wants stored, and sets the fields for
 * streaming.
 */
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
    const options = isObject(body['stream_options']) ? body['stream_options'] : {}
    if (options['include_usage'] !== true)
      fields['stream_options'] = { ...options, include_usage: true }
  }
  return fields
}

/**
 * Returns the field `messages`: the encoded messages, or the client's own messages after added
 * instructions. Returns no field if the client's own messages are sent unchanged.
 */
function replaceMessages(prompt: Prompt, encoding: EncodingContext): JsonObject {
  const { items, params, source } = prompt
  const { instructions } = params
  const mustEncode =
    items !== source.items || mustRewriteMessages(items, source.body['messages'], encoding.options)
  if (mustEncode) return { messages: encodeMessages(items, instructions, encoding) }
  if (instructions === source.params.instructions || instructions === null) return {}
  const messages = source.body['messages'] as readonly Json[]
  return { messages: [{ role: 'system', content: instructions }, ...messages] }
}

/**
 * Removes fields without a value, fields that the upstream rejects, and a tool choice without
 * tools.
 */
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
    // Without tools, there are no parallel calls either.
    if (name === 'tool_choice' && !isDefaultValue(name, value))
      notes.write('tool-choice-without-tools', { field: name })
    return false
  }
  const entries = Object.entries(body)
  const sent = entries.filter(([name, value]) => isSent(name, value))
  return sent.length === entries.length ? body : Object.fromEntries(sent)
}

const TOOL_CHOICE_FIELDS: ReadonlySet<string> = new Set(['tool_choice', 'parallel_tool_calls'])
