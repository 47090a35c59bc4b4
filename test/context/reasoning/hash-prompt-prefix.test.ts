import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Item } from '../../../src/core/item.ts'
import {
  hashPromptPrefix,
  computePrefixSeed,
} from '../../../src/context/reasoning/hash-prompt-prefix.ts'
import { conversation } from '../../support/conversations.ts'
import { NO_PARAMS } from '../../support/empty-parameters.ts'
import { talk } from '../../support/talk.ts'

function hash(items: readonly Item[]): string {
  return hashPromptPrefix({ items, params: NO_PARAMS }, 'anthropic')
}

test('the prefix hash ignores ids and origins of items', () => {
  const origin = { wire: 'chat', account: 'a', model: 'm', prefixHash: null }
  fc.assert(
    fc.property(conversation, (items) => {
      const loaded = JSON.parse(JSON.stringify(items)) as readonly Item[]
      const named = loaded.map((item, at) => ({ ...item, id: `x${at}`, status: 'done', origin }))
      expect(hash(named)).toBe(hash(items))
    }),
    { numRuns: 50 },
  )
})

test('the prefix hash differs for different conversations', () => {
  const lines = fc.array(
    fc.constantFrom(
      'user: a',
      'user: ab',
      'user: ',
      'assistant: a',
      'system: a',
      'thinks: a',
      'sealed: a',
      'sealed: b',
      'call a b',
      'call ab',
      'custom a b',
      'output a b',
      'output ab',
      'hosted a',
    ),
    { maxLength: 4 },
  )
  fc.assert(
    fc.property(lines, lines, (one, other) => {
      const [items, others] = [one, other].map((said) => said.flatMap((line) => talk`${line}`))
      expect(hash(items ?? []) === hash(others ?? [])).toBe(one.join('\n') === other.join('\n'))
    }),
    { numRuns: 300 },
  )
})

test('the prefix hash differs if the same characters are split differently into texts', () => {
  const parts = (...texts: readonly string[]): Item => ({
    type: 'message',
    role: 'user',
    content: texts.map((text) => ({ type: 'input_text', text })),
  })
  expect(hash([parts('ab', 'c')])).not.toBe(hash([parts('a', 'bc')]))
  expect(hash(talk`call ab c`)).not.toBe(hash(talk`call a bc`))
  expect(hash([parts('ab')])).not.toBe(hash([parts('a'), parts('b')]))
})

test('the prefix hash of a prompt for OpenAI covers only its items, and for other APIs also its instructions and tools', () => {
  const other = { ...NO_PARAMS, instructions: 'Be brief.' }
  expect(computePrefixSeed(other, 'responses')).toBe(computePrefixSeed(NO_PARAMS, 'responses'))
  expect(computePrefixSeed(other, 'anthropic')).not.toBe(computePrefixSeed(NO_PARAMS, 'anthropic'))
})

test('the prefix hash covers only the tools that the model may call', () => {
  const tools = [{ type: 'opaque', raw: { type: 'web_search' } }] as const
  const base = { ...NO_PARAMS, tools }
  const forced = { ...base, toolChoice: { type: 'required' } } as const
  const allowed = { ...base, toolChoice: { type: 'allowed', mode: 'auto', names: [] } } as const
  expect(computePrefixSeed(forced, 'anthropic')).toBe(computePrefixSeed(base, 'anthropic'))
  expect(computePrefixSeed(allowed, 'anthropic')).not.toBe(computePrefixSeed(base, 'anthropic'))
})
