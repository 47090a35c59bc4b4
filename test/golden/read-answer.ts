/** Reads the parts of an answer that the next request of a case needs. */
import type { Answer, Body } from './golden-case.ts'

export function answerOf(status: number, text: string): Answer {
  const json = jsonIn(text)
  return { status, text, json, id: typeof json['id'] === 'string' ? json['id'] : '' }
}

function jsonIn(text: string): Body {
  const whole = parseObject(text)
  if (whole !== null) return whole
  const events = text
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => parseObject(line.slice('data: '.length)) ?? {})
  const response = events.findLast((event) => event['response'] !== undefined)
  if (response !== undefined) return response['response'] as Body
  return events.find(({ id }) => typeof id === 'string') ?? {}
}

function parseObject(text: string): Body | null {
  try {
    const json: unknown = JSON.parse(text)
    return typeof json === 'object' && json !== null && !Array.isArray(json) ? (json as Body) : null
  } catch {
    return null
  }
}

/** A function call in an answer of either API, with the data for its output. */
export interface Call {
  readonly id: string
  readonly name: string
  readonly args: string
}

export function callsIn({ json }: Answer): readonly Call[] {
  const output = (json['output'] ?? []) as readonly Readonly<Record<string, string>>[]
  return output
    .filter(({ type }) => type === 'function_call')
    .map(({ call_id: id = '', name = '', arguments: args = '' }) => ({ id, name, args }))
}

/** Returns the assistant's message of a chat answer, joined from its chunks if it was streamed. */
export function messageIn({ json, text }: Answer): Body {
  if (!text.startsWith('data: ')) {
    const { choices = [] } = json as { readonly choices?: readonly { readonly message: Body }[] }
    return choices[0]?.message ?? {}
  }
  const message: Record<string, unknown> = { role: 'assistant', content: null }
  const calls: ChatCall[] = []
  for (const line of text.split('\n').filter((one) => one.startsWith('data: {'))) {
    const { choices = [] } = JSON.parse(line.slice('data: '.length)) as Chunk
    const { content, tool_calls: deltas = [] } = choices[0]?.delta ?? {}
    if (typeof content === 'string' && content !== '') {
      message['content'] = ((message['content'] as string | null) ?? '') + content
    }
    for (const { index, id, function: made } of deltas) {
      const call = (calls[index] ??= {
        id: id ?? '',
        type: 'function',
        function: { name: '', arguments: '' },
      })
      call.function.name += made.name ?? ''
      call.function.arguments += made.arguments ?? ''
    }
  }
  return calls.length === 0 ? message : { ...message, tool_calls: calls }
}

export interface ChatCall {
  readonly id: string
  readonly type: 'function'
  readonly function: { name: string; arguments: string }
}

interface Chunk {
  readonly choices?: readonly {
    readonly delta: {
      readonly content?: string | null
      readonly tool_calls?: readonly {
        readonly index: number
        readonly id?: string
        readonly function: { readonly name?: string; readonly arguments?: string }
      }[]
    }
  }[]
}
