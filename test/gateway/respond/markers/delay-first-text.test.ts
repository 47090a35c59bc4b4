/** The first words wait for what they shall be named with, and for nothing else. */
import { describe, expect, test, vi } from 'vitest'
import type { StreamEvent } from '../../../../src/core/stream-event.ts'
import { delayFirstText } from '../../../../src/gateway/respond/markers/delay-first-text.ts'
import { answerAround, messageEvents, reasoningEvents } from '../../../support/marked-answers.ts'

const ANSWER = answerAround([reasoningEvents(0), messageEvents(1, [' ', 'So', '.'])])
const FIRST_WORD = ANSWER.findIndex((event) => 'text' in event && event.text === 'So')

/** What is told at once, and what is told once it is written; `write` lets it be. */
function listen(isWritten = false) {
  const { promise, resolve } = Promise.withResolvers<void>()
  const later: StreamEvent[] = []
  let asked = 0
  const held = delayFirstText(() => {
    asked += 1
    return isWritten ? null : promise
  })
  held.onReady((events) => later.push(...events))
  return { held, later, write: resolve, asked: () => asked }
}

describe('words are told', () => {
  test('at once, where nothing is to be waited for', () => {
    const { held } = listen(true)
    expect(ANSWER.flatMap(held.push)).toEqual(ANSWER)
  })

  test('with all that came behind them, when it is written', async () => {
    const { held, later, write } = listen()
    const [before, behind] = [ANSWER.slice(0, FIRST_WORD), ANSWER.slice(FIRST_WORD)]
    expect(ANSWER.flatMap(held.push)).toEqual(before)
    expect(later).toEqual([])
    write()
    await new Promise(setImmediate)
    expect(later).toEqual(behind)
  })

  test('at the end, if it is not written by then, and only once', async () => {
    const { held, later, write } = listen()
    const told = ANSWER.flatMap(held.push)
    expect([...told, ...held.release()]).toEqual(ANSWER)
    write()
    await new Promise(setImmediate)
    expect(later).toEqual([])
  })

  test('after one wait never again', () => {
    const { held, asked } = listen()
    const [word] = ANSWER.slice(FIRST_WORD)
    if (word === undefined) throw new Error('There is no word.')
    held.push(word)
    held.release()
    expect(held.push(word)).toEqual([word])
    expect(asked()).toBe(1)
  })

  test('after 50 ms, though nothing is written', async () => {
    vi.useFakeTimers()
    const { held, later } = listen()
    ANSWER.flatMap(held.push)
    await vi.advanceTimersByTimeAsync(49)
    expect(later).toEqual([])
    await vi.advanceTimersByTimeAsync(1)
    expect(later).toEqual(ANSWER.slice(FIRST_WORD))
    vi.useRealTimers()
  })
})
