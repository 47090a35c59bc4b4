/** How an answer is read that was asked for as a stream. */
import { describe, expect, test } from 'vitest'
import type { StreamEvent } from '../../../src/core/stream-event.ts'
import { foldAnswerOutcome } from '../../../src/core/fold-answer-outcome.ts'
import type { AnswerRenderer } from '../../../src/core/ports/dialect-interface.ts'
import { createFailure } from '../../../src/core/errors/gateway-error.ts'
import type { ResponseWriter } from '../../../src/gateway/respond/response-writer-interface.ts'
import { selectWriterByFirstByte } from '../../../src/gateway/respond/select-writer-by-first-byte.ts'
import type { JsonObject } from '../../../src/core/json/json.ts'
import type { Provider } from '../../../src/providers/provider-interface.ts'
import { createTranslatingWriter } from '../../../src/gateway/respond/translate-stream.ts'
import { applyEventFilters } from '../../../src/gateway/respond/event-filters/apply-event-filters.ts'
import { decodeAnswerBody } from '../../../src/gateway/send/decode-answer-body.ts'
import { plainAccount } from '../../support/account.ts'
import type { Prompt } from '../../../src/core/prompt.ts'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

describe('which it is', () => {
  /** A rendition that says which it is, and what it was given. */
  const named = (name: string): ResponseWriter => ({
    push: (chunk) => `${name}:${new TextDecoder().decode(chunk)}`,
    isOver: () => false,
    isCutShort: () => false,
    close: () => name,
    outcome: foldAnswerOutcome().currentOutcome,
    end: () => name,
  })
  const read = (...chunks: readonly string[]) => {
    const rendition = selectWriterByFirstByte(named('stream'), () => named('whole'))
    return [...chunks.map((chunk) => rendition.push(bytes(chunk))), rendition.close(null)]
  }

  test('is told by the first character, once', () => {
    expect(read('{"a":', '1}')).toEqual(['whole:{"a":', 'whole:1}', 'whole'])
    expect(read('data: 1\n', '{}')).toEqual(['stream:data: 1\n', 'stream:{}', 'stream'])
    expect(read(': {', '{}')).toEqual(['stream:: {', 'stream:{}', 'stream'])
  })

  test('is open while nothing but white space comes, which a client may be given meanwhile', () => {
    expect(read('\n', ' \r\n', '{}')).toEqual(['stream:\n', 'stream: \r\n', 'whole:{}', 'whole'])
    expect(read('', '\uFEFF', 'data: 1')).toEqual([
      'stream:',
      `stream:`,
      'stream:data: 1',
      'stream',
    ])
    expect(read()).toEqual(['stream'])
  })
})

describe('a whole answer', () => {
  const renderer: AnswerRenderer = {
    push: ({ type }) => [{ data: type }],
    end: ({ failure }) => [{ data: failure?.message ?? 'well' }],
  }
  const said = (text: unknown): readonly StreamEvent[] => [
    { type: 'answer-started', upstreamId: String(text), model: null },
    { type: 'answer-ended', finish: 'stop', usage: null },
  ]
  const provider = { decodeBody: (body: JsonObject) => said(body['said']) } as unknown as Provider
  const rendition = () =>
    createTranslatingWriter({
      decoder: applyEventFilters(
        decodeAnswerBody({ provider, account: plainAccount('chat'), prompt: {} as Prompt }),
        [],
      ),
      renderer,
      fold: foldAnswerOutcome(),
      now: () => 0,
    })

  test('is told when all of it has come', () => {
    const whole = rendition()
    const body = bytes('{"said":"ä"}')
    // Cut in the middle of a character.
    expect([whole.push(body.subarray(0, 10)), whole.push(body.subarray(10))]).toEqual(['', ''])
    expect(whole.isOver()).toBe(false)
    expect(whole.close(null)).toBe('data: answer-started\n\ndata: answer-ended\n\n')
    expect(whole.outcome()).toMatchObject({ upstreamId: 'ä', finish: 'stop' })
    expect(whole.end(whole.outcome())).toBe('data: well\n\n')
  })

  test.each([
    ['is no JSON', '{"said":', null, /not JSON/],
    ['broke', '{"said":1}', createFailure('upstream_timeout', 'Too late.'), /Too late/],
  ])('that %s has failed', (_, body, failure, why) => {
    const whole = rendition()
    whole.push(bytes(body))
    expect(whole.close(failure)).toBe('data: answer-started\n\ndata: answer-failed\n\n')
    expect(whole.outcome().failure?.message).toMatch(why)
    expect(whole.end(whole.outcome())).toMatch(why)
  })

  test('that grows beyond all bounds cannot be read', () => {
    const whole = rendition()
    const chunk = new Uint8Array(128 * 1024 * 1024).fill(0x7b)
    whole.push(chunk)
    whole.push(chunk)
    expect(() => whole.push(bytes('1'))).toThrow(/over \d+ bytes/)
  })
})
