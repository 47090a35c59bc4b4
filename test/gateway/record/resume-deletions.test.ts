import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import {
  resumeDeletionsRegularly,
  type ResumeDependencies,
} from '../../../src/gateway/record/resume-deletions.ts'

beforeEach(() => {
  vi.useFakeTimers()
  // The interval is then exactly five seconds.
  vi.spyOn(Math, 'random').mockReturnValue(0.5)
})
afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

test('unfinished deletions are continued every few seconds, and an error is logged once until it is over', async () => {
  const logged: unknown[] = []
  const results = [0, 7, 'away', 'away', 0, 'away']
  let runs = 0
  const resume = async (): Promise<number> => {
    const result = results[runs++]
    if (typeof result === 'string') throw new Error(result)
    return result ?? 0
  }
  const stop = resumeDeletionsRegularly({
    deletion: { resumeDeletions: resume },
    log: (level, event, fields) => void logged.push([level, event, fields]),
  } as Partial<ResumeDependencies> as ResumeDependencies)
  await vi.advanceTimersByTimeAsync(30_500)
  stop()
  await vi.advanceTimersByTimeAsync(60_000)
  expect(runs).toBe(6)
  expect(logged).toEqual([
    ['info', 'deletions-resumed', { turns: 7 }],
    ['warn', 'deletions-not-resumed', { why: 'away' }],
    ['warn', 'deletions-not-resumed', { why: 'away' }],
  ])
})
