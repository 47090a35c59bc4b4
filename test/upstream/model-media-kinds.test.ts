import { expect, test } from 'vitest'
import type { JsonObject } from '../../src/core/json/json.ts'
import { validateQuirks } from '../../src/providers/quirks/validate-quirks.ts'
import { resolveMediaKinds } from '../../src/upstream/model-media-kinds.ts'

const createAccount = (quirks: JsonObject) => ({
  name: 'a',
  wire: 'chat' as const,
  baseUrl: 'https://up.example/v1',
  apiKey: null,
  models: ['*'],
  headers: {},
  quirks,
})
const listMediaKinds = (model: string, quirks: JsonObject = {}) =>
  [...resolveMediaKinds(createAccount(quirks), model)].join()
const ALL_KINDS = 'image,audio,video,file'

test.each([
  'gpt-5',
  'claude-sonnet-5',
  'qwen3-vl:8b',
  'llama-3.2-11b-vision',
  'glm-4.5v',
  'kimi-k2.5',
  'my-model',
])('%s accepts all kinds of media, because it is not known as text-only', (model) =>
  expect(listMediaKinds(model)).toBe(ALL_KINDS),
)

test.each([
  'gpt-3.5-turbo',
  'deepseek/deepseek-r1:free',
  'llama3.1:8b',
  'openai/gpt-oss-120b',
  'qwen3-coder',
  'glm-4.6',
])('%s is known as text-only and accepts only files (C78)', (model) =>
  expect(listMediaKinds(model)).toBe('file'),
)

test("the account's quirk `sees` overrides the list of text-only models", () => {
  expect(listMediaKinds('gpt-5', { sees: [] })).toBe('')
  expect(listMediaKinds('gpt-3.5-turbo', { sees: ['image'] })).toBe('image')
  const byModel = { sees: { '*-vl': ['image', 'video'], 'small-*': [] } }
  expect(listMediaKinds('qwen-vl', byModel)).toBe('image,video')
  expect(listMediaKinds('small-1', byModel)).toBe('')
  expect(listMediaKinds('other', byModel)).toBe(ALL_KINDS)
})

test('invalid values of the quirk `sees` are reported', () => {
  expect(validateQuirks('chat', { sees: ['image'] })).toEqual([])
  expect(validateQuirks('chat', { sees: { '*': ['audio'] } })).toEqual([])
  const [fault] = validateQuirks('chat', { sees: ['pictures'] })
  expect(fault).toBe(
    'quirks.sees must be a list of: image, audio, video, file; or such lists by model.',
  )
  expect(validateQuirks('chat', { sees: 'image' })).toHaveLength(1)
  expect(validateQuirks('chat', { sees: { '*': true } })).toHaveLength(1)
})
