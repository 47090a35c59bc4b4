import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Outcome } from '../../../src/core/fold-answer-outcome.ts'
import { addTurnOpenTimeout } from '../../../src/gateway/record/add-turn-open-timeout.ts'
import { NOT_RECORDED, type Recorder } from '../../../src/gateway/record/recorder-interface.ts'

const SAID: Outcome = {
  items: [],
  finish: 'stop',
  failure: null,
  usage: null,
  upstreamId: null,
  model: null,
}
const STORED: Outcome = { ...SAID, model: 'stored' }
const MADE = {
  origin: () => ({ wire: 'demo', account: 'demo', model: 'demo', prefixHash: null }),
  fingerprint: () => null,
  reasoningRejectedBy: null,
}

/** A turn that is opened when the database says so. */
function waiting() {
  const { promise: opened, resolve: open } = Promise.withResolvers<boolean>()
  const settled: Outcome[] = []
  const recorder: Recorder = {
    ...NOT_RECORDED,
    opened,
    async settle(outcome) {
      await opened
      settled.push(outcome)
      return STORED
    },
  }
  const late = vi.fn<() => void>()
  return { recorder: addTurnOpenTimeout(recorder, late), open, late, settled }
}

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test.each([true, false])('a turn that opens in time is as it is: %s', async (isOpen) => {
  const { recorder, open, late } = waiting()
  await vi.advanceTimersByTimeAsync(4000)
  open(isOpen)
  expect(await recorder.opened).toBe(isOpen)
  expect(await recorder.settle(SAID, 'finished', MADE)).toBe(STORED)
  expect(late).not.toHaveBeenCalled()
})

test('a turn that does not open promises nothing and holds nothing back', async () => {
  const { recorder, open, late, settled } = waiting()
  const outcome = recorder.settle(SAID, 'finished', MADE)
  await vi.advanceTimersByTimeAsync(6000)
  expect(await recorder.opened).toBe(false)
  expect(await outcome).toBe(SAID)
  expect(late).toHaveBeenCalledOnce()
  // But it is kept as soon as that is possible.
  open(true)
  await vi.advanceTimersByTimeAsync(0)
  expect(settled).toEqual([SAID])
})
