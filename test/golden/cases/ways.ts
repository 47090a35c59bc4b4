/** Forms of a request (either API, streamed or not), and one model for every kind of upstream. */
import type { Answer, Body, ClientRequest, Player } from '../golden-case.ts'
import { callsIn, messageIn, type ChatCall } from '../read-answer.ts'

export interface Way {
  readonly name: string
  readonly api: 'chat' | 'responses'
  readonly stream: boolean
}

export const WAYS: readonly Way[] = [
  { name: 'responses, whole', api: 'responses', stream: false },
  { name: 'responses, streamed', api: 'responses', stream: true },
  { name: 'chat, whole', api: 'chat', stream: false },
  { name: 'chat, streamed', api: 'chat', stream: true },
]

export const FOUR_WIRES = ['gpt-5', 'chat-model', 'claude-sonnet-5', 'gemini-3.8-flash'] as const

export const MODELS = [
  ...FOUR_WIRES,
  'vendor/model',
  'deepseek-model',
  'strict-model',
  'claude-opus-5-5',
  'claude-sonnet-4-5',
  'claude-3-5-haiku',
  'gemini-2.5-flash',
  'demo',
] as const

export const LOOK = {
  name: 'look',
  description: 'Looks at a place.',
  parameters: {
    type: 'object',
    properties: { at: { type: 'string', description: 'A city.' } },
    required: ['at'],
    additionalProperties: false,
  },
}
export const RESPONSES_TOOLS = [{ type: 'function', strict: false, ...LOOK }]
export const CHAT_TOOLS = [{ type: 'function', function: LOOK }]

export function responses(body: Body, headers = {}): ClientRequest {
  return { path: '/v1/responses', body, headers }
}

export function chat(body: Body, headers = {}): ClientRequest {
  return { path: '/v1/chat/completions', body, headers }
}

/** One question without a history. */
export function ask(
  { api, stream }: Way,
  model: string,
  question: string,
  more = {},
): ClientRequest {
  const told = stream ? { stream } : {}
  return api === 'chat'
    ? chat({ model, ...told, messages: [{ role: 'user', content: question }], ...more })
    : responses({ model, ...told, input: question, ...more })
}

export function outputFor(args: string): string {
  const { at = '' } = JSON.parse(args) as { readonly at?: string }
  return `${at}: ${at.length} degrees`
}

/** Sends tool outputs until there is an answer without calls. */
export async function askWithTools(
  { send }: Player,
  { api, stream }: Way,
  model: string,
  question: string,
  more: Body = {},
): Promise<Answer> {
  if (api === 'chat') {
    const messages: Body[] = [{ role: 'user', content: question }]
    for (;;) {
      const answer = await send(chat({ model, stream, messages, tools: CHAT_TOOLS, ...more }))
      const message = messageIn(answer)
      const calls = (message['tool_calls'] ?? []) as readonly ChatCall[]
      if (calls.length === 0) return answer
      messages.push(message)
      for (const { id, function: made } of calls) {
        messages.push({ role: 'tool', tool_call_id: id, content: outputFor(made.arguments) })
      }
    }
  }
  let input: unknown = question
  let before = {}
  for (;;) {
    const body = { model, stream, input, tools: RESPONSES_TOOLS, ...before, ...more }
    const answer = await send(responses(body))
    const calls = callsIn(answer)
    if (calls.length === 0) return answer
    before = { previous_response_id: answer.id }
    input = calls.map(({ id, args }) => ({
      type: 'function_call_output',
      call_id: id,
      output: outputFor(args),
    }))
  }
}

/** Settings for accounts with this upstream, before the default accounts. */
export function accountsWith(
  accounts: readonly Body[],
): (upstreamUrl: string) => { readonly UPSTREAMS: string } {
  return (baseUrl) => ({
    UPSTREAMS: JSON.stringify(
      accounts.map((account) => ({ baseUrl, apiKey: 'sk-upstream', ...account })),
    ),
  })
}
