/**
 * Converts an upstream request of any wire to lines, one for each part: `user: …`, `thought: …`, `text: …`,
 * `call: …`, `result: …`, `hosted: …`. Ids, encrypted content and message boundaries are left out, because
 * the test service checks them.
 */
import type { JsonObject } from '../../../src/core/json/json.ts'
import { object, objects, textIn } from '../services/service.ts'

export function promptLines(body: JsonObject): readonly string[] {
  if (Array.isArray(body['input'])) return objects(body['input']).flatMap(linesOfItem)
  const isAnthropic = objects(body['messages']).every(({ content }) => typeof content !== 'string')
  const read = isAnthropic && body['max_tokens'] !== undefined ? linesOfBlocks : linesOfMessage
  return objects(body['messages']).flatMap(read)
}

function linesOfItem(item: JsonObject): readonly string[] {
  const { type, role, content, summary, name, arguments: args, output, action } = item
  switch (type) {
    case 'message':
    case undefined:
      return linesOfContent(role, content)
    case 'reasoning':
      return [line('thought', textIn(summary))]
    case 'function_call':
      return [callLine(name, JSON.parse(String(args)))]
    case 'function_call_output':
      return [line('result', textIn(output))]
    default:
      return [line('hosted', String(object(action)['query'] ?? type))]
  }
}

function linesOfContent(role: unknown, content: unknown): readonly string[] {
  if (role === 'system' || role === 'developer') return []
  if (typeof content === 'string') return messageLine(role, content)
  if (role === 'assistant') return messageLine(role, textIn(content))
  return objects(content).flatMap(({ text, type }) =>
    messageLine(role, String(text ?? `[${String(type)}]`)),
  )
}

function linesOfBlocks({ role, content }: JsonObject): readonly string[] {
  return objects(content).flatMap((block) => {
    const { type, text, thinking, name, input, content: inner } = block
    switch (type) {
      case 'text':
        return messageLine(role, String(text))
      case 'thinking':
        return [line('thought', String(thinking))]
      case 'tool_use':
        return [callLine(name, input)]
      case 'tool_result':
        return [line('result', textIn(inner))]
      default:
        return messageLine(role, `[${String(type)}]`)
    }
  })
}

function linesOfMessage(message: JsonObject): readonly string[] {
  const { role, content, reasoning_content: thought, tool_calls: calls } = message
  if (role === 'tool') return [line('result', textIn(content))]
  return [
    ...(typeof thought === 'string' ? thoughtsIn(thought) : []),
    ...linesOfContent(role, content ?? ''),
    ...objects(calls).map((call) => {
      const { name, arguments: args } = object(call['function'])
      return callLine(name, JSON.parse(String(args)))
    }),
  ]
}

/** A chat message has one field for all reasoning before it. Reasoning in scripts has no blank line. */
function thoughtsIn(text: string): readonly string[] {
  return text === '' ? [] : text.split('\n\n').map((thought) => line('thought', thought))
}

/** An empty message has no line. All wires share one line for a picture. */
function messageLine(role: unknown, text: string): readonly string[] {
  if (text.trim() === '') return []
  const isImage = /^\[(input_image|image|image_url)\]$/.test(text)
  return [line(role === 'assistant' ? 'text' : 'user', isImage ? '[image]' : text)]
}

export function line(kind: string, text: string): string {
  return `${kind}: ${text.trim()}`
}

export function callLine(name: unknown, input: unknown): string {
  return line('call', `${String(name)} ${JSON.stringify(input)}`)
}
