/**
 * Tests recorded answers: their events are in order, and each signature is sent back on its part.
 */
import { describe, expect, test } from 'vitest'
import type { StreamEvent } from '../../../src/core/stream-event.ts'
import type { Item } from '../../../src/core/item.ts'
import type { JsonObject } from '../../../src/core/json/json.ts'
import { gemini } from '../../../src/providers/gemini/gemini.ts'
import { createSseDecoder } from '../../../src/core/stream/sse.ts'
import { runStage } from '../../../src/core/stream/stream-stage.ts'
import { readShared, sharedExists } from '../../support/shared-files.ts'
import { ACCOUNT, expectOrdered, itemsOf, message, output, encode } from './kit.ts'

interface WirePart {
  readonly text?: string
  readonly thought?: boolean
  readonly thoughtSignature?: string
  readonly functionCall?: { readonly name: string; readonly args: JsonObject }
}

const FILES = [
  'function-call-followup.sse',
  'function-call-signature.sse',
  'json-array-stream.json',
  'max-tokens-empty.json',
  'parallel-function-calls.json',
  'prompt-blocked.json',
  'safety-blocked.json',
  'text.sse',
  'thought-summary-signature.sse',
  'web-search-grounding.sse',
]

describe.skipIf(!sharedExists)('decoding of recorded Gemini answers', () => {
  test.each(FILES)(
    'the recorded Gemini answer %s gives events in a valid order and no failure',
    (file) => {
      const events = decodeFile(file)
      expectOrdered(events)
      expect(events.at(-1)?.type).toBe('answer-ended')
    },
  )

  test.each(FILES)(
    'the recorded Gemini answer %s is sent back with each signature on its original part',
    (file) => {
      const chunks = readChunks(file)
      const sentParts = encodeAnswer(itemsOf(decodeFile(file)), String(chunks[0]?.['modelVersion']))
      const signed = chunks.flatMap(listParts).filter((part) => part.thoughtSignature !== undefined)
      for (const part of signed) expect(sentParts).toContainEqual(part)
      expect(sentParts.filter((part) => part.thoughtSignature !== undefined)).toHaveLength(
        signed.length,
      )
    },
  )

  test.each(FILES)(
    'the calls of the recorded Gemini answer %s are sent back signed even if a client omits their `native` field',
    (file) => {
      const calls = (parts: readonly WirePart[]) =>
        parts.filter(({ functionCall }) => functionCall !== undefined)
      const items = itemsOf(decodeFile(file)).map(
        (item) => ({ ...item, native: undefined }) as unknown as Item,
      )
      const sentParts = encodeAnswer(items, String(readChunks(file)[0]?.['modelVersion']))
      expect(calls(sentParts)).toEqual(calls(readChunks(file).flatMap(listParts)))
    },
  )

  test.each(FILES)('the recorded Gemini answer %s is sent back with the same text', (file) => {
    const sentParts = encodeAnswer(itemsOf(decodeFile(file)), 'gemini-2.5-pro')
    const joinText = (parts: readonly WirePart[]) =>
      parts.map(({ text = '', thought }) => (thought === true ? '' : text)).join('')
    expect(joinText(sentParts)).toBe(joinText(readChunks(file).flatMap(listParts)))
  })

  test('recorded Gemini answers are decoded with the right finish reasons', () => {
    const endings = FILES.map((file) => decodeFile(file).at(-1))
    expect(endings.map((event) => (event?.type === 'answer-ended' ? event.finish : null))).toEqual([
      'stop',
      'stop',
      'stop',
      'length',
      'stop',
      'content-filter',
      'content-filter',
      'stop',
      'stop',
      'stop',
    ])
  })

  test('the citations of a recorded Gemini answer have the right text positions', () => {
    const [item] = itemsOf(decodeFile('web-search-grounding.sse'))
    const [part] = item?.type === 'message' ? item.content : []
    if (part?.type !== 'output_text') throw new Error('no text')
    const quoted = (part.annotations ?? []).map(({ start_index, end_index }) =>
      part.text.slice(start_index as number, end_index as number),
    )
    expect(quoted).toHaveLength(9)
    expect(quoted[0]).toMatch(/^As of Tuesday afternoon, .* at approximately 68%\.$/)
    expect(quoted.at(-1)).toBe('The chance of rain remains low throughout the day.')
  })
})

function decodeFile(file: string): readonly StreamEvent[] {
  if (file.endsWith('.sse')) {
    const messages = runStage(createSseDecoder(), [readShared(`fixtures/streams/gemini/${file}`)])
    return runStage(gemini.createDecoder(ACCOUNT), messages)
  }
  const chunks = readChunks(file)
  return chunks.length === 1 && chunks[0] !== undefined
    ? gemini.decodeBody(chunks[0], ACCOUNT)
    : runStage(gemini.createDecoder(ACCOUNT), [{ data: JSON.stringify(chunks) }])
}

function readChunks(file: string): readonly JsonObject[] {
  const bytes = readShared(`fixtures/streams/gemini/${file}`)
  const texts = file.endsWith('.sse')
    ? runStage(createSseDecoder(), [bytes]).map(({ data }) => data)
    : [bytes.toString()]
  return texts.flatMap((text) => [JSON.parse(text) as JsonObject | readonly JsonObject[]].flat())
}

function listParts(chunk: JsonObject): readonly WirePart[] {
  const candidates = (chunk['candidates'] ?? []) as unknown as {
    content?: { parts?: WirePart[] }
  }[]
  return candidates[0]?.content?.parts ?? []
}

/**
 * Returns the parts of the model's turns when the next request sends the answer back with outputs
 * for its calls.
 */
function encodeAnswer(items: readonly Item[], model: string): readonly WirePart[] {
  const outputs = items.flatMap((item) =>
    item.type === 'function_call' ? [output(item.call_id, 'done')] : [],
  )
  const conversation = [message('user', 'Hi'), ...items, ...outputs, message('user', 'And?')]
  const contents = encode(conversation, { model }).body['contents'] as unknown as {
    role: string
    parts: WirePart[]
  }[]
  return contents.flatMap(({ role, parts }) => (role === 'model' ? parts : []))
}
