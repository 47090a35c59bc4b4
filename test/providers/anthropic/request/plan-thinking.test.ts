import { describe, expect, test } from 'vitest'
import { ASK, assistant, call, encoded, look, output, sent, thought, user } from '../kit.ts'

describe('thinking', () => {
  const adaptive = { type: 'adaptive', display: 'summarized' }

  test.each<readonly [string, string | null, unknown, unknown, readonly string[]]>([
    ['claude-opus-4-6', null, undefined, undefined, []],
    ['claude-opus-4-6', 'low', adaptive, { effort: 'low' }, []],
    ['claude-opus-4-6', 'xhigh', adaptive, { effort: 'high' }, ['effort-lowered']],
    ['claude-opus-4-6', 'none', { type: 'disabled' }, undefined, []],
    ['claude-opus-4-8', 'xhigh', adaptive, { effort: 'xhigh' }, []],
    ['claude-sonnet-5', null, adaptive, undefined, []],
    ['claude-sonnet-5', 'minimal', { type: 'disabled' }, undefined, []],
    ['claude-sonnet-5-5', 'none', { type: 'between_tools' }, undefined, []],
    ['claude-opus-5-5', 'none', adaptive, { effort: 'low' }, ['thinking-always-on']],
    ['claude-fable-5', 'medium', adaptive, { effort: 'medium' }, []],
    ['claude-sonnet-4-5', 'high', { type: 'enabled', budget_tokens: 16_384 }, undefined, []],
    ['claude-3-5-haiku-latest', 'high', undefined, undefined, ['effort-unsupported']],
    ['kimi-k2', 'high', undefined, undefined, ['effort-unsupported']],
    ['kimi-k2', null, undefined, undefined, []],
  ])('of %s at effort %s', (model, effort, thinking, config, why) => {
    expect(sent({ model, effort }, 'thinking', 'output_config')).toEqual([thinking, config, why])
  })

  test('with a budget fits below the limit, which is raised if it has to be', () => {
    const thinking = { type: 'enabled', budget_tokens: 2048 }
    expect(sent({ effort: 'low', maxOutputTokens: 4000 }, 'thinking', 'max_tokens')).toEqual([
      thinking,
      4000,
      [],
    ])
    expect(sent({ effort: 'low', maxOutputTokens: 100 }, 'thinking', 'max_tokens')).toEqual([
      thinking,
      2148,
      ['max-tokens-raised'],
    ])
  })

  test('gives way to a forced tool', () => {
    const params = { tools: [look()], toolChoice: { type: 'required' } as const }
    expect(sent({ ...params, effort: 'low' }, 'thinking', 'tool_choice')).toEqual([
      { type: 'disabled' },
      { type: 'any' },
      ['thinking-with-forced-tool'],
    ])
    expect(sent({ ...params, model: 'claude-opus-5' }, 'thinking')).toEqual([
      { type: 'disabled' },
      ['thinking-with-forced-tool'],
    ])
  })

  test('of a model that cannot stop makes the forced tool give way', () => {
    const params = { tools: [look()], toolChoice: { type: 'function', name: 'look' } as const }
    expect(sent({ ...params, model: 'claude-fable-5-1' }, 'thinking', 'tool_choice')).toEqual([
      adaptive,
      { type: 'auto' },
      ['forced-tool-unsupported'],
    ])
  })

  test('with a budget is off in a tool loop that began without', () => {
    const loop = [...ASK, call('a'), output('a')]
    const params = { tools: [look()], effort: 'low' }
    expect(encoded(loop, params).why).toEqual(['thinking-missing-in-loop'])
    expect(encoded([...ASK, thought('so'), call('a'), output('a')], params).why).toEqual([])
    const second = [...ASK, thought('so'), call('a'), output('a'), call('b'), output('b')]
    expect(encoded(second, params).why).toEqual([])
    expect(encoded(loop, { ...params, model: 'claude-opus-4-6' }).why).toEqual([])
  })

  test('of the running turn is left out while thinking is off, of earlier turns it stays', () => {
    const loop = [thought('so'), call('a'), output('a')]
    const params = { tools: [look()] }
    expect(encoded([...ASK, ...loop], params).why).toEqual(['thinking-off'])
    expect(encoded([...ASK, ...loop, assistant('So.'), user('And?')], params).why).toEqual([])
  })
})
