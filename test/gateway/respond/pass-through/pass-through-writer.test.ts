import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createFailure } from '../../../../src/core/errors/gateway-error.ts'
import { chatStream, responsesStream } from '../../../support/answer-formats.ts'
import { createWriter, decodeText } from '../../passed-on.ts'

const utf8 = new TextEncoder()

function cutBytes(bytes: Uint8Array, cuts: readonly number[]): Uint8Array[] {
  const offsets = [0, ...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length].toSorted(
    (one, other) => one - other,
  )
  return offsets.slice(1).map((end, index) => bytes.slice(offsets[index], end))
}

const randomCuts = fc.array(fc.nat(10_000), { maxLength: 10 })
const ANSWER = chatStream({ reasoning: 'Hm…', text: 'Grüß Gott', finish: 'length' })

describe('passing through an answer that is not stored', () => {
  test.each(['\n', '\r\n', '\r'])(
    'a stream that is not stored passes byte for byte in any chunks, with the line end %j',
    (ending) => {
      const stream = `: hello\n\n${ANSWER.join('')}`.replaceAll('\n', ending)
      fc.assert(
        fc.property(randomCuts, (cuts) => {
          const { push, endBody, renderEnd, getOutcome } = createWriter('chat', false)
          let output = ''
          for (const chunk of cutBytes(utf8.encode(stream), cuts)) output += decodeText(push(chunk))
          output += endBody(null)
          output += renderEnd(getOutcome())
          // With `\r` as line end, the end of the last event is known only at the end of the stream.
          expect(output.replaceAll(ending, '\n')).toBe(stream.replaceAll(ending, '\n'))
          expect(getOutcome()).toMatchObject({ finish: 'length', usage: { inputTokens: 20 } })
        }),
      )
    },
  )

  test('a chunk of complete events that need no change is passed on as the same object', () => {
    const chunk = utf8.encode(ANSWER[0])
    expect(createWriter('chat', false).push(chunk)).toBe(chunk)
  })

  test('the field `event`, with which Open WebUI would run a script, is removed from a stream that passes through', () => {
    const { push } = createWriter('chat', false)
    const scriptEvent = `data: {"id":"x","event":{"type":"execute"},"choices":[]}\n\n`
    const sent = decodeText(push(utf8.encode(ANSWER[0] + scriptEvent + ANSWER[1])))
    expect(sent).not.toContain('execute')
    expect(sent).toContain('"id":"x"')
    expect(sent.startsWith(ANSWER[0] ?? '')).toBe(true)
    expect(sent.endsWith(ANSWER[1] ?? '')).toBe(true)
  })

  test('if a stream that passes through breaks off inside an event, an error follows its last complete event', () => {
    const { push, endBody, renderEnd, getOutcome } = createWriter('chat', false)
    const complete = ANSWER.slice(0, 3).join('')
    let sent = decodeText(push(utf8.encode(`${complete}data: {"half`)))
    sent += endBody(createFailure('upstream_broken', 'It broke.'))
    sent += renderEnd(getOutcome())
    expect(sent.startsWith(complete)).toBe(true)
    expect(sent.slice(complete.length)).toMatch(
      /^data: \{"error":\{"message":"It broke\."[^\n]*\n\ndata: \[DONE\]\n\n$/,
    )
  })
})

describe.each([
  ['chat', true],
  ['chat', false],
  ['responses', true],
  ['responses', false],
] as const)('passing through a stream in %s (stored: %s)', (dialect, isStored) => {
  const content = { text: 'Grüß Gott', reasoning: 'Hm…' }
  const stream = (dialect === 'chat' ? chatStream(content) : responsesStream(content)).join('')
  const passThrough = (stream: string, cuts: readonly number[]): string => {
    const { push, endBody, renderEnd, getOutcome, isOver } = createWriter(dialect, isStored)
    let sent = ''
    for (const chunk of cutBytes(utf8.encode(stream), cuts))
      if (!isOver()) sent += decodeText(push(chunk))
    sent += endBody(null)
    return sent + renderEnd(getOutcome())
  }

  test('what an upstream sends after the end of an answer is not passed through', () => {
    const expected = passThrough(stream, [])
    fc.assert(
      fc.property(
        randomCuts,
        fc.constantFrom(stream, stream.slice(0, stream.length / 2)),
        (cuts, more) => {
          expect(passThrough(stream + more, cuts)).toBe(expected)
        },
      ),
    )
  })
})

describe('passing through an answer that is stored', () => {
  test("a stream that is stored has the gateway's response id, and its ending waits until the turn is stored", () => {
    fc.assert(
      fc.property(randomCuts, (cuts) => {
        const { push, endBody, renderEnd, getOutcome } = createWriter('chat', true)
        let early = ''
        for (const chunk of cutBytes(utf8.encode(ANSWER.join('')), cuts))
          early += decodeText(push(chunk))
        early += endBody(null)
        expect(early).not.toMatch(/finish_reason":"|\[DONE\]|upstream"/)
        const complete = early + renderEnd(getOutcome())
        expect(complete).toBe(
          ANSWER.join('').replaceAll('chatcmpl-upstream', 'chatcmpl-01JZZZZZZZZZZZZZZZZZ'),
        )
      }),
    )
  })

  test('a stream that passes through ends with an error if its turn could not be stored', () => {
    const { push, endBody, renderEnd, getOutcome } = createWriter('chat', true)
    push(utf8.encode(ANSWER.join('')))
    endBody(null)
    const failure = createFailure('store_unavailable', 'Not kept.')
    const last = renderEnd({ ...getOutcome(), finish: null, failure })
    expect(last).toContain('Not kept.')
    expect(last).not.toContain('"finish_reason":"length"')
  })

  test('a stream that is stored ends with [DONE] even if the upstream does not send it', () => {
    const { push, endBody, renderEnd, getOutcome } = createWriter('chat', true)
    push(utf8.encode(ANSWER.slice(0, -1).join('')))
    endBody(null)
    expect(renderEnd(getOutcome())).toMatch(/data: \[DONE\]\n\n$/)
  })
})
