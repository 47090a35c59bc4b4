/** Builds the request body for either kind of connection from chat messages. */
import { isObject, type JsonObject } from '../../../src/core/json/json.ts'
import type { ChatMessage } from './to-messages.ts'

export type Connection = 'chat' | 'responses' | 'stateful'

export interface BodyOptions {
  readonly model: string
  readonly messages: readonly ChatMessage[]
  readonly stream: boolean
  readonly tools: readonly JsonObject[]
  /** Sampling and other parameters that the user set. */
  readonly params: JsonObject
  /** True if tools have `strict: false`, as in Open WebUI since September 2026. */
  readonly saysStrict?: boolean
}

export function createRequestBody(connection: Connection, asking: BodyOptions): JsonObject {
  const { model, messages, stream, tools, params, saysStrict = false } = asking
  if (connection === 'chat') {
    const told = { stream, model, messages, ...params, ...(tools.length > 0 ? { tools } : {}) }
    return (NEWER_OPENAI.test(model) ? renameParameters(told) : told) as unknown as JsonObject
  }
  const { max_tokens: most, stream_options: _options, stop: _stop, ...rest } = params
  const system = messages.filter(({ role }) => role === 'system').map(({ content }) => content)
  return {
    stream,
    model,
    ...rest,
    ...(most === undefined ? {} : { max_output_tokens: most }),
    ...(tools.length > 0 ? { tools: tools.map((tool) => flatTool(tool, saysStrict)) } : {}),
    input: toInput(messages),
    ...(system.length > 0 ? { instructions: system.join('\n') } : {}),
  }
}

/** Models for which Open WebUI uses OpenAI's newer parameter names, on any server. */
const NEWER_OPENAI = /^(o\d+|gpt-([5-9]|\d\d))/

function renameParameters({
  messages,
  max_tokens: most,
  ...rest
}: Readonly<Record<string, unknown>> & Pick<BodyOptions, 'messages'>): object {
  const told = messages.map((message) =>
    message.role === 'system' ? { ...message, role: 'developer' } : message,
  )
  return { ...rest, messages: told, ...(most === undefined ? {} : { max_completion_tokens: most }) }
}

/** Converts messages to Responses input, without ids, reasoning and status. */
export function toInput(messages: readonly ChatMessage[]): readonly JsonObject[] {
  return messages.flatMap((message): readonly JsonObject[] => {
    const { role, content, tool_calls: calls = [], tool_call_id: callId } = message
    if (role === 'system') return []
    if (role === 'tool') {
      return [{ type: 'function_call_output', call_id: callId ?? '', output: textIn(content) }]
    }
    if (role === 'user') return [{ type: 'message', role, content: inputParts(content) }]
    const text = textIn(content)
    const said = { type: 'message', role, content: [{ type: 'output_text', text }] }
    return [...(text === '' ? [] : [said]), ...calls.map(flatCall)]
  })
}

function inputParts(content: ChatMessage['content']): readonly JsonObject[] {
  if (typeof content === 'string') return [{ type: 'input_text', text: content }]
  return content.map((part) => {
    const { type, text, image_url: image } = part
    if (type === 'text') return { type: 'input_text', text: text ?? '' }
    return { type: 'input_image', image_url: isObject(image) ? (image['url'] ?? '') : '' }
  })
}

function flatCall(call: JsonObject): JsonObject {
  const { name, arguments: args } = isObject(call['function']) ? call['function'] : {}
  const called = { call_id: call['id'] ?? '', name: name ?? '', arguments: args ?? '' }
  return { type: 'function_call', ...called }
}

function flatTool(tool: JsonObject, saysStrict: boolean): JsonObject {
  const { function: inner } = tool
  if (!isObject(inner)) return tool
  return { type: 'function', ...inner, ...(saysStrict ? { strict: false } : {}) }
}

function textIn(content: ChatMessage['content']): string {
  if (typeof content === 'string') return content
  return content.map(({ text }) => (typeof text === 'string' ? text : '')).join('')
}
