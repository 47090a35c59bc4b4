import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  createCompactionItem,
  isGatewayCompaction,
  isCompactionMessage,
  readGatewayCompactionSummary,
  createCompactionMessage,
  readCompactionMessageSummary,
} from '../../../src/core/items/compaction-item.ts'
import type { OpaqueItem } from '../../../src/core/item.ts'

function sealedAs(encrypted_content: string): OpaqueItem {
  return { type: 'opaque', raw: { type: 'compaction', encrypted_content } }
}

test('the gateway reads the summary of its own compaction item', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), (summary) => {
      expect(readGatewayCompactionSummary(createCompactionItem('cmp_1', summary))).toBe(
        summary.toWellFormed(),
      )
    }),
  )
  const long = 'Grüezi 🦊 '.repeat(20_000)
  expect(readGatewayCompactionSummary(createCompactionItem('cmp_1', long))).toBe(long)
})

test('a compaction item of the gateway contains its summary only in encoded form', () => {
  const { raw } = createCompactionItem('cmp_1', 'The cat is called Minka.')
  expect(raw).toMatchObject({ id: 'cmp_1', type: 'compaction' })
  expect(raw['encrypted_content']).toMatch(/^backstory:[\w+/=]+$/)
})

test('no summary is read from a compaction by an upstream or from a gateway compaction with changed content', () => {
  expect(isGatewayCompaction(sealedAs('gAAAAABpzfWE_k5OtOa3'))).toBe(false)
  expect(readGatewayCompactionSummary(sealedAs('gAAAAABpzfWE_k5OtOa3'))).toBeNull()
  for (const junk of ['', '???', btoa('no JSON'), btoa('{"v":2,"summary":"x"}'), btoa('{"v":1}')]) {
    expect(readGatewayCompactionSummary(sealedAs(`backstory:${junk}`))).toBeNull()
  }
  expect(readGatewayCompactionSummary({ type: 'opaque', raw: { type: 'compaction' } })).toBeNull()
})

test('a message with the summary of a compaction is recognized by a mark that a client cannot set', () => {
  const message = createCompactionMessage('The cat is called Minka.')
  expect(message.role).toBe('developer')
  expect(isCompactionMessage(message)).toBe(true)
  expect(readCompactionMessageSummary(message)).toBe('The cat is called Minka.')
  // A client can write the same text, so the text alone does not identify the message.
  const { native: _native, ...said } = message
  expect(isCompactionMessage(said)).toBe(false)
})
