/** Shared helpers of the Chat Completions tests: accounts, prompts, items, chunks, and checked encoding. */
import { expect } from 'vitest'
import type { StreamEvent } from '../../../src/core/stream-event.ts'
import type { Item, Part, Role } from '../../../src/core/item.ts'
import type { Json, JsonObject } from '../../../src/core/json/json.ts'
import type { Note } from '../../../src/core/note.ts'
import type { PromptParameters, Prompt } from '../../../src/core/prompt.ts'
import { chatDialect } from '../../../src/dialects/chat/chat-dialect.ts'
import { openaiChat } from '../../../src/providers/openai-chat/openai-chat.ts'
import type { Account } from '../../../src/providers/provider-interface.ts'
import { runStage } from '../../../src/core/stream/stream-stage.ts'
import { findChatFaults } from '../../support/chat-laws.ts'
import { findEventFaults } from '../../support/event-laws.ts'
import { NO_PARAMS } from '../../support/empty-parameters.ts'

const PARAMS: PromptParameters = NO_PARAMS

export function accountOf(quirks: JsonObject = {}): Account {
  return {
    name: 'up',
    wire: 'chat',
    baseUrl: 'https://up.example/v1',
    apiKey: 'sk-1',
    models: ['*'],
    headers: {},
    quirks,
  }
}

/** Creates a prompt of a Responses client. */
export function promptOf(
  items: readonly Item[],
  params: Partial<PromptParameters> = {},
  stream = false,
): Prompt {
  const all = { ...PARAMS, ...params }
  const bytes = () => new Uint8Array()
  const source = { dialect: 'responses', body: {}, bytes, items, params: all } as const
  return { items, params: all, stream, source }
}

/** Creates the unchanged prompt of a Chat Completions client. */
export function parseChatPrompt(body: JsonObject): Prompt {
  const { items, params, stream, dialect, bytes } = chatDialect.parse(body)
  return { items, params, stream, source: { dialect, body, bytes, items, params } }
}

export interface EncodedPrompt {
  readonly body: JsonObject
  readonly messages: Json | undefined
  readonly notes: readonly Note[]
  /** The `why` of each note. */
  readonly codes: readonly string[]
}

/** Encodes the items and checks that a strict service would accept the request. */
export function encode(
  items: readonly Item[],
  params: Partial<PromptParameters> = {},
  quirks: JsonObject = {},
): EncodedPrompt {
  const sent = encodePrompt(promptOf(items, params), quirks)
  expect(findChatFaults(sent.body)).toEqual([])
  return sent
}

export function encodePrompt(prompt: Prompt, quirks: JsonObject = {}): EncodedPrompt {
  const { body, bytes, notes } = openaiChat.encode(prompt, accountOf(quirks))
  if (bytes !== undefined) expect(JSON.parse(new TextDecoder().decode(bytes))).toEqual(body)
  return { body, messages: body['messages'], notes, codes: notes.map(({ why }) => why) }
}

export function message(role: Role, ...content: readonly (string | Part)[]): Item {
  const type = role === 'assistant' ? 'output_text' : 'input_text'
  return {
    type: 'message',
    role,
    content: content.map((part) => (typeof part === 'string' ? { type, text: part } : part)),
  }
}

export const user = (...content: readonly (string | Part)[]) => message('user', ...content)
export const assistant = (...content: readonly (string | Part)[]) =>
  message('assistant', ...content)

export function call(call_id: string, name = 'look', args = '{}', native?: JsonObject): Item {
  const item: Item = { type: 'function_call', call_id, name, arguments: args }
  return native === undefined ? item : { ...item, native: { chat: native } }
}

export function output(call_id: string, output: string | readonly Part[] = 'done'): Item {
  return { type: 'function_call_output', call_id, output }
}

export function reasoning(text: string, native?: JsonObject): Item {
  const item: Item = {
    type: 'reasoning',
    summary: [],
    content: [{ type: 'reasoning_text', text }],
  }
  return native === undefined ? item : { ...item, native: { chat: native } }
}

export function image(url = 'data:image/png;base64,AA'): Part {
  return { type: 'input_image', image_url: url }
}

export function functionTool(name = 'look') {
  return {
    type: 'function',
    name,
    description: null,
    parameters: null,
    strict: false,
  } as const
}

export function toolCall(id: string, name = 'look', args = '{}') {
  return { id, type: 'function', function: { name, arguments: args } }
}

/** Creates a chunk with this delta. */
export function chunk(delta: JsonObject, more: JsonObject = {}): JsonObject {
  return {
    id: 'up-1',
    object: 'chat.completion.chunk',
    created: 7,
    model: 'm-1',
    choices: [{ index: 0, delta, finish_reason: null, ...more }],
  }
}

export function finish(reason = 'stop', more: JsonObject = {}): JsonObject {
  return { ...chunk({}, { finish_reason: reason }), ...more }
}

export const USAGE = { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 }
export const DONE = '[DONE]'

/** Decodes the chunks and checks that the order of events is valid. */
export function decodeChunks(
  chunks: readonly (JsonObject | string)[],
  quirks: JsonObject = {},
  prompt?: Prompt,
): readonly StreamEvent[] {
  const messages = chunks.map((one) => ({
    data: typeof one === 'string' ? one : JSON.stringify(one),
  }))
  const events = runStage(openaiChat.createDecoder(accountOf(quirks), prompt), messages)
  expect(findEventFaults(events)).toEqual([])
  return events
}

export function itemsIn(events: readonly StreamEvent[]): readonly Item[] {
  const items: Item[] = []
  for (const event of events) if (event.type === 'item-ended') items[event.index] = event.item
  return items
}

/** Decodes the chunks of an answer that ends successfully. */
export function decode(...chunks: readonly (JsonObject | string)[]): readonly Item[] {
  const events = decodeChunks([...chunks, finish(), DONE])
  expect(events.at(-1)?.type).toBe('answer-ended')
  return itemsIn(events)
}

export function getFailure(events: readonly StreamEvent[]) {
  const last = events.at(-1)
  return last?.type === 'answer-failed' ? last.failure : null
}
