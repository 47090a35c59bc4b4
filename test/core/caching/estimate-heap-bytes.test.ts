import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { estimateHeapBytes } from '../../../src/core/caching/estimate-heap-bytes.ts'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

/**
 * Returns how many bytes of the heap the values take that `create` returns: the most of three measurements, because
 * garbage of other tests that is collected meanwhile makes a measurement too low.
 */
function measureHeapBytes(create: (at: number) => unknown): { estimated: number; real: number } {
  const measured = [1, 2, 3].map(() => measureOnce(create))
  return measured.reduce((most, one) => (one.real > most.real ? one : most))
}

function measureOnce(create: (at: number) => unknown): { estimated: number; real: number } {
  const values: unknown[] = Array.from({ length: COUNT }, () => null)
  collectGarbage()
  const before = process.memoryUsage().heapUsed
  for (let at = 0; at < COUNT; at += 1) values[at] = create(at)
  collectGarbage()
  const real = (process.memoryUsage().heapUsed - before) / COUNT
  return { estimated: estimateHeapBytes(values[0]), real }
}

const COUNT = 700

/** Stored values are parsed from JSON, so their texts are no slices of others. */
const parse = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

const message = (at: number, text: string) => ({
  type: 'message',
  id: `msg_${at}`,
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text: `${at} ${text}`, annotations: [] }],
})

test.each([
  ['a long text', (at: number) => `${at}`.padEnd(8_000, 'abc')],
  ['a long text of wide characters', (at: number) => `${at}`.padEnd(8_000, 'Привет')],
  ['a short message', (at: number) => message(at, 'hello')],
  ['a message', (at: number) => message(at, 'hello '.repeat(200))],
  ['a tool output with many numbers', (at: number) => Array.from({ length: 90 }, () => at + 0.5)],
  [
    'a list of small objects',
    (at: number) => Array.from({ length: 90 }, (_, x) => ({ x, name: `the name ${x} of ${at}` })),
  ],
])('the estimate for %s is at most a third below and twice what it takes', (_, create) => {
  const { estimated, real } = measureHeapBytes((at) => parse(create(at)))
  expect(estimated).toBeGreaterThan(real * 0.67)
  expect(estimated).toBeLessThan(real * 2)
})
