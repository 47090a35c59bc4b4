import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createFailure } from '../../../../src/core/errors/gateway-error.ts'
import { chatStream, responsesStream } from '../../../support/answer-formats.ts'
import { passedOn, textSent } from '../../passed-on.ts'

const utf8 = new TextEncoder()

function cut(bytes: Uint8Array, places: readonly number[]): Uint8Array[] {
  const borders = [0, ...places.map((place) => place % (bytes.length + 1)), bytes.length].toSorted(
    (one, other) => one - other,
  )
  return borders.slice(1).map((end, at) => bytes.slice(borders[at], end))
}

const anyCuts = fc.array(fc.nat(10_000), { maxLength: 10 })
const answer = chatStream({ reasoning: 'Hm…', text: 'Grüß Gott', finish: 'length' })

describe('an answer that nobody keeps', () => {
  test.each(['\n', '\r\n', '\r'])('goes through byte for byte, cut anywhere, with %j', (ending) => {
    const stream = `: hello\n\n${answer.join('')}`.replaceAll('\n', ending)
    fc.assert(
      fc.property(anyCuts, (places) => {
        const { push, close, end, outcome } = passedOn('chat', false)
        let through = ''
        for (const chunk of cut(utf8.encode(stream), places)) through += textSent(push(chunk))
        through += close(null)
        through += end(outcome())
        // The very last event of a CR stream is told from its neighbour only at the end.
        expect(through.replaceAll(ending, '\n')).toBe(stream.replaceAll(ending, '\n'))
        expect(outcome()).toMatchObject({ finish: 'length', usage: { inputTokens: 20 } })
      }),
    )
  })

  test('hands a chunk of whole events on as the same bytes', () => {
    const chunk = utf8.encode(answer[0])
    expect(passedOn('chat', false).push(chunk)).toBe(chunk)
  })

  test('loses what would run scripts in a browser, and only that', () => {
    const { push } = passedOn('chat', false)
    const evil = `data: {"id":"x","event":{"type":"execute"},"choices":[]}\n\n`
    const sent = textSent(push(utf8.encode(answer[0] + evil + answer[1])))
    expect(sent).not.toContain('execute')
    expect(sent).toContain('"id":"x"')
    expect(sent.startsWith(answer[0] ?? '')).toBe(true)
    expect(sent.endsWith(answer[1] ?? '')).toBe(true)
  })

  test('that breaks in the middle of an event ends with an error behind a whole one', () => {
    const { push, close, end, outcome } = passedOn('chat', false)
    const whole = answer.slice(0, 3).join('')
    let sent = textSent(push(utf8.encode(`${whole}data: {"half`)))
    sent += close(createFailure('upstream_broken', 'It broke.'))
    sent += end(outcome())
    expect(sent.startsWith(whole)).toBe(true)
    expect(sent.slice(whole.length)).toMatch(
      /^data: \{"error":\{"message":"It broke\."[^\n]*\n\ndata: \[DONE\]\n\n$/,
    )
  })
})

describe.each([
  ['chat', true],
  ['chat', false],
  ['responses', true],
  ['responses', false],
] as const)('in %s, kept: %s', (language, isKept) => {
  const said = { text: 'Grüß Gott', reasoning: 'Hm…' }
  const once = (language === 'chat' ? chatStream(said) : responsesStream(said)).join('')
  const sentOf = (stream: string, places: readonly number[]): string => {
    const { push, close, end, outcome, isOver } = passedOn(language, isKept)
    let sent = ''
    for (const chunk of cut(utf8.encode(stream), places))
      if (!isOver()) sent += textSent(push(chunk))
    sent += close(null)
    return sent + end(outcome())
  }

  test('what comes behind the last word is no part of the answer', () => {
    const alone = sentOf(once, [])
    fc.assert(
      fc.property(
        anyCuts,
        fc.constantFrom(once, once.slice(0, once.length / 2)),
        (places, more) => {
          expect(sentOf(once + more, places)).toBe(alone)
        },
      ),
    )
  })
})

describe('an answer that is kept', () => {
  test('carries our id, and holds its ending back until it is safe', () => {
    fc.assert(
      fc.property(anyCuts, (places) => {
        const { push, close, end, outcome } = passedOn('chat', true)
        let early = ''
        for (const chunk of cut(utf8.encode(answer.join('')), places))
          early += textSent(push(chunk))
        early += close(null)
        expect(early).not.toMatch(/finish_reason":"|\[DONE\]|upstream"/)
        const whole = early + end(outcome())
        expect(whole).toBe(
          answer.join('').replaceAll('chatcmpl-upstream', 'chatcmpl-01JZZZZZZZZZZZZZZZZZ'),
        )
      }),
    )
  })

  test('that could not be kept does not end as if it had been', () => {
    const { push, close, end, outcome } = passedOn('chat', true)
    push(utf8.encode(answer.join('')))
    close(null)
    const failure = createFailure('store_unavailable', 'Not kept.')
    const last = end({ ...outcome(), finish: null, failure })
    expect(last).toContain('Not kept.')
    expect(last).not.toContain('"finish_reason":"length"')
  })

  test('is closed with [DONE] where the upstream does not say it', () => {
    const { push, close, end, outcome } = passedOn('chat', true)
    push(utf8.encode(answer.slice(0, -1).join('')))
    close(null)
    expect(end(outcome())).toMatch(/data: \[DONE\]\n\n$/)
  })
})
