import { expect, test } from 'vitest'
import { estimateTokens } from '../../../src/core/text/estimate-tokens.ts'
import { renderWorkingMemory } from '../../../src/memory/versioned-layers/working-memory-layer.ts'

const MEMORY = { name: 'Ada', notes: 'long '.repeat(400), city: 'Chur' }

test('renders a memory as JSON, and an empty one as nothing (C40)', () => {
  expect(renderWorkingMemory({ name: 'Ada' }, 100)).toBe('{"name":"Ada"}')
  expect(renderWorkingMemory({}, 100)).toBe('')
})

test('renders the fields that fit, and says that others are missing (C39)', () => {
  const told = renderWorkingMemory(MEMORY, 100)
  expect(told).toContain('{"name":"Ada","city":"Chur"}')
  expect(told).toContain('Not all of it is shown')
  expect(estimateTokens(told)).toBeLessThanOrEqual(100)
  expect(renderWorkingMemory(MEMORY, 5)).toBe('')
})
