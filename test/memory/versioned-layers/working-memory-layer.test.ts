import { expect, test } from 'vitest'
import { estimateTokens } from '../../../src/core/text/estimate-tokens.ts'
import { renderWorkingMemory } from '../../../src/memory/versioned-layers/working-memory-layer.ts'

const MEMORY = { name: 'Ada', notes: 'long '.repeat(400), city: 'Chur' }

test('a working memory is rendered as JSON, and an empty one as an empty text (C40)', () => {
  expect(renderWorkingMemory({ name: 'Ada' }, 100)).toBe('{"name":"Ada"}')
  expect(renderWorkingMemory({}, 100)).toBe('')
})

test('a working memory that is too long is rendered with the fields that fit and a notice (C39)', () => {
  const told = renderWorkingMemory(MEMORY, 100)
  expect(told).toContain('{"name":"Ada","city":"Chur"}')
  expect(told).toContain('Not all of it is shown')
  expect(estimateTokens(told)).toBeLessThanOrEqual(100)
  expect(renderWorkingMemory(MEMORY, 5)).toBe('')
})
