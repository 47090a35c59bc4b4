/** Rules of `POST /responses`: returns OpenAI's error messages, as far as they are known, for a request. */
import { isObject, type JsonObject } from '../../src/core/json/json.ts'

export function findResponsesFaults(body: JsonObject): readonly string[] {
  const { input } = body
  const items = Array.isArray(input) ? (input as readonly unknown[]).map(objectOf) : []
  return [
    ...complaintsAboutFields(body),
    ...(Array.isArray(input) ? [] : ['`input` is not a list']),
    ...items.flatMap((item, at) => complaintsAboutItem(item, `input[${at}]`)),
    ...complaintsAboutPairs(items),
    ...complaintsAboutReasoning(items),
  ]
}

const KNOWN_FIELDS: ReadonlySet<string> = new Set(
  `model input instructions stream stream_options store include tools tool_choice
  parallel_tool_calls temperature top_p max_output_tokens max_tool_calls top_logprobs text reasoning
  service_tier prompt_cache_key prompt_cache_options prompt_cache_retention safety_identifier user
  metadata truncation prompt context_management moderation client_metadata`.split(/\s+/),
)
const INCLUDABLE: ReadonlySet<unknown> = new Set([
  'reasoning.encrypted_content',
  'message.output_text.logprobs',
  'message.input_image.image_url',
  'file_search_call.results',
  'web_search_call.results',
  'web_search_call.action.sources',
  'code_interpreter_call.outputs',
])

function complaintsAboutFields(body: JsonObject): readonly string[] {
  const complaints: string[] = []
  const want = (claim: boolean, complaint: string) => void (claim || complaints.push(complaint))
  for (const name of Object.keys(body)) {
    want(KNOWN_FIELDS.has(name), `Unknown parameter: '${name}'.`)
    want(body[name] !== undefined, `'${name}' is undefined.`)
  }
  want(typeof body['model'] === 'string', 'Missing required parameter: `model`.')
  want(body['store'] === false, 'Something would be stored upstream.')
  const { max_output_tokens: most = null, tools = [], tool_choice: choice, include = [] } = body
  want(most === null || (most as number) >= 16, "Invalid 'max_output_tokens': below minimum value.")
  for (const name of Array.isArray(include) ? include : []) {
    want(INCLUDABLE.has(name), `Invalid value: '${String(name)}' in include.`)
  }
  const { stream_options: options } = body
  want(!isObject(options) || !('include_usage' in options), 'Unknown parameter: include_usage.')
  const list = Array.isArray(tools) ? tools.map(objectOf) : []
  for (const [at, tool] of list.entries()) {
    if (tool['type'] !== 'function') continue
    want(typeof tool['name'] === 'string', `Missing required parameter: 'tools[${at}].name'.`)
    want(typeof tool['strict'] === 'boolean', `tools[${at}] leaves open whether it is strict.`)
  }
  if (isObject(choice)) {
    want(choice['function'] === undefined, "Unknown parameter: 'tool_choice.function'.")
  }
  want(
    choice === undefined || choice === null || list.length > 0,
    "Tool choice must be used with 'tools'.",
  )
  return complaints
}

/** The id prefixes that OpenAI requires. */
const PREFIXES: Readonly<Record<string, string>> = {
  message: 'msg',
  reasoning: 'rs',
  function_call: 'fc',
  function_call_output: 'fc',
  custom_tool_call: 'ctc',
  custom_tool_call_output: 'ctc',
}

function complaintsAboutItem(item: JsonObject, path: string): readonly string[] {
  const complaints: string[] = []
  const want = (claim: boolean, complaint: string) => void (claim || complaints.push(complaint))
  const { type, id, call_id: callId } = item
  for (const name of ['native', 'origin', 'raw']) {
    want(!(name in item), `Unknown parameter: '${path}.${name}'.`)
  }
  want(type !== 'item_reference', `Item with id '${String(id)}' not found.`)
  const prefix = PREFIXES[String(type)]
  if (prefix !== undefined && id !== undefined) {
    want(
      String(id).startsWith(prefix),
      `Invalid '${path}.id'. Expected an ID that begins with '${prefix}'.`,
    )
    want(type !== 'reasoning', `Item with id '${String(id)}' not found. Items are not persisted.`)
  }
  if (callId !== undefined) {
    const length = typeof callId === 'string' ? callId.length : -1
    want(length > 0 && length <= 64, `Invalid '${path}.call_id': string with length ${length}.`)
  }
  if (type === 'message') complaints.push(...complaintsAboutMessage(item, path))
  if (type === 'function_call') {
    want(typeof item['arguments'] === 'string', `Missing required parameter: '${path}.arguments'.`)
    want(typeof item['name'] === 'string', `Missing required parameter: '${path}.name'.`)
  }
  if (type === 'function_call_output' && typeof item['output'] !== 'string') {
    complaints.push(...complaintsAboutParts(item['output'], INPUT, `${path}.output`))
  }
  if (type === 'reasoning') {
    want(Array.isArray(item['summary']), `Missing required parameter: '${path}.summary'.`)
    want(!('role' in item), `Unknown parameter: '${path}.role'.`)
    const sealed = item['encrypted_content']
    want(typeof sealed === 'string' && sealed !== '', `${path} can neither be read nor looked up.`)
  }
  return complaints
}

const INPUT: ReadonlySet<unknown> = new Set([
  'input_text',
  'input_image',
  'input_file',
  'input_audio',
])
const OUTPUT: ReadonlySet<unknown> = new Set(['output_text', 'refusal'])

function complaintsAboutMessage(item: JsonObject, path: string): readonly string[] {
  const words = item['role'] === 'assistant' ? OUTPUT : INPUT
  return complaintsAboutParts(item['content'], words, `${path}.content`)
}

function complaintsAboutParts(
  parts: unknown,
  words: ReadonlySet<unknown>,
  path: string,
): readonly string[] {
  if (!Array.isArray(parts)) return [`Invalid type for '${path}'.`]
  return parts.map(objectOf).flatMap((part, at) => {
    if (words.has(part['type'])) return []
    return [`Invalid value: '${String(part['type'])}' at '${path}[${at}]'.`]
  })
}

function complaintsAboutPairs(items: readonly JsonObject[]): readonly string[] {
  const complaints: string[] = []
  const open: string[] = []
  for (const { type, call_id: id } of items) {
    const kind = /^(function_call|custom_tool_call|custom_tool|function)/.exec(String(type))?.[0]
    if (kind === undefined) continue
    const name = `${kind} ${String(id)}`
    if (!String(type).endsWith('_output')) {
      open.push(name)
      continue
    }
    const at = open.indexOf(name)
    if (at < 0)
      complaints.push(`No tool call found for function call output with call_id ${String(id)}.`)
    else open.splice(at, 1)
  }
  return [...complaints, ...open.map((name) => `No tool output found for function call ${name}.`)]
}

/** The item types that reasoning may precede. */
const MADE = /^(message|reasoning|compaction|.*_call|mcp_approval_request|.+:.+)$/

function complaintsAboutReasoning(items: readonly JsonObject[]): readonly string[] {
  return items.flatMap((item, at) => {
    if (item['type'] !== 'reasoning') return []
    const next = items[at + 1]
    const isMade =
      next !== undefined &&
      MADE.test(String(next['type'])) &&
      (next['type'] !== 'message' || next['role'] === 'assistant')
    return isMade
      ? []
      : [`Item ${at} of type 'reasoning' was provided without its required following item.`]
  })
}

function objectOf(value: unknown): JsonObject {
  return isObject(value) ? value : { type: 'not an object' }
}
