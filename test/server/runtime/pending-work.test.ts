import { expect, test } from 'vitest'
import { trackPendingWork } from '../../../src/server/runtime/pending-work.ts'

test('of the tasks for which no client waits, only one starts in each pass of the event loop', async () => {
  const { runLater, whenIdle } = trackPendingWork()
  let pass = 0
  let isOver = false
  const countPasses = (): void => {
    pass += 1
    if (!isOver) setImmediate(countPasses)
  }
  countPasses()
  const startedIn: number[] = []
  for (let count = 0; count < 5; count += 1) {
    // The second one fails, which does not keep the later ones from starting.
    runLater(async () => {
      startedIn.push(pass)
      if (count === 1) throw new Error('failed')
    })
  }
  expect(startedIn).toEqual([])
  await whenIdle()
  isOver = true
  expect(startedIn).toHaveLength(5)
  expect(new Set(startedIn).size).toBe(5)
})
