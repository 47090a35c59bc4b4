import { expect, test } from 'vitest'
import type { JsonObject } from '../../src/core/json/json.ts'
import { validateQuirks } from '../../src/providers/quirks/validate-quirks.ts'
import { resolveMediaKinds } from '../../src/upstream/model-media-kinds.ts'

const account = (quirks: JsonObject) => ({
  name: 'a',
  wire: 'chat' as const,
  baseUrl: 'https://up.example/v1',
  apiKey: null,
  models: ['*'],
  headers: {},
  quirks,
})
const seen = (model: string, quirks: JsonObject = {}) =>
  [...resolveMediaKinds(account(quirks), model)].join()
const ALL = 'image,audio,video,file'

test.each([
  'gpt-5',
  'claude-sonnet-5',
  'qwen3-vl:8b',
  'llama-3.2-11b-vision',
  'glm-4.5v',
  'kimi-k2.5',
  'my-model',
])('who is not known to be blind sees: %s', (model) => expect(seen(model)).toBe(ALL))

test.each([
  'gpt-3.5-turbo',
  'deepseek/deepseek-r1:free',
  'llama3.1:8b',
  'openai/gpt-oss-120b',
  'qwen3-coder',
  'glm-4.6',
])('who is known to be blind is: %s (C78)', (model) => expect(seen(model)).toBe('file'))

test('what the account says goes before what is known', () => {
  expect(seen('gpt-5', { sees: [] })).toBe('')
  expect(seen('gpt-3.5-turbo', { sees: ['image'] })).toBe('image')
  const byModel = { sees: { '*-vl': ['image', 'video'], 'small-*': [] } }
  expect(seen('qwen-vl', byModel)).toBe('image,video')
  expect(seen('small-1', byModel)).toBe('')
  expect(seen('other', byModel)).toBe(ALL)
})

test('what makes no sense is refused at the start', () => {
  expect(validateQuirks('chat', { sees: ['image'] })).toEqual([])
  expect(validateQuirks('chat', { sees: { '*': ['audio'] } })).toEqual([])
  const [fault] = validateQuirks('chat', { sees: ['pictures'] })
  expect(fault).toBe(
    'quirks.sees must be a list of: image, audio, video, file; or such lists by model.',
  )
  expect(validateQuirks('chat', { sees: 'image' })).toHaveLength(1)
  expect(validateQuirks('chat', { sees: { '*': true } })).toHaveLength(1)
})
