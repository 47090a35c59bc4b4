import { expect, test } from 'vitest'
import { estimateTokens } from '../../../src/core/text/estimate-tokens.ts'
import { toldMemory } from '../../../src/memory/versioned-layers/working-memory-layer.ts'

const MEMORY = { name: 'Ada', notes: 'long '.repeat(400), city: 'Chur' }

test('a memory is told as JSON, and an empty one is not (C40)', () => {
  expect(toldMemory({ name: 'Ada' }, 100)).toBe('{"name":"Ada"}')
  expect(toldMemory({}, 100)).toBe('')
})

test('of one that is too long the fields are told that fit, and that some do not (C39)', () => {
  const told = toldMemory(MEMORY, 100)
  expect(told).toContain('{"name":"Ada","city":"Chur"}')
  expect(told).toContain('Not all of it is shown')
  expect(estimateTokens(told)).toBeLessThanOrEqual(100)
  expect(toldMemory(MEMORY, 5)).toBe('')
})
