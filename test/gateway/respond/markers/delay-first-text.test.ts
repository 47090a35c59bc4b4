/** The first text waits until its turn is stored, so that a marker can come before it. */
import { expect, test, vi } from 'vitest'
import type { StreamEvent } from '../../../../src/core/stream-event.ts'
import { delayFirstText } from '../../../../src/gateway/respond/markers/delay-first-text.ts'
import {
  createAnswerEvents,
  messageEvents,
  reasoningEvents,
} from '../../../support/marked-answers.ts'

const ANSWER = createAnswerEvents([reasoningEvents(0), messageEvents(1, [' ', 'So', '.'])])
const FIRST_TEXT = ANSWER.findIndex((event) => 'text' in event && event.text === 'So')

/** `later` receives the delayed events; `finishStoring` ends the wait. */
function startDelay(isStored = false) {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const later: StreamEvent[] = []
  let waits = 0
  const delay = delayFirstText(() => {
    waits += 1
    return isStored ? null : promise
  })
  delay.onReady((events) => later.push(...events))
  return { delay, later, finishStoring: resolve, waits: () => waits }
}

test('the first text of an answer is written immediately if nothing has to be stored before it', () => {
  const { delay } = startDelay(true)
  expect(ANSWER.flatMap(delay.push)).toEqual(ANSWER)
})

test('the first text of an answer is written, with the events after it, once the turn is stored', async () => {
  const { delay, later, finishStoring } = startDelay()
  const [before, after] = [ANSWER.slice(0, FIRST_TEXT), ANSWER.slice(FIRST_TEXT)]
  expect(ANSWER.flatMap(delay.push)).toEqual(before)
  expect(later).toEqual([])
  finishStoring(true)
  await new Promise(setImmediate)
  expect(later).toEqual(after)
})

test('the first text of an answer is written at its end if the turn is not stored by then', async () => {
  const { delay, later, finishStoring } = startDelay()
  const written = ANSWER.flatMap(delay.push)
  expect([...written, ...delay.release()]).toEqual(ANSWER)
  finishStoring(true)
  await new Promise(setImmediate)
  expect(later).toEqual([])
})

test('text after the first text of an answer is written without waiting for the store', () => {
  const { delay, waits } = startDelay()
  const [text] = ANSWER.slice(FIRST_TEXT)
  if (text === undefined) throw new Error('There is no text.')
  delay.push(text)
  delay.release()
  expect(delay.push(text)).toEqual([text])
  expect(waits()).toBe(1)
})

test('the first text of an answer is written after 50 ms even if the turn is not stored', async () => {
  vi.useFakeTimers()
  const { delay, later } = startDelay()
  ANSWER.flatMap(delay.push)
  await vi.advanceTimersByTimeAsync(49)
  expect(later).toEqual([])
  await vi.advanceTimersByTimeAsync(1)
  expect(later).toEqual(ANSWER.slice(FIRST_TEXT))
  vi.useRealTimers()
})

test('while the delayed events are written, the items before them count as stored, if they are', async () => {
  for (const isStored of [true, false]) {
    const { delay, finishStoring } = startDelay()
    const seen: boolean[] = []
    delay.onReady(() => seen.push(delay.areEarlierItemsStored()))
    for (const event of ANSWER) delay.push(event)
    expect(delay.areEarlierItemsStored()).toBe(false)
    finishStoring(isStored)
    await new Promise(setImmediate)
    expect(seen).toEqual([isStored])
    expect(delay.areEarlierItemsStored()).toBe(false)
  }
})
