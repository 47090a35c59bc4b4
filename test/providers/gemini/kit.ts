/** Helpers of the tests of this wire: prompts, chunks, and encoding and decoding in one call. */
import { expect } from 'vitest'
import type { StreamEvent } from '../../../src/core/stream-event.ts'
import type { Item, Part, Role } from '../../../src/core/item.ts'
import type { Json, JsonObject } from '../../../src/core/json/json.ts'
import type { Note } from '../../../src/core/note.ts'
import type { PromptParameters, Prompt } from '../../../src/core/prompt.ts'
import { gemini } from '../../../src/providers/gemini/gemini.ts'
import type { Account } from '../../../src/providers/provider-interface.ts'
import { runStage } from '../../../src/core/stream/stream-stage.ts'
import { findEventFaults } from '../../support/event-laws.ts'
import { findGeminiFaults } from '../../support/gemini-laws.ts'
import { NO_PARAMS } from '../../support/empty-parameters.ts'

const PARAMS: PromptParameters = { ...NO_PARAMS, model: 'gemini-3.8-flash' }

export const ACCOUNT: Account = {
  name: 'google',
  wire: 'gemini',
  baseUrl: 'https://generativelanguage.googleapis.com/v1beta',
  apiKey: 'AIza-test',
  models: ['gemini-*'],
  headers: {},
  quirks: {},
}

export function promptOf(items: readonly Item[], params: Partial<PromptParameters> = {}): Prompt {
  const all = { ...PARAMS, ...params }
  const bytes = () => new Uint8Array()
  const source = { dialect: 'responses', body: {}, bytes, items, params: all } as const
  return { items, params: all, stream: true, source }
}

export interface EncodedItems {
  readonly path: string
  readonly body: JsonObject
  readonly notes: readonly Note[]
  /** The `why` of each note. */
  readonly codes: readonly string[]
}

/** Encodes items, and expects that Gemini would accept the request. */
export function encode(
  items: readonly Item[],
  params: Partial<PromptParameters> = {},
  quirks: JsonObject = {},
): EncodedItems {
  const { path, body, notes } = gemini.encode(promptOf(items, params), { ...ACCOUNT, quirks })
  expect(findGeminiFaults(path, body)).toEqual([])
  return { path, body, notes, codes: notes.map(({ why }) => why) }
}

/** Encodes items, and returns only the turns. */
export function encodeTurns(
  items: readonly Item[],
  params: Partial<PromptParameters> = {},
): Json | undefined {
  return encode(items, params).body['contents']
}

export function message(role: Role, ...content: readonly (string | Part)[]): Item {
  const type = role === 'assistant' ? 'output_text' : 'input_text'
  return {
    type: 'message',
    role,
    content: content.map((part) => (typeof part === 'string' ? { type, text: part } : part)),
  }
}

export function call(call_id: string, name: string, args: JsonObject, own?: JsonObject): Item {
  return {
    type: 'function_call',
    call_id,
    name,
    arguments: JSON.stringify(args),
    ...(own === undefined ? {} : { native: { gemini: own } }),
  }
}

export function output(call_id: string, output: string | readonly Part[]): Item {
  return { type: 'function_call_output', call_id, output }
}

export function image(data: string, mimeType = 'image/png'): Part {
  return { type: 'input_image', image_url: `data:${mimeType};base64,${data}` }
}

/** Creates a chunk with the given parts. */
export function chunk(...parts: readonly JsonObject[]): JsonObject {
  return {
    candidates: [{ content: { parts, role: 'model' }, index: 0 }],
    modelVersion: 'gemini-3.8-flash',
    responseId: 'answer1',
  }
}

export function lastChunk(finishReason = 'STOP', more: JsonObject = {}): JsonObject {
  return {
    candidates: [{ content: { parts: [{ text: '' }], role: 'model' }, finishReason, index: 0 }],
    usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 2, totalTokenCount: 7 },
    responseId: 'answer1',
    ...more,
  }
}

export function decode(chunks: readonly (JsonObject | string)[], prompt?: Prompt): StreamEvent[] {
  const data = chunks.map((each) => (typeof each === 'string' ? each : JSON.stringify(each)))
  const events = runStage(
    gemini.createDecoder(ACCOUNT, prompt),
    data.map((text) => ({ data: text })),
  )
  expectOrdered(events)
  return events
}

export function itemsOf(events: readonly StreamEvent[]): Item[] {
  const items: Item[] = []
  for (const event of events) if (event.type === 'item-ended') items[event.index] = event.item
  return items
}

export function expectOrdered(events: readonly StreamEvent[]): void {
  expect(findEventFaults(events)).toEqual([])
}
