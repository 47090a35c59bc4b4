/**
 * Tests recorded streams: their events are in order, and the next request sends each block back
 * unchanged.
 */
import { describe, expect, test } from 'vitest'
import type { Item } from '../../../src/core/item.ts'
import { isObject, type JsonObject } from '../../../src/core/json/json.ts'
import { createSseDecoder, type SseMessage } from '../../../src/core/stream/sse.ts'
import { runStage } from '../../../src/core/stream/stream-stage.ts'
import { anthropic } from '../../../src/providers/anthropic/anthropic.ts'
import { findAnthropicFaults } from '../../support/anthropic-laws.ts'
import { readShared, sharedExists } from '../../support/shared-files.ts'
import { accountOf, decodeSse, encode, expectOrdered, itemsOf, output, user } from './kit.ts'

const STREAMS = [
  'citations',
  'code-execution',
  'compaction-cache-read',
  'parallel-tool-use',
  'pause-turn',
  'redacted-thinking',
  'refusal',
  'text',
  'thinking-signature',
  'thinking-tool-use',
  'tool-use',
  'web-search-tool-error',
  'web-search',
]

const BODIES = ['parallel-tool-use', 'prompt-cache-read', 'prompt-cache-write']

describe.skipIf(!sharedExists)('decoding of recorded Anthropic answers', () => {
  test.each(STREAMS)('the recorded Anthropic answer %s gives events in a valid order', (name) => {
    const events = decodeSse(readMessages(name))
    expectOrdered(events)
    expect(events.at(-1)?.type).toBe('answer-ended')
  })

  test.each(STREAMS)(
    'the blocks of the recorded Anthropic answer %s are sent back unchanged',
    (name) => {
      const messages = readMessages(name)
      expect(encodeAnswer(itemsOf(decodeSse(messages)))).toEqual(joinBlocks(messages))
    },
  )

  test.each(BODIES)(
    'the blocks of the non-streamed Anthropic answer %s are sent back unchanged',
    (name) => {
      const body = JSON.parse(readShared(`${FOLDER}${name}.json`).toString()) as JsonObject
      const events = anthropic.decodeBody(body, accountOf())
      expectOrdered(events)
      expect(encodeAnswer(itemsOf(events))).toEqual(body['content'])
    },
  )

  test('the usage of a recorded Anthropic answer includes the tokens of a compaction within the answer', () => {
    expect(decodeSse(readMessages('compaction-cache-read')).at(-1)).toMatchObject({
      usage: {
        inputTokens: 181 + 100 + 55_096,
        cachedTokens: 55_096,
        cacheWriteTokens: 0,
        outputTokens: 91,
        totalTokens: 181 + 100 + 55_096 + 91,
      },
    })
  })

  test('a recorded Anthropic refusal gives a refusal part and the finish reason content-filter', () => {
    const events = decodeSse(readMessages('refusal'))
    expect(events.at(-1)).toMatchObject({ finish: 'content-filter' })
    expect(itemsOf(events)).toMatchObject([{ content: [{ type: 'refusal' }] }])
  })
})

const FOLDER = 'fixtures/streams/anthropic/'

function readMessages(name: string): readonly SseMessage[] {
  return runStage(createSseDecoder(), [readShared(`${FOLDER}${name}.sse`)])
}

/** Returns the assistant content with which the next request sends an answer back. */
function encodeAnswer(items: readonly Item[]): readonly unknown[] {
  const isPaused = items.at(-1)?.type === 'opaque'
  const results = items.flatMap((item) =>
    item.type === 'function_call' ? [output(item.call_id)] : [],
  )
  const next = isPaused ? [] : results.length > 0 ? results : [user('Go on.')]
  const prompt = [user('Hello.'), ...items, ...next]
  const { body } = encode(prompt, { model: 'claude-sonnet-4-6', effort: 'high' })
  expect(findAnthropicFaults(body)).toEqual([])
  const messages = body['messages'] as readonly { role: string; content: readonly unknown[] }[]
  return messages.find(({ role }) => role === 'assistant')?.content ?? []
}

/** Joins the blocks of a stream without the decoder under test. */
function joinBlocks(messages: readonly SseMessage[]): readonly JsonObject[] {
  const blocks: Record<string, unknown>[] = []
  const json: string[] = []
  for (const { data } of messages) {
    const event = JSON.parse(data) as {
      type: string
      index: number
      content_block: JsonObject
      delta: JsonObject
    }
    if (event.type === 'content_block_start') blocks[event.index] = { ...event.content_block }
    if (event.type !== 'content_block_delta') continue
    const block = blocks[event.index] ?? {}
    const { type, ...fields } = event.delta
    if (type === 'input_json_delta') {
      json[event.index] = (json[event.index] ?? '') + String(fields['partial_json'])
    } else if (type === 'citations_delta') {
      block['citations'] = [...(block['citations'] as readonly unknown[]), fields['citation']]
    } else {
      for (const [field, text] of Object.entries(fields)) {
        block[field] = String(block[field] ?? '') + String(text)
      }
    }
  }
  for (const [index, text] of json.entries()) {
    if (text) Object.assign(blocks[index] ?? {}, { input: JSON.parse(text) as unknown })
  }
  return blocks.filter(isObject).filter(({ type, text }) => type !== 'text' || text !== '')
}
