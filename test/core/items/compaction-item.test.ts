import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  createCompactionItem,
  isGatewayCompaction,
  isCompactionMessage,
  readGatewayCompaction,
  createCompactionMessage,
  readCompactionMessage,
} from '../../../src/core/items/compaction-item.ts'
import type { OpaqueItem } from '../../../src/core/item.ts'

function sealedAs(encrypted_content: string): OpaqueItem {
  return { type: 'opaque', raw: { type: 'compaction', encrypted_content } }
}

test('what was packed is unpacked', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), (summary) => {
      expect(readGatewayCompaction(createCompactionItem('cmp_1', summary))).toBe(
        summary.toWellFormed(),
      )
    }),
  )
  const long = 'Grüezi 🦊 '.repeat(20_000)
  expect(readGatewayCompaction(createCompactionItem('cmp_1', long))).toBe(long)
})

test('it is opaque to a client, and says that it is ours', () => {
  const { raw } = createCompactionItem('cmp_1', 'The cat is called Minka.')
  expect(raw).toMatchObject({ id: 'cmp_1', type: 'compaction' })
  expect(raw['encrypted_content']).toMatch(/^backstory:[\w+/=]+$/)
})

test('what others have sealed is not ours, and what was tampered with says nothing', () => {
  expect(isGatewayCompaction(sealedAs('gAAAAABpzfWE_k5OtOa3'))).toBe(false)
  expect(readGatewayCompaction(sealedAs('gAAAAABpzfWE_k5OtOa3'))).toBeNull()
  for (const junk of ['', '???', btoa('no JSON'), btoa('{"v":2,"summary":"x"}'), btoa('{"v":1}')]) {
    expect(readGatewayCompaction(sealedAs(`backstory:${junk}`))).toBeNull()
  }
  expect(readGatewayCompaction({ type: 'opaque', raw: { type: 'compaction' } })).toBeNull()
})

test('the message that tells it is known again, with the summary in it', () => {
  const message = createCompactionMessage('The cat is called Minka.')
  expect(message.role).toBe('developer')
  expect(isCompactionMessage(message)).toBe(true)
  expect(readCompactionMessage(message)).toBe('The cat is called Minka.')
  // The words alone are not enough: anybody could say them.
  const { native: _native, ...said } = message
  expect(isCompactionMessage(said)).toBe(false)
})
