import { expect, test } from 'vitest'
import {
  listAccounts,
  matchesModelPattern,
  routeModel,
} from '../../src/upstream/accounts-and-model-routing.ts'
import { readSettings } from '../../src/settings/read-settings.ts'

test('a pattern matches with any text in the place of a star', () => {
  expect(matchesModelPattern('gpt-5', 'gpt-5')).toBe(true)
  expect(matchesModelPattern('gpt-5', 'gpt-5-mini')).toBe(false)
  expect(matchesModelPattern('gpt-*', 'gpt-5-mini')).toBe(true)
  expect(matchesModelPattern('*/*', 'vendor/model')).toBe(true)
  expect(matchesModelPattern('*/*', 'model')).toBe(false)
  expect(matchesModelPattern('a*a', 'a')).toBe(false)
  expect(matchesModelPattern('*b*c', 'abc')).toBe(true)
})

test('without any upstream there is the demo', () => {
  const accounts = listAccounts(readSettings({}))
  expect(accounts.map(({ name }) => name)).toEqual(['demo'])
})

test('a key can be taken from the environment, and must be there', () => {
  const env = {
    UPSTREAMS: '[{"name":"a","wire":"chat","baseUrl":"http://x/v1","apiKey":"env:SECRET"}]',
  }
  const settings = readSettings({ ...env, SECRET: 's' })
  expect(listAccounts(settings)[0]?.apiKey).toBe('s')
  expect(() => readSettings(env)).toThrow(
    'UPSTREAMS entry 1 takes its apiKey from env:SECRET, which is not set.',
  )
})

test('an upstream that is listed by the name of a shortcut takes its place', () => {
  const listed = '[{"name":"openai","wire":"responses","baseUrl":"http://x/v1","models":["*"]}]'
  const settings = readSettings({ UPSTREAMS: listed, OPENAI_API_KEY: 'a', ANTHROPIC_API_KEY: 'b' })
  expect(listAccounts(settings).map(({ name }) => name)).toEqual([
    'openai',
    'anthropic',
    'openai-chat',
  ])
})

function worldOf(environment: Readonly<Record<string, unknown>>) {
  const settings = readSettings(environment)
  return { settings, accounts: listAccounts(settings) }
}

function asked(
  world: ReturnType<typeof worldOf>,
  model: string,
  dialect: 'chat' | 'responses' = 'chat',
) {
  return routeModel(world, model, dialect).map(({ account, model }) => `${account.name}: ${model}`)
}

test('the first upstream that matches serves, in the language of the client if it has it', () => {
  const world = worldOf({ OPENAI_API_KEY: 'k', ANTHROPIC_API_KEY: 'k' })
  expect(asked(world, 'claude-x')).toEqual(['anthropic: claude-x'])
  expect(asked(world, 'gpt-5')).toEqual(['openai-chat: gpt-5'])
  expect(asked(world, 'gpt-5', 'responses')).toEqual(['openai: gpt-5'])
})

test('a prefix names the upstream, unless it is part of the model', () => {
  const world = worldOf({ OPENAI_API_KEY: 'k', OPENROUTER_API_KEY: 'k' })
  expect(asked(world, 'openai/gpt-5', 'responses')).toEqual(['openai: gpt-5'])
  expect(asked(world, 'qwen/qwen3')).toEqual(['openrouter: qwen/qwen3'])
  expect(asked(world, 'openrouter/qwen/qwen3')).toEqual(['openrouter: qwen/qwen3'])
})

test('an alias stands for a model, or for several in order', () => {
  const world = worldOf({
    OPENAI_API_KEY: 'k',
    ANTHROPIC_API_KEY: 'k',
    MODELS: '{"fast": "gpt-5-mini", "best": ["claude-opus", "gpt-5"]}',
  })
  expect(asked(world, 'fast')).toEqual(['openai-chat: gpt-5-mini'])
  expect(asked(world, 'best')).toEqual(['anthropic: claude-opus', 'openai-chat: gpt-5'])
})

test('an unknown model is refused as each of the two APIs does', () => {
  const world = worldOf({})
  const refused = (dialect: 'chat' | 'responses'): unknown => {
    try {
      return routeModel(world, 'x', dialect)
    } catch (error) {
      return error
    }
  }
  expect(refused('chat')).toMatchObject({ failure: { status: 404, code: 'model_not_found' } })
  expect(refused('responses')).toMatchObject({
    failure: { status: 400, code: 'model_not_found', param: 'model' },
  })
})
