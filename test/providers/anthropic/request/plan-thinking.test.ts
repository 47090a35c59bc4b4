import { describe, expect, test } from 'vitest'
import { QUESTION, assistant, call, encode, look, output, fields, thought, user } from '../kit.ts'

describe('thinking parameters of Claude models', () => {
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
  ])(
    'the Claude model %s gets the thinking parameters for the effort %s',
    (model, effort, thinking, config, why) => {
      expect(fields({ model, effort }, 'thinking', 'output_config')).toEqual([
        thinking,
        config,
        why,
      ])
    },
  )

  test('a thinking budget stays below the output limit of an Anthropic request, which is raised if necessary', () => {
    const thinking = { type: 'enabled', budget_tokens: 2048 }
    expect(fields({ effort: 'low', maxOutputTokens: 4000 }, 'thinking', 'max_tokens')).toEqual([
      thinking,
      4000,
      [],
    ])
    expect(fields({ effort: 'low', maxOutputTokens: 100 }, 'thinking', 'max_tokens')).toEqual([
      thinking,
      2148,
      ['max-tokens-raised'],
    ])
  })

  test('a forced tool call turns thinking off for a Claude model', () => {
    const params = { tools: [look()], toolChoice: { type: 'required' } as const }
    expect(fields({ ...params, effort: 'low' }, 'thinking', 'tool_choice')).toEqual([
      { type: 'disabled' },
      { type: 'any' },
      ['thinking-with-forced-tool'],
    ])
    expect(fields({ ...params, model: 'claude-opus-5' }, 'thinking')).toEqual([
      { type: 'disabled' },
      ['thinking-with-forced-tool'],
    ])
  })

  test('a Claude model that always thinks gets the tool choice auto instead of a forced tool call', () => {
    const params = { tools: [look()], toolChoice: { type: 'function', name: 'look' } as const }
    expect(fields({ ...params, model: 'claude-fable-5-1' }, 'thinking', 'tool_choice')).toEqual([
      adaptive,
      { type: 'auto' },
      ['forced-tool-unsupported'],
    ])
  })

  test('a Claude model with a thinking budget does not think in a tool loop that started without thinking', () => {
    const loop = [...QUESTION, call('a'), output('a')]
    const params = { tools: [look()], effort: 'low' }
    expect(encode(loop, params).codes).toEqual(['thinking-missing-in-loop'])
    expect(encode([...QUESTION, thought('so'), call('a'), output('a')], params).codes).toEqual([])
    const second = [...QUESTION, thought('so'), call('a'), output('a'), call('b'), output('b')]
    expect(encode(second, params).codes).toEqual([])
    expect(encode(loop, { ...params, model: 'claude-opus-4-6' }).codes).toEqual([])
  })

  test('with thinking off, an Anthropic request omits thinking after the last user message but keeps that of earlier answers', () => {
    const loop = [thought('so'), call('a'), output('a')]
    const params = { tools: [look()] }
    expect(encode([...QUESTION, ...loop], params).codes).toEqual(['thinking-off'])
    expect(encode([...QUESTION, ...loop, assistant('So.'), user('And?')], params).codes).toEqual([])
  })
})
