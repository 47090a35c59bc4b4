import { expect, test } from 'vitest'
import {
  isOpenAiReasoningModel,
  listLowestOpenAiEfforts,
} from '../../../src/providers/request/openai-reasoning-models.ts'

test.each<[string, boolean, readonly string[]]>([
  ['gpt-5.2', true, ['none', 'low']],
  ['gpt-5.1-2026-01-01', true, ['none', 'low']],
  ['gpt-6', true, ['none', 'low']],
  ['gpt-5-mini', true, ['minimal', 'low']],
  ['gpt-5-2025-08-07', true, ['minimal', 'low']],
  ['openai/gpt-5', true, ['minimal', 'low']],
  ['ft:gpt-5:org', true, ['minimal', 'low']],
  ['gpt-5.1-codex', true, ['low']],
  ['o3', true, ['low']],
  ['gpt-5-pro', true, []],
  ['o1-mini', false, []],
  ['gpt-oss-120b', false, ['low']],
  ['gpt-5-chat-latest', false, []],
  ['gpt-4.1', false, []],
  ['chatgpt-4o-latest', false, []],
  ['olmo-3', false, []],
  ['claude-opus-5', false, []],
])('%s: reasoning of OpenAI %s, lowest efforts %j', (model, reasons, efforts) => {
  expect(isOpenAiReasoningModel(model)).toBe(reasons)
  expect(listLowestOpenAiEfforts(model)).toEqual(efforts)
})
