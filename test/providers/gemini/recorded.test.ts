/** Recorded answers: told in lawful order, and every signature finds back to its part. */
import { describe, expect, test } from 'vitest'
import type { StreamEvent } from '../../../src/core/stream-event.ts'
import type { Item } from '../../../src/core/item.ts'
import type { JsonObject } from '../../../src/core/json/json.ts'
import { gemini } from '../../../src/providers/gemini/gemini.ts'
import { createSseDecoder } from '../../../src/core/stream/sse.ts'
import { runStage } from '../../../src/core/stream/stage.ts'
import { readShared, sharedExists } from '../../support/shared.ts'
import { ACCOUNT, expectLawful, itemsIn, message, output, send } from './kit.ts'

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

describe.skipIf(!sharedExists)('recorded answers', () => {
  test.each(FILES)('%s is told in lawful order and ends well', (file) => {
    const events = told(file)
    expectLawful(events)
    expect(events.at(-1)?.type).toBe('answer-ended')
  })

  test.each(FILES)('%s goes back with every signature on its part', (file) => {
    const chunks = chunksOf(file)
    const sent = replayed(itemsIn(told(file)), String(chunks[0]?.['modelVersion']))
    const signed = chunks.flatMap(partsOf).filter((part) => part.thoughtSignature !== undefined)
    for (const part of signed) expect(sent).toContainEqual(part)
    expect(sent.filter((part) => part.thoughtSignature !== undefined)).toHaveLength(signed.length)
  })

  test.each(FILES)(
    '%s goes back with its calls signed, even from a client without memory',
    (file) => {
      const calls = (parts: readonly WirePart[]) =>
        parts.filter(({ functionCall }) => functionCall !== undefined)
      const items = itemsIn(told(file)).map(
        (item) => ({ ...item, native: undefined }) as unknown as Item,
      )
      const sent = replayed(items, String(chunksOf(file)[0]?.['modelVersion']))
      expect(calls(sent)).toEqual(calls(chunksOf(file).flatMap(partsOf)))
    },
  )

  test.each(FILES)('%s goes back word for word', (file) => {
    const sent = replayed(itemsIn(told(file)), 'gemini-2.5-pro')
    const words = (parts: readonly WirePart[]) =>
      parts.map(({ text = '', thought }) => (thought === true ? '' : text)).join('')
    expect(words(sent)).toBe(words(chunksOf(file).flatMap(partsOf)))
  })

  test('the endings are those that were recorded', () => {
    const endings = FILES.map((file) => told(file).at(-1))
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

  test('a grounded answer has its sources at the places that the service meant', () => {
    const [item] = itemsIn(told('web-search-grounding.sse'))
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

function told(file: string): readonly StreamEvent[] {
  if (file.endsWith('.sse')) {
    const messages = runStage(createSseDecoder(), [readShared(`fixtures/streams/gemini/${file}`)])
    return runStage(gemini.createDecoder(ACCOUNT), messages)
  }
  const chunks = chunksOf(file)
  return chunks.length === 1 && chunks[0] !== undefined
    ? gemini.decodeBody(chunks[0], ACCOUNT)
    : runStage(gemini.createDecoder(ACCOUNT), [{ data: JSON.stringify(chunks) }])
}

function chunksOf(file: string): readonly JsonObject[] {
  const bytes = readShared(`fixtures/streams/gemini/${file}`)
  const texts = file.endsWith('.sse')
    ? runStage(createSseDecoder(), [bytes]).map(({ data }) => data)
    : [bytes.toString()]
  return texts.flatMap((text) => [JSON.parse(text) as JsonObject | readonly JsonObject[]].flat())
}

function partsOf(chunk: JsonObject): readonly WirePart[] {
  const candidates = (chunk['candidates'] ?? []) as unknown as {
    content?: { parts?: WirePart[] }
  }[]
  return candidates[0]?.content?.parts ?? []
}

/** The parts of the model's turns when the answer is sent back, its calls answered. */
function replayed(items: readonly Item[], model: string): readonly WirePart[] {
  const outputs = items.flatMap((item) =>
    item.type === 'function_call' ? [output(item.call_id, 'done')] : [],
  )
  const conversation = [message('user', 'Hi'), ...items, ...outputs, message('user', 'And?')]
  const contents = send(conversation, { model }).body['contents'] as unknown as {
    role: string
    parts: WirePart[]
  }[]
  return contents.flatMap(({ role, parts }) => (role === 'model' ? parts : []))
}
