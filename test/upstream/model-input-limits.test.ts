import { expect, test } from 'vitest'
import { KNOWN_INPUT_LIMITS } from '../../src/upstream/known-input-limits.ts'
import { findKnownInputLimit } from '../../src/upstream/model-input-limits.ts'

const OPENAI = 'https://api.openai.com/v1'

test.each([
  ['gpt-5', 272_000],
  ['openai/gpt-5-mini', 272_000],
  ['gpt-5.1-codex-max', 272_000],
  ['gpt-5-2025-08-07', 272_000],
  ['gpt-5.4-mini', 272_000],
  ['gpt-5.4', 922_000],
  ['gpt-5.5-2026-04-23', 922_000],
  ['gemini-3.8-flash', 1_048_576],
  ['gemini-9-unheard-of', 1_048_576],
])('the input of %s alone may have %d tokens', (model, tokens) => {
  expect(findKnownInputLimit(model, OPENAI)).toEqual({ tokens, includesAnswer: false })
})

test.each([
  ['claude-sonnet-5-5', 1_000_000],
  ['claude-opus-4-6-20260205', 1_000_000],
  ['anthropic/claude-haiku-4.5', 200_000],
  ['us.anthropic.claude-sonnet-4-5-20250929-v1:0', 200_000],
  ['claude-sonnet-4-5@20250929', 200_000],
  ['claude-3-5-sonnet-20241022', 200_000],
  ['gpt-5-chat-latest', 128_000],
  ['gpt-4-1106-preview', 128_000],
  ['gpt-4', 8192],
  ['gpt-4-0613', 8192],
  ['gpt-4o-mini', 128_000],
  ['gpt-4.1-mini', 1_047_576],
  ['o3-mini-2025-01-31', 200_000],
  ['x-ai/grok-4.5', 500_000],
])('input and answer of %s share %d tokens', (model, tokens) => {
  expect(findKnownInputLimit(model, OPENAI)).toEqual({ tokens, includesAnswer: true })
})

test('open models are known at their hosts only', () => {
  const limitAt = (host: string, model: string) =>
    findKnownInputLimit(model, `https://${host}/v1`)?.tokens ?? null
  expect(limitAt('api.together.xyz', 'MiniMaxAI/MiniMax-M3')).toBe(524_288)
  expect(limitAt('api.minimax.io', 'MiniMax-M3')).toBe(1_000_000)
  expect(limitAt('dashscope-intl.aliyuncs.com', 'glm-5.2')).toBe(1_048_576)
  expect(limitAt('127.0.0.1:8000', 'MiniMaxAI/MiniMax-M3')).toBeNull()
  expect(limitAt('evil-api.minimax.io', 'MiniMax-M3')).toBeNull()
  expect(findKnownInputLimit('qwen3-32b', '')).toBeNull()
  expect(findKnownInputLimit('gpt-50', OPENAI)).toBeNull()
})

test('every line of the table is read', () => {
  let host = ''
  for (const line of KNOWN_INPUT_LIMITS.trim().split('\n')) {
    if (line.startsWith('@')) {
      host = line.slice(1)
      continue
    }
    const [limit = '', ...names] = line.split(' ')
    expect(limit).toMatch(/^\d{3,}\+?$/)
    for (const name of names) {
      expect(findKnownInputLimit(name, `https://${host === '*' ? 'x' : host}/v1`)).toEqual({
        tokens: Number.parseInt(limit, 10),
        includesAnswer: !limit.endsWith('+'),
      })
    }
  }
})
