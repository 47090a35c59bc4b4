/**
 * A Chat Completions upstream that answers with the last question and writes summaries: they begin with a
 * recognizable text and have words in capitals as facts. If offered a tool, it reasons and calls it as often
 * as the question says "look".
 */
import type { JsonObject } from '../../src/core/json/json.ts'
import { answerJson, answerSse, startUpstream, type Received, type Upstream } from './upstream.ts'

export interface SummarizingUpstream extends Upstream {
  /** The response to the next summary requests; null for a normal summary. */
  summaryResponse: ((text: string) => { readonly status: number; readonly body: JsonObject }) | null
  /** Delays summaries until the returned function is called. */
  readonly delaySummaries: () => () => void
  /** Returns the messages of all requests other than for summaries. */
  readonly answerPrompts: () => readonly SentMessage[][]
  /** Returns the texts that it summarized. */
  readonly summarizedTexts: () => readonly string[]
}

export interface SentMessage {
  readonly role: string
  readonly content: string
}

export async function startSummarizingUpstream(): Promise<SummarizingUpstream> {
  const upstream = await startUpstream()
  const isSumming = ({ text }: Received): boolean => text.includes('<conversation>')
  let held: Promise<void> = Promise.resolve()
  const own = {
    summaryResponse: null,
    delaySummaries() {
      let release = (): void => undefined
      held = new Promise((resolve) => (release = resolve))
      return () => release()
    },
    answerPrompts: () =>
      upstream.received
        .filter((received) => !isSumming(received))
        .map(({ json }) => (json['messages'] as SentMessage[]).map(withTextContent)),
    summarizedTexts: () => upstream.received.filter(isSumming).map(({ json }) => lastOf(json)),
  }
  const summarizer: SummarizingUpstream = Object.assign(upstream, own)
  summarizer.behave = async (response, received) => {
    const asked = lastOf(received.json)
    if (isSumming(received)) {
      await held
      const { status, body } = summarizer.summaryResponse?.(asked) ?? {
        status: 200,
        body: chatCompletion(summaryOf(asked)),
      }
      return answerJson(status, body)(response, received)
    }
    if (received.json['tools'] !== undefined && asked.includes('look')) {
      return answerJson(200, lookCallAnswer(summarizer.received.length))(response, received)
    }
    const answer = `Answer to: ${asked}`
    if (received.json['stream'] !== true)
      return answerJson(200, chatCompletion(answer))(response, received)
    const chunk = (delta: JsonObject, finish_reason: string | null) =>
      `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason }] })}\n\n`
    const pieces = [chunk({ role: 'assistant', content: answer }, null), chunk({}, 'stop')]
    return answerSse([...pieces, 'data: [DONE]\n\n'])(response, received)
  }
  return summarizer
}

/** The content is null in a message that has only calls. */
function withTextContent(message: SentMessage): SentMessage {
  return { ...message, content: message.content ?? '' }
}

/** A non-streamed answer. */
export function chatCompletion(content: string, finish_reason = 'stop'): JsonObject {
  return completion({ role: 'assistant', content }, finish_reason)
}

function lookCallAnswer(nth: number): JsonObject {
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
