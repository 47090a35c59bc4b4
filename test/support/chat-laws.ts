/**
 * Rules of Chat Completions as the strictest services enforce them: returns what they would reject in a
 * request. Written from documentation and error messages, independently of the gateway's encoder.
 */
import { isObject, type Json, type JsonObject } from '../../src/core/json/json.ts'

/** Returns a sentence for every violation in a request. */
export function findChatFaults(body: JsonObject): readonly string[] {
  const messages = objects(body['messages'])
  return [...LAWS.flatMap((law) => law(body, messages)), ...pairFaults(messages)]
}

type Law = (body: JsonObject, messages: readonly JsonObject[]) => readonly string[]

const FIELDS = new Set(
  `model messages stream stream_options temperature top_p max_tokens max_completion_tokens stop seed
  presence_penalty frequency_penalty logprobs top_logprobs response_format verbosity
  reasoning_effort reasoning service_tier prompt_cache_key safety_identifier user tools tool_choice
  parallel_tool_calls functions calledcall logit_bias n metadata top_k`.split(/\s+/),
)

const fields: Law = (body) => [
  ...Object.keys(body)
    .filter((name) => !FIELDS.has(name))
    .map((name) => `Unrecognized request argument supplied: ${name}`),
  ...Object.keys(body)
    .filter((name) => body[name] === undefined)
    .map((name) => `${name} is there without a value.`),
  ...(typeof body['model'] === 'string' && body['model'] !== '' ? [] : ['model is required.']),
  ...(body['stream_options'] === undefined || body['stream'] === true
    ? []
    : ["The 'stream_options' parameter is only allowed when 'stream' is enabled."]),
  ...(body['max_tokens'] !== undefined && body['max_completion_tokens'] !== undefined
    ? ["Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported."]
    : []),
  ...(body['top_logprobs'] !== undefined && body['logprobs'] !== true
    ? ["'top_logprobs' needs 'logprobs'."]
    : []),
]

const stops: Law = ({ stop }) =>
  Array.isArray(stop) && (stop.length > 4 || stop.length === 0)
    ? ["Invalid 'stop': expected an array with 1 to 4 entries."]
    : []

const tools: Law = (body) => {
  const offered = objects(body['tools'])
  const names = offered.map((tool) => toolName(tool))
  const choice = body['tool_choice']
  const chosen = isObject(choice) ? namesIn(choice) : []
  return [
    ...(body['tools'] !== undefined && offered.length === 0 ? ["Invalid 'tools': empty."] : []),
    ...offered
      .filter((tool) => !/^[a-zA-Z0-9_-]{1,64}$/.test(toolName(tool)))
      .map(() => "Invalid 'tools': bad type or name."),
    ...(new Set(names).size < names.length ? ['Tool names must be unique.'] : []),
    ...(offered.length === 0 && choice !== undefined
      ? ["'tool_choice' is only allowed when 'tools' are specified."]
      : []),
    ...(offered.length === 0 && body['parallel_tool_calls'] !== undefined
      ? ["'parallel_tool_calls' is only allowed when 'tools' are specified."]
      : []),
    ...chosen
      .filter((name) => !names.includes(name))
      .map((name) => `Tool choice '${name}' not found in 'tools' parameter.`),
  ]
}

function toolName(tool: JsonObject): string {
  const body = tool[String(tool['type'])]
  const isKnown = tool['type'] === 'function' || tool['type'] === 'custom'
  return isKnown && isObject(body) ? String(body['name']) : ''
}

function namesIn(choice: JsonObject): readonly string[] {
  const allowed = choice['allowed_tools']
  return isObject(allowed) ? objects(allowed['tools']).map(toolName) : [toolName(choice)]
}

const ROLES = new Set(['system', 'developer', 'user', 'assistant', 'tool', 'function'])

const shapes: Law = (_body, messages) => [
  ...(messages.length === 0 ? ["Invalid 'messages': empty array."] : []),
  ...messages.flatMap((message, at) =>
    messageFaults(message).map((fault) => `messages[${at}]: ${fault}`),
  ),
]

