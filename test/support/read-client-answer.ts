/** Reads a client's answer in either dialect, however it ends. */
import { createSseDecoder, type SseMessage } from '../../src/core/stream/sse.ts'
import { runStage } from '../../src/core/stream/stream-stage.ts'

export const PATHS = { responses: '/v1/responses', chat: '/v1/chat/completions' } as const

export type Dialect = keyof typeof PATHS

export function greetingRequest(dialect: Dialect, model: string, stream: boolean): object {
  return dialect === 'responses'
    ? { model, stream, input: 'Servus' }
    : { model, stream, messages: [{ role: 'user', content: 'Servus' }] }
}

export interface ClientAnswer {
  readonly text: string
  /** Error message; null for an answer that ends well. */
  readonly failure: string | null
  /** Id of the answer without its prefix, e.g. `resp_`; empty if the answer had no id. */
  readonly responseId: string
  readonly messages: readonly SseMessage[]
}

export async function readClientAnswer(
  dialect: Dialect,
  response: Response,
): Promise<ClientAnswer> {
  const body = await response.text()
  if (response.headers.get('content-type')?.startsWith('application/json') === true) {
    const { error } = JSON.parse(body) as { error?: { message: string } }
    return { text: '', failure: error?.message ?? null, responseId: '', messages: [] }
  }
  const messages = runStage(createSseDecoder(), [Buffer.from(body)])
  const events = messages.flatMap(({ data }) => asJson(data))
  const [, responseId = ''] = /"id":"resp_([0-9A-Z]{20})"/.exec(body.slice(0, 10_000)) ?? []
  const told = dialect === 'responses' ? readResponseEvents(events) : readChatChunks(events)
  return { ...told, responseId, messages }
}

function asJson(data: string): readonly Readonly<Record<string, unknown>>[] {
  return data === '[DONE]' ? [] : [JSON.parse(data) as Record<string, unknown>]
}

function readResponseEvents(events: readonly Readonly<Record<string, unknown>>[]) {
  const deltas = events.filter(({ type }) => type === 'response.output_text.delta')
  const [failed] = events.filter(({ type }) => type === 'error') as {
    readonly error?: { readonly message: string }
  }[]
  return {
    text: deltas.map(({ delta }) => String(delta)).join(''),
    failure: failed?.error?.message ?? null,
  }
}

function readChatChunks(events: readonly Readonly<Record<string, unknown>>[]) {
  const chunks = events as {
    readonly choices?: readonly { readonly delta?: { readonly content?: string | null } }[]
    readonly error?: { readonly message: string }
  }[]
  return {
    text: chunks.map(({ choices }) => choices?.[0]?.delta?.content ?? '').join(''),
    failure: chunks.find(({ error }) => error !== undefined)?.error?.message ?? null,
  }
}
