import { expect, test } from 'vitest'
import type { Reasoning } from '../../../src/core/item.ts'
import {
  isReferenceExpected,
  markReferencedReasoning,
} from '../../../src/core/markers/reasoning-reference.ts'

test.each([
  ['visible', 'I think.', true],
  ['without visible text', '', false],
])('reasoning %s is expected with a reference: %s', (_, text, isExpected) => {
  const summary = [{ type: 'summary_text' as const, text }]
  const item: Reasoning = { type: 'reasoning', summary, encrypted_content: 'gAAAA' }
  expect(isReferenceExpected(markReferencedReasoning(item, 'gpt-5'), 'gpt-5')).toBe(isExpected)
})
