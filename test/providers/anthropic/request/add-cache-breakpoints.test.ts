import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../../src/core/json/json.ts'
import { assistant, call, encode, look, output, system, user } from '../kit.ts'

describe('cache breakpoints in Anthropic requests (C44)', () => {
  const items = [system('s'), user('a'), assistant('b'), user('c'), call('x'), output('x')]
  const marked = (cacheControl: JsonObject[string]) => {
    const { body } = encode(items, { tools: [look()] }, { cacheControl: cacheControl ?? null })
    return JSON.stringify(body).match(/"cache_control":\{[^}]*\}/g) ?? []
  }

  test('Anthropic cache breakpoints follow the tools, the instructions, the history and the last message', () => {
    const mark = { cache_control: { type: 'ephemeral' } }
    const { body } = encode(items, { tools: [look()] }, {})
    expect(marked(null)).toHaveLength(4)
    expect(body).toMatchObject({
      tools: [mark],
      system: [mark],
      messages: [{}, { content: [{ text: 'b', ...mark }] }, {}, {}, { content: [mark] }],
    })
  })

  test('the quirk cacheControl makes Anthropic cache content for an hour, or turns cache breakpoints off', () => {
    expect(marked('1h')[0]).toBe('"cache_control":{"type":"ephemeral","ttl":"1h"}')
    expect(marked(false)).toEqual([])
  })
})
