/** Tests a stream that is passed through: it ends with an error at an event that cannot be read. */
import { describe, expect, test } from 'vitest'
import { chatStream } from '../support/answer-formats.ts'
import { createWriter, decodeText } from './passed-on.ts'

function passThrough(stream: string, isStored: boolean) {
  const { push, isOver, isCutShort, endBody, renderEnd, getOutcome } = createWriter(
    'chat',
    isStored,
  )
  const text = decodeText(push(new TextEncoder().encode(stream)))
  const over = { isOver: isOver(), isCutEarly: isCutShort() }
  return { ...over, text: text + endBody(null) + renderEnd(getOutcome()), outcome: getOutcome() }
}

const chunks = chatStream({ text: 'Hello' })
const BROKEN = 'data: {"choices":[{"delta":{"con\n\n'

describe.each([true, false])('a stream that is passed through (stored: %s)', (isStored) => {
  const stream = [...chunks.slice(0, 2), BROKEN, ...chunks.slice(2)].join('')

  test('a stream that is passed through ends with an error at an event that is not JSON', () => {
    const { text, isOver, isCutEarly, outcome } = passThrough(stream, isStored)
    const events = text.split('\n\n').filter((event) => event !== '')
    expect(events).toHaveLength(4)
    expect(events[1]).toContain('"content":"Hel"')
    expect(events[2]).toContain('"code":"upstream_broken"')
    expect(events[3]).toBe('data: [DONE]')
    expect({ isOver, isCutEarly }).toEqual({ isOver: true, isCutEarly: true })
    expect(outcome.failure?.message).toBe('The upstream sent a chunk that is not JSON.')
  })

  test('an error of the upstream in a stream is passed through unchanged', () => {
    const error = 'data: {"error":{"message":"On fire.","code":500}}\n\n'
    const { text, isCutEarly } = passThrough([...chunks.slice(0, 2), error].join(''), isStored)
    expect(text.split(error)).toHaveLength(2)
    expect(text).not.toContain('upstream_broken')
    expect(isCutEarly).toBe(false)
  })
})