function messageFaults(message: JsonObject): readonly string[] {
  const { role, content, name } = message
  return [
    ...(ROLES.has(String(role)) ? [] : [`unknown role ${String(role)}`]),
    ...Object.keys(message)
      .filter((field) => field.startsWith('$') || message[field] === undefined)
      .map((field) => `stray field ${field}`),
    ...(name === undefined || typeof name === 'string' ? [] : ['name must be a string']),
    ...contentFaults(content, message),
  ]
}

const PARTS: Readonly<Record<string, readonly string[]>> = {
  system: ['text'],
  developer: ['text'],
  user: ['text', 'image_url', 'input_audio', 'file', 'video_url'],
  assistant: ['text', 'refusal', 'thinking'],
  tool: ['text'],
  function: [],
}

function contentFaults(content: Json | undefined, message: JsonObject): readonly string[] {
  if (typeof content === 'string') return []
  if (content === null || content === undefined) {
    const isCovered = ['tool_calls', 'calledcall', 'refusal', 'audio'].some(
      (field) => message[field] !== undefined,
    )
    return message['role'] === 'assistant' && isCovered ? [] : ['expected a string, got null']
  }
  if (!Array.isArray(content) || content.length === 0) return ['content must not be empty']
  const known = PARTS[String(message['role'])] ?? []
  return (content as readonly Json[]).flatMap((part) => {
    if (!isObject(part)) return ['a part must be an object']
    const type = String(part['type'])
    if (!known.includes(type)) return [`no part of type ${type} here`]
    return partIsWhole(part, type) ? [] : [`a ${type} part says nothing`]
  })
}

function partIsWhole(part: JsonObject, type: string): boolean {
  const body = part[type]
  if (type === 'text' || type === 'refusal') return typeof body === 'string'
  if (type === 'image_url') return isObject(body) && typeof body['url'] === 'string'
  return isObject(body) || Array.isArray(body)
}

/** Checks that the outputs of each message's calls follow directly, one for each call. */
function pairFaults(messages: readonly JsonObject[]): readonly string[] {
  const faults: string[] = []
  let waiting: string[] = []
  let called: string | null = null
  for (const [at, message] of messages.entries()) {
    const place = `messages[${at}]`
    if (message['role'] === 'tool') {
      const id = String(message['tool_call_id'])
      if (waiting.includes(id)) waiting = waiting.filter((one) => one !== id)
      else {
        faults.push(
          `${place}: messages with role 'tool' must be a response to a preceding message with 'tool_calls': ${id}`,
        )
      }
      continue
    }
    if (message['role'] === 'function') {
      if (message['name'] !== called) faults.push(`${place}: no such function was called`)
      called = null
      continue
    }
    if (waiting.length > 0) {
      faults.push(
        `${place}: an assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id': ${waiting.join(', ')}`,
      )
    }
    const calls = message['tool_calls']
    if (calls !== undefined && objects(calls).length === 0) faults.push(`${place}: no tool_calls`)
    faults.push(...objects(calls).flatMap((call) => callFaults(call, place)))
    waiting = objects(calls).map((call) => String(call['id']))
    if (new Set(waiting).size < waiting.length) faults.push(`${place}: duplicate tool_call ids`)
    const legacy = message['calledcall']
    called = isObject(legacy) ? String(legacy['name']) : null
  }
  if (waiting.length > 0) faults.push(`at the end: no answer to ${waiting.join(', ')}`)
  return faults
}

function callFaults(call: JsonObject, place: string): readonly string[] {
  const { id, type } = call
  const body = call[String(type)]
  const text = isObject(body) ? body[type === 'custom' ? 'input' : 'arguments'] : undefined
  return [
    ...(typeof id === 'string' && id !== '' && id.length <= 40 ? [] : [`${place}: bad call id`]),
    ...(toolName(call) === '' ? [`${place}: a call needs a name`] : []),
    ...(typeof text === 'string' ? [] : [`${place}: arguments must be a string`]),
  ]
}

function objects(list: Json | undefined): readonly JsonObject[] {
  return Array.isArray(list) ? (list as readonly Json[]).filter(isObject) : []
}

const LAWS: readonly Law[] = [fields, stops, tools, shapes]
