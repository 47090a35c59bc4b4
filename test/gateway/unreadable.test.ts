/** A stream in the client's own language that stops making sense: it is ended there, with an error. */
import { describe, expect, test } from 'vitest'
import { chatStream } from '../support/answer-formats.ts'
import { passedOn, textSent } from './passed-on.ts'

function through(stream: string, isKept: boolean) {
  const { push, isOver, isCutShort, close, end, outcome } = passedOn('chat', isKept)
  const text = textSent(push(new TextEncoder().encode(stream)))
  const over = { isOver: isOver(), isCut: isCutShort() }
  return { ...over, text: text + close(null) + end(outcome()), outcome: outcome() }
}

const frames = chatStream({ text: 'Hello' })
const BROKEN = 'data: {"choices":[{"delta":{"con\n\n'

describe.each([true, false])('kept: %s', (isKept) => {
  const spoilt = [...frames.slice(0, 2), BROKEN, ...frames.slice(2)].join('')

  test('a broken event is not passed on, nor what comes behind it', () => {
    const { text, isOver, isCut, outcome } = through(spoilt, isKept)
    const events = text.split('\n\n').filter((event) => event !== '')
    expect(events).toHaveLength(4)
    expect(events[1]).toContain('"content":"Hel"')
    expect(events[2]).toContain('"code":"upstream_broken"')
    expect(events[3]).toBe('data: [DONE]')
    expect({ isOver, isCut }).toEqual({ isOver: true, isCut: true })
    expect(outcome.failure?.message).toBe('The upstream sent a chunk that is not JSON.')
  })

  test('an error of the upstream’s own is passed on as it came', () => {
    const error = 'data: {"error":{"message":"On fire.","code":500}}\n\n'
    const { text, isCut } = through([...frames.slice(0, 2), error].join(''), isKept)
    expect(text.split(error)).toHaveLength(2)
    expect(text).not.toContain('upstream_broken')
    expect(isCut).toBe(false)
  })
})
