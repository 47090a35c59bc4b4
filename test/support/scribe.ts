/**
 * An upstream that speaks Chat Completions, answers with what was asked last, and sums up what it is
 * given to sum up: in words by which a summary is known, and as facts the words in capitals. Offered
 * a tool, it thinks and calls it for as long as it is told to look.
 */
import type { JsonObject } from '../../src/core/json/json.ts'
import { answerJson, answerSse, startUpstream, type Received, type Upstream } from './upstream.ts'

export interface Scribe extends Upstream {
  /** What becomes of the next requests for a summary; `null` for a summary. */
  mishap: ((text: string) => { readonly status: number; readonly body: JsonObject }) | null
  /** Writes none until that is called which is returned. */
  readonly holdBack: () => () => void
  /** What it was asked that was no request for a summary. */
  readonly asked: () => readonly SentMessage[][]
  /** What it was given to sum up. */
  readonly summed: () => readonly string[]
}

export interface SentMessage {
  readonly role: string
  readonly content: string
}

export async function startScribe(): Promise<Scribe> {
  const upstream = await startUpstream()
  const isSumming = ({ text }: Received): boolean => text.includes('<conversation>')
  let held: Promise<void> = Promise.resolve()
  const own = {
    mishap: null,
    holdBack() {
      let release = (): void => undefined
      held = new Promise((resolve) => (release = resolve))
      return () => release()
    },
    asked: () =>
      upstream.received
        .filter((received) => !isSumming(received))
        .map(({ json }) => (json['messages'] as SentMessage[]).map(inWords)),
    summed: () => upstream.received.filter(isSumming).map(({ json }) => lastOf(json)),
  }
  const scribe: Scribe = Object.assign(upstream, own)
  scribe.behave = async (response, received) => {
    const asked = lastOf(received.json)
    if (isSumming(received)) {
      await held
      const { status, body } = scribe.mishap?.(asked) ?? {
        status: 200,
        body: said(summaryOf(asked)),
      }
      return answerJson(status, body)(response, received)
    }
    if (received.json['tools'] !== undefined && asked.includes('look')) {
      return answerJson(200, looking(scribe.received.length))(response, received)
    }
    const answer = `Answer to: ${asked}`
    if (received.json['stream'] !== true) return answerJson(200, said(answer))(response, received)
    const chunk = (delta: JsonObject, finish_reason: string | null) =>
      `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason }] })}\n\n`
    const pieces = [chunk({ role: 'assistant', content: answer }, null), chunk({}, 'stop')]
    return answerSse([...pieces, 'data: [DONE]\n\n'])(response, received)
  }
  return scribe
}

/** A message may be nothing but calls. */
function inWords(message: SentMessage): SentMessage {
  return { ...message, content: message.content ?? '' }
}

/** A whole answer. */
export function said(content: string, finish_reason = 'stop'): JsonObject {
  return completion({ role: 'assistant', content }, finish_reason)
}

function looking(nth: number): JsonObject {
  const call = { id: `call_${nth}`, type: 'function', function: { name: 'look', arguments: '{}' } }
  const message = { role: 'assistant', content: null, reasoning_content: `Thought ${nth}.` }
  return completion({ ...message, tool_calls: [call] }, 'tool_calls')
}

function completion(message: JsonObject, finish_reason: string): JsonObject {
  const usage = { prompt_tokens: 50, completion_tokens: 20, total_tokens: 70 }
  const choices = [{ index: 0, message, finish_reason }]
  return { id: 'c', object: 'chat.completion', created: 1, model: 'm', choices, usage }
}

function lastOf(body: Record<string, unknown>): string {
  return (body['messages'] as SentMessage[] | undefined)?.at(-1)?.content ?? ''
}

function summaryOf(asked: string): string {
  const facts = [...new Set(asked.match(/\b[A-Z]{2,}-\d+\b/g) ?? [])]
  const told = [...new Set(asked.match(/\bq\d+\b/g) ?? [])].join(' ')
  const list = facts.map((fact) => `- ${fact}`).join('\n')
  return `${facts.length === 0 ? '' : `## Facts\n${list}\n\n`}## Wishes\nIn short: ${told}.`
}
