/** A pass-through stream with an unreadable event ends there, with an error. */
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

describe.each([true, false])('stored: %s', (isStored) => {
  const stream = [...chunks.slice(0, 2), BROKEN, ...chunks.slice(2)].join('')

  test('drops an unreadable event and all later ones', () => {
    const { text, isOver, isCutEarly, outcome } = passThrough(stream, isStored)
    const events = text.split('\n\n').filter((event) => event !== '')
    expect(events).toHaveLength(4)
    expect(events[1]).toContain('"content":"Hel"')
    expect(events[2]).toContain('"code":"upstream_broken"')
    expect(events[3]).toBe('data: [DONE]')
    expect({ isOver, isCutEarly }).toEqual({ isOver: true, isCutEarly: true })
    expect(outcome.failure?.message).toBe('The upstream sent a chunk that is not JSON.')
  })

  test('passes an error of the upstream on unchanged', () => {
    const error = 'data: {"error":{"message":"On fire.","code":500}}\n\n'
    const { text, isCutEarly } = passThrough([...chunks.slice(0, 2), error].join(''), isStored)
    expect(text.split(error)).toHaveLength(2)
    expect(text).not.toContain('upstream_broken')
    expect(isCutEarly).toBe(false)
  })
})
