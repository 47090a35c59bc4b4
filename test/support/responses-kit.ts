/** Helpers for the tests of both sides of the Responses API: recorded streams, requests and answers. */
import { readdirSync } from 'node:fs'
import type { ClientRequest } from '../../src/core/client-request.ts'
import { createOutcomeCollector, type Outcome } from '../../src/core/collect-answer-outcome.ts'
import type { Item } from '../../src/core/item.ts'
import type { JsonObject } from '../../src/core/json/json.ts'
import type { AnswerContext } from '../../src/core/ports/dialect-interface.ts'
import type { PromptParameters, Prompt } from '../../src/core/prompt.ts'
import type { StreamEvent } from '../../src/core/stream-event.ts'
import { createSseDecoder, type SseMessage } from '../../src/core/stream/sse.ts'
import { runStage } from '../../src/core/stream/stream-stage.ts'
import { responsesDialect } from '../../src/dialects/responses/responses-dialect.ts'
import type { Account } from '../../src/providers/provider-interface.ts'
import { readShared, sharedExists, sharedUrl } from './shared-files.ts'

export interface Recorded {
  readonly name: string
  readonly messages: readonly SseMessage[]
}

const FOLDERS = ['openai-responses', 'responses-compatible']

/**
 * Returns every recorded Responses stream, split into answers. Without recordings, returns one placeholder so
 * that the skipped test is visible.
 */
export function recordedStreams(): readonly Recorded[] {
  if (!sharedExists) return [{ name: 'no recordings here', messages: [] }]
  return FOLDERS.flatMap((folder) =>
    readdirSync(sharedUrl(`fixtures/streams/${folder}/`))
      .filter((file) => /\.(sse|jsonl)$/.test(file))
      .toSorted()
      .flatMap((file) => answersIn(`${folder}/${file}`)),
  )
}

function answersIn(name: string): readonly Recorded[] {
  const bytes = readShared(`fixtures/streams/${name}`)
  const messages = name.endsWith('.sse')
    ? runStage(createSseDecoder(), [bytes])
    : bytes
        .toString()
        .split('\n')
        .filter((line) => line.trim() !== '')
        .map((data) => ({ event: (JSON.parse(data) as { type: string }).type, data }))
  const starts = messages.flatMap(({ data }, at) =>
    data.includes('"type":"response.created"') ? [at] : [],
  )
  if (starts.length < 2) return [{ name, messages }]
  return starts.map((start, at) => ({
    name: `${name} #${at + 1}`,
    messages: messages.slice(start, starts[at + 1]),
  }))
}

export const ACCOUNT: Account = {
  name: 'openai',
  wire: 'responses',
  baseUrl: 'https://api.openai.com/v1',
  apiKey: 'sk-1',
  models: ['*'],
  headers: {},
  quirks: {},
}

export function accountWith(quirks: JsonObject): Account {
  return { ...ACCOUNT, quirks }
}

export const ASK: JsonObject = { model: 'gpt-5', input: 'go', reasoning: { summary: 'auto' } }

export function parseBody(body: JsonObject): ClientRequest {
  return responsesDialect.parse(body)
}

export function promptOf(
  clientRequest: ClientRequest,
  items = clientRequest.items,
  params = clientRequest.params,
): Prompt {
  const { dialect, body, bytes, stream } = clientRequest
  const source = { dialect, body, bytes, items: clientRequest.items, params: clientRequest.params }
  return { items, params, stream, source }
}

/** Builds the prompt that a chat client's request would have. */
export function chatPrompt(items: readonly Item[], params: Partial<PromptParameters> = {}): Prompt {
  const all = { ...parseBody({ ...ASK, reasoning: null }).params, ...params }
  const source = {
    dialect: 'chat',
    body: { model: all.model, messages: [] },
    bytes: () => new Uint8Array(),
    items,
    params: all,
  } as const
  return { items, params: all, stream: true, source }
}

export const TURN_ID = '01HZY7Q3M4ABCDEFGH23'

export function answeringTo(
  body: JsonObject = ASK,
  more: Partial<AnswerContext> = {},
): AnswerContext {
  return {
    clientRequest: parseBody(body),
    turnId: TURN_ID,
    createdAtMs: 1_700_000_000_000,
    isStored: true,
    ...more,
  }
}

export function outcomeOf(events: readonly StreamEvent[]): Outcome {
  const fold = createOutcomeCollector()
  for (const event of events) fold.push(event)
  return fold.currentOutcome()
}

export const ENDED_AT_MS = 1_700_000_002_000

/** Returns all messages of a stream with these events. */
export function renderEvents(
  events: readonly StreamEvent[],
  answering: AnswerContext = answeringTo(),
): readonly SseMessage[] {
  const renderer = responsesDialect.createRenderer(answering)
  const messages = events.flatMap((event) => renderer.push(event))
  return [...messages, ...renderer.end(outcomeOf(events), ENDED_AT_MS)]
}

export function jsonOf({ data }: SseMessage): JsonObject {
  return JSON.parse(data) as JsonObject
}

/** Returns the response in the last event of a stream. */
export function lastResponse(messages: readonly SseMessage[]): JsonObject {
  const last = messages.findLast(({ data }) => data !== '[DONE]')
  return (last === undefined ? {} : jsonOf(last))['response'] as JsonObject
}
