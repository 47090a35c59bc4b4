/** Answers to streamed requests: a stream, or one JSON object in place of one. */
import { describe, expect, test } from 'vitest'
import type { StreamEvent } from '../../../src/core/stream-event.ts'
import { createOutcomeCollector } from '../../../src/core/collect-answer-outcome.ts'
import type { AnswerRenderer } from '../../../src/core/ports/dialect-interface.ts'
import { createFailure } from '../../../src/core/errors/gateway-error.ts'
import type { ResponseWriter } from '../../../src/gateway/respond/response-writer-interface.ts'
import { selectStreamOrJsonWriter } from '../../../src/gateway/respond/select-stream-or-json-writer.ts'
import type { JsonObject } from '../../../src/core/json/json.ts'
import type { Provider } from '../../../src/providers/provider-interface.ts'
import { createTranslatingWriter } from '../../../src/gateway/respond/translating-writer.ts'
import { applyEventFilters } from '../../../src/gateway/respond/event-filters/apply-event-filters.ts'
import { decodeAnswerBody } from '../../../src/gateway/send/decode-answer-body.ts'
import { plainAccount } from '../../support/account.ts'
import type { Prompt } from '../../../src/core/prompt.ts'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

describe('selection of the writer by the first character', () => {
  /** Creates a writer that returns its name and its chunk. */
  const createNamedWriter = (name: string): ResponseWriter => ({
    push: (chunk) => `${name}:${new TextDecoder().decode(chunk)}`,
    isOver: () => false,
    isCutShort: () => false,
    endBody: () => name,
    abandon: () => undefined,
    getOutcome: createOutcomeCollector().currentOutcome,
    renderEnd: () => name,
  })
  const read = (...chunks: readonly string[]) => {
    const writer = selectStreamOrJsonWriter(createNamedWriter('stream'), () =>
      createNamedWriter('json'),
    )
    return [...chunks.map((chunk) => writer.push(bytes(chunk))), writer.endBody(null)]
  }

  test('the first character of a body decides for all its chunks whether it is a stream or JSON', () => {
    expect(read('{"a":', '1}')).toEqual(['json:{"a":', 'json:1}', 'json'])
    expect(read('data: 1\n', '{}')).toEqual(['stream:data: 1\n', 'stream:{}', 'stream'])
    expect(read(': {', '{}')).toEqual(['stream:: {', 'stream:{}', 'stream'])
  })

  test('white space before the first character of a body is passed through and does not decide whether it is JSON', () => {
    expect(read('\n', ' \r\n', '{}')).toEqual(['stream:\n', 'stream: \r\n', 'json:{}', 'json'])
    expect(read('', '\uFEFF', 'data: 1')).toEqual([
      'stream:',
      `stream:`,
      'stream:data: 1',
      'stream',
    ])
    expect(read()).toEqual(['stream'])
  })
})

describe('a JSON object that was sent in place of a stream', () => {
  const renderer: AnswerRenderer = {
    push: ({ type }) => [{ data: type }],
    end: ({ failure }) => [{ data: failure?.message ?? 'well' }],
  }
  const createEvents = (text: unknown): readonly StreamEvent[] => [
    { type: 'answer-started', upstreamId: String(text), model: null },
    { type: 'answer-ended', finish: 'stop', usage: null },
  ]
  const provider = {
    decodeBody: (body: JsonObject) => createEvents(body['text']),
  } as unknown as Provider
  const createWriter = () =>
    createTranslatingWriter({
      decoder: applyEventFilters(
        decodeAnswerBody({ provider, account: plainAccount('chat'), prompt: {} as Prompt }),
        [],
      ),
      renderer,
      fold: createOutcomeCollector(),
      nowMs: () => 0,
    })

  test('if an upstream sends a JSON object in place of a stream, it is rendered when its body is complete', () => {
    const writer = createWriter()
    const body = bytes('{"text":"ä"}')
    // The cut is inside the character `ä`.
    expect([writer.push(body.subarray(0, 10)), writer.push(body.subarray(10))]).toEqual(['', ''])
    expect(writer.isOver()).toBe(false)
    expect(writer.endBody(null)).toBe('data: answer-started\n\ndata: answer-ended\n\n')
    expect(writer.getOutcome()).toMatchObject({ upstreamId: 'ä', finish: 'stop' })
    expect(writer.renderEnd(writer.getOutcome())).toBe('data: well\n\n')
  })

  test.each([
    ['is invalid', '{"text":', null, /not JSON/],
    ['breaks off', '{"text":1}', createFailure('upstream_timeout', 'Too late.'), /Too late/],
  ])(
    'a JSON object in place of a stream that %s is rendered as a failure',
    (_, body, failure, why) => {
      const writer = createWriter()
      writer.push(bytes(body))
      expect(writer.endBody(failure)).toBe('data: answer-started\n\ndata: answer-failed\n\n')
      expect(writer.getOutcome().failure?.message).toMatch(why)
      expect(writer.renderEnd(writer.getOutcome())).toMatch(why)
    },
  )

  test('a JSON object in place of a stream that is too large throws an error', () => {
    const writer = createWriter()
    const chunk = new Uint8Array(128 * 1024 * 1024).fill(0x7b)
    writer.push(chunk)
    writer.push(chunk)
    expect(() => writer.push(bytes('1'))).toThrow(/over \d+ bytes/)
  })
})
