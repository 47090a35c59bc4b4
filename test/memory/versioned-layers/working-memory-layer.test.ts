import { expect, test } from 'vitest'
import { estimateTokens } from '../../../src/core/text/estimate-tokens.ts'
import { renderWorkingMemory } from '../../../src/memory/versioned-layers/working-memory-layer.ts'

const MEMORY = { name: 'Ada', notes: 'long '.repeat(400), city: 'Chur' }

test('a memory is told as JSON, and an empty one is not (C40)', () => {
  expect(renderWorkingMemory({ name: 'Ada' }, 100)).toBe('{"name":"Ada"}')
  expect(renderWorkingMemory({}, 100)).toBe('')
})

test('of one that is too long the fields are told that fit, and that some do not (C39)', () => {
  const told = renderWorkingMemory(MEMORY, 100)
  expect(told).toContain('{"name":"Ada","city":"Chur"}')
  expect(told).toContain('Not all of it is shown')
  expect(estimateTokens(told)).toBeLessThanOrEqual(100)
  expect(renderWorkingMemory(MEMORY, 5)).toBe('')
})
