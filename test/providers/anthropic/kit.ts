/**
 * Helpers of the tests of this wire: prompts, accounts, items, stream events, and encoding and
 * decoding in one call.
 */
import { expect } from 'vitest'
import type { Item, Message, Part } from '../../../src/core/item.ts'
import { isObject, type JsonObject } from '../../../src/core/json/json.ts'
import type { PromptParameters, Prompt } from '../../../src/core/prompt.ts'
import type { StreamEvent } from '../../../src/core/stream-event.ts'
import type { SseMessage } from '../../../src/core/stream/sse.ts'
import { runStage } from '../../../src/core/stream/stream-stage.ts'
import { anthropic } from '../../../src/providers/anthropic/anthropic.ts'
import type { Account } from '../../../src/providers/provider-interface.ts'
import { NO_PARAMS } from '../../support/empty-parameters.ts'

const PARAMS: PromptParameters = { ...NO_PARAMS, model: 'claude-sonnet-4-5' }

export function promptOf(
  items: readonly Item[],
  params: Partial<PromptParameters> = {},
  stream = true,
): Prompt {
  const all = { ...PARAMS, ...params }
  const source = {
    dialect: 'responses',
    body: {},
    bytes: () => new Uint8Array(),
    items,
    params: all,
  } as const
  return { items, params: all, stream, source }
}

export function accountOf(quirks: JsonObject = {}): Account {
  return {
    name: 'claude',
    wire: 'anthropic',
    baseUrl: 'https://api.anthropic.com/v1',
    apiKey: 'sk-ant-1',
    models: ['claude-*'],
    headers: {},
    quirks,
  }
}

export interface EncodedItems {
  readonly body: JsonObject
  readonly codes: readonly string[]
  /** The fields of the notes that concern a parameter. */
  readonly fields: readonly string[]
}

/**
 * Encodes items into a request and the codes of its notes; without cache breakpoints by default.
 */
export function encode(
  items: readonly Item[],
  params: Partial<PromptParameters> = {},
  quirks: JsonObject = { cacheControl: false },
): EncodedItems {
  const { body, notes } = anthropic.encode(promptOf(items, params), accountOf(quirks))
  const fields = notes.map(({ field }) => field).filter((field) => field !== undefined)
  return { body, codes: notes.map(({ why }) => why), fields }
}

export function encodeMessages(
  items: readonly Item[],
  params: Partial<PromptParameters> = {},
): unknown {
  return encode(items, params).body['messages']
}

export function user(...content: readonly (string | Part)[]): Message {
  return { type: 'message', role: 'user', content: content.map(inputPart) }
}

export function system(text: string): Message {
  return { type: 'message', role: 'system', content: [inputPart(text)] }
}

export function assistant(...texts: readonly string[]): Message {
  return {
    type: 'message',
    role: 'assistant',
    content: texts.map((text): Part => ({ type: 'output_text', text })),
  }
}

function inputPart(part: string | Part): Part {
  return typeof part === 'string' ? { type: 'input_text', text: part } : part
}

export function call(call_id: string, name = 'look', args = '{}'): Item {
  return { type: 'function_call', call_id, name, arguments: args }
}

export function output(call_id: string, output: string | readonly Part[] = 'done'): Item {
  return { type: 'function_call_output', call_id, output }
}

export function thought(thinking: string, signature = 'sig'): Item {
  return {
    type: 'reasoning',
    summary: [{ type: 'summary_text', text: thinking }],
    native: { anthropic: { type: 'thinking', thinking, signature } },
  }
}

export function look(name = 'look') {
  return { type: 'function', name, description: null, parameters: null, strict: false } as const
}

/** Decodes a stream that is given as the JSON objects of its events. */
export function decode(events: readonly JsonObject[], prompt?: Prompt): StreamEvent[] {
  return decodeSse(
    events.map((event) => ({ data: JSON.stringify(event) })),
    prompt,
  )
}

export function decodeSse(messages: readonly SseMessage[], prompt?: Prompt): StreamEvent[] {
  return runStage(anthropic.createDecoder(accountOf(), prompt), messages)
}

export function itemsOf(events: readonly StreamEvent[]): readonly Item[] {
  const items: Item[] = []
  for (const event of events) if (event.type === 'item-ended') items[event.index] = event.item
  return items
}

/** Wraps the events of blocks in the start and the end of an answer. */
export function createAnswer(...blocks: readonly (readonly JsonObject[])[]): readonly JsonObject[] {
  return [
    {
      type: 'message_start',
      message: {
        id: 'msg_1',
        model: 'claude-sonnet-4-5',
        usage: { input_tokens: 3, output_tokens: 1 },
      },
    },
    ...blocks.flatMap((events, index) => events.map((event) => ({ ...event, index }))),
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 5 } },
    { type: 'message_stop' },
  ]
}

export function block(start: JsonObject, ...deltas: readonly JsonObject[]): readonly JsonObject[] {
  return [
    { type: 'content_block_start', content_block: start },
    ...deltas.map((delta) => ({ type: 'content_block_delta', delta })),
    { type: 'content_block_stop' },
  ]
}

export function textBlock(...texts: readonly string[]): readonly JsonObject[] {
  return block({ type: 'text', text: '' }, ...texts.map((text) => ({ type: 'text_delta', text })))
}

/** Expects the order of events that `core/stream-event.ts` promises. */
export function expectOrdered(events: readonly StreamEvent[]): void {
  expect(events[0]?.type).toBe('answer-started')
  expect(events.filter(({ type }) => type === 'answer-started')).toHaveLength(1)
  const ends = events.filter(({ type }) => type === 'answer-ended' || type === 'answer-failed')
  expect(ends).toEqual([events.at(-1)])
  const open = new Map<number, string>()
  let started = 0
  for (const event of events) {
    if (!('index' in event)) continue
    const { index } = event
    if (event.type === 'item-started') {
      expect(index).toBe(started++)
      open.set(index, '')
    } else if (event.type === 'item-ended') {
      expect(readText(event.item)).toBe(open.get(index))
      open.delete(index)
    } else {
      expect(open.has(index)).toBe(true)
      if ('text' in event) open.set(index, `${open.get(index) ?? ''}${event.text}`)
    }
  }
  expect([...open.keys()]).toEqual([])
}

function readText(item: Item): string {
  switch (item.type) {
    case 'message':
      return item.content
        .map((part) => ('text' in part ? part.text : 'refusal' in part ? part.refusal : ''))
        .join('')
    case 'function_call':
      return item.arguments
    case 'custom_tool_call':
      return item.input
    case 'reasoning':
      return item.summary.map(({ text }) => text).join('')
    default:
      return ''
  }
}

/** Returns the content of a message of the request. */
export function contentAt(body: JsonObject, at: number): unknown {
  const { messages } = body
  const message: unknown = Array.isArray(messages) ? messages[at] : null
  return isObject(message) ? message['content'] : null
}

export const QUESTION = [user('go')]

/**
 * Encodes a question with the given parameters; returns the named fields of the request, then the
 * codes of the notes.
 */
export function fields(
  params: Partial<PromptParameters>,
  ...names: readonly string[]
): readonly unknown[] {
  const { body, codes } = encode(QUESTION, params)
  return [...names.map((name) => body[name]), codes]
}
