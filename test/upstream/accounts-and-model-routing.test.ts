import { expect, test } from 'vitest'
import {
  listAccounts,
  matchesModelPattern,
  routeModel,
} from '../../src/upstream/accounts-and-model-routing.ts'
import { readSettings } from '../../src/settings/read-settings.ts'

test('each `*` in a model pattern matches any text', () => {
  expect(matchesModelPattern('gpt-5', 'gpt-5')).toBe(true)
  expect(matchesModelPattern('gpt-5', 'gpt-5-mini')).toBe(false)
  expect(matchesModelPattern('gpt-*', 'gpt-5-mini')).toBe(true)
  expect(matchesModelPattern('*/*', 'vendor/model')).toBe(true)
  expect(matchesModelPattern('*/*', 'model')).toBe(false)
  expect(matchesModelPattern('a*a', 'a')).toBe(false)
  expect(matchesModelPattern('*b*c', 'abc')).toBe(true)
})

test('the demo upstream is used if no other upstream is configured', () => {
  const accounts = listAccounts(readSettings({}))
  expect(accounts.map(({ name }) => name)).toEqual(['demo'])
})

test("`env:NAME` reads an account's API key from the environment, where it must be set", () => {
  const env = {
    UPSTREAMS: '[{"name":"a","wire":"chat","baseUrl":"http://x/v1","apiKey":"env:SECRET"}]',
  }
  const settings = readSettings({ ...env, SECRET: 's' })
  expect(listAccounts(settings)[0]?.apiKey).toBe('s')
  expect(() => readSettings(env)).toThrow(
    'UPSTREAMS entry 1 takes its apiKey from env:SECRET, which is not set. Set it, or remove the entry.',
  )
})

test('an account in UPSTREAMS overrides the shortcut setting of the same name', () => {
  const listed = '[{"name":"openai","wire":"responses","baseUrl":"http://x/v1","models":["*"]}]'
  const settings = readSettings({ UPSTREAMS: listed, OPENAI_API_KEY: 'a', ANTHROPIC_API_KEY: 'b' })
  expect(listAccounts(settings).map(({ name }) => name)).toEqual([
    'openai',
    'anthropic',
    'openai-chat',
  ])
})

function configureUpstreams(environment: Readonly<Record<string, unknown>>) {
  const settings = readSettings(environment)
  return { settings, accounts: listAccounts(settings) }
}

function listTargets(
  world: ReturnType<typeof configureUpstreams>,
  model: string,
  dialect: 'chat' | 'responses' = 'chat',
  client = { isOpenWebUi: false },
) {
  return routeModel(world, model, { dialect, client }).map(
    ({ account, model }) => `${account.name}: ${model}`,
  )
}

test("a model is routed to the first matching account, or to one of the same service that speaks the client's API", () => {
  const world = configureUpstreams({ OPENAI_API_KEY: 'k', ANTHROPIC_API_KEY: 'k' })
  expect(listTargets(world, 'claude-x')).toEqual(['anthropic: claude-x'])
  expect(listTargets(world, 'gpt-5')).toEqual(['openai-chat: gpt-5'])
  expect(listTargets(world, 'gpt-5', 'responses')).toEqual(['openai: gpt-5'])
})

test('Open WebUI reaches the reasoning models of OpenAI over the API that returns their reasoning', () => {
  const world = configureUpstreams({ OPENAI_API_KEY: 'k', MODELS: '{"best":["gpt-5","gpt-4.1"]}' })
  const openWebUi = { isOpenWebUi: true }
  expect(listTargets(world, 'gpt-5', 'chat', openWebUi)).toEqual(['openai: gpt-5'])
  expect(listTargets(world, 'best', 'chat', openWebUi)).toEqual([
    'openai: gpt-5',
    'openai-chat: gpt-4.1',
  ])
  // The operator can choose the other API by its name.
  expect(listTargets(world, 'openai-chat/gpt-5', 'chat', openWebUi)).toEqual(['openai-chat: gpt-5'])
  const onlyChat = configureUpstreams({
    UPSTREAMS: '[{"name":"azure","wire":"chat","baseUrl":"http://x/v1","models":["*"]}]',
  })
  expect(listTargets(onlyChat, 'gpt-5', 'chat', openWebUi)).toEqual(['azure: gpt-5'])
})

test("the prefix of a model name before `/` selects the account of that name, unless it is part of the model's own name", () => {
  const world = configureUpstreams({ OPENAI_API_KEY: 'k', OPENROUTER_API_KEY: 'k' })
  expect(listTargets(world, 'openai/gpt-5', 'responses')).toEqual(['openai: gpt-5'])
  expect(listTargets(world, 'qwen/qwen3')).toEqual(['openrouter: qwen/qwen3'])
  expect(listTargets(world, 'openrouter/qwen/qwen3')).toEqual(['openrouter: qwen/qwen3'])
})

test('a model alias is replaced by one model or by several in order', () => {
  const world = configureUpstreams({
    OPENAI_API_KEY: 'k',
    ANTHROPIC_API_KEY: 'k',
    MODELS: '{"fast": "gpt-5-mini", "best": ["claude-opus", "gpt-5"]}',
  })
  expect(listTargets(world, 'fast')).toEqual(['openai-chat: gpt-5-mini'])
  expect(listTargets(world, 'best')).toEqual(['anthropic: claude-opus', 'openai-chat: gpt-5'])
})

test("an unknown model is rejected with the error of the client's API", () => {
  const world = configureUpstreams({})
  const getError = (dialect: 'chat' | 'responses'): unknown => {
    try {
      return routeModel(world, 'x', { dialect })
    } catch (error) {
      return error
    }
  }
  expect(getError('chat')).toMatchObject({ failure: { status: 404, code: 'model_not_found' } })
  expect(getError('responses')).toMatchObject({
    failure: { status: 400, code: 'model_not_found', param: 'model' },
  })
})

test('of two accounts at one address, a model is routed to the first matching or the named one, with its own key', () => {
  const account = (name: string, wire: string, apiKey: string, models: readonly string[]) => ({
    name,
    wire,
    apiKey,
    models,
    baseUrl: 'http://x/v1',
  })
  const serves = (
    model: string,
    dialect: 'chat' | 'responses',
    ...upstreams: readonly object[]
  ) => {
    const settings = readSettings({ UPSTREAMS: JSON.stringify(upstreams) })
    return routeModel({ accounts: listAccounts(settings), settings }, model, { dialect })[0].account
      .name
  }
  const claude = account('claude', 'anthropic', 'A', ['claude*'])
  const all = account('all', 'chat', 'B', ['*'])
  for (const dialect of ['chat', 'responses'] as const) {
    for (const model of ['claude-x', 'claude/claude-x']) {
      expect(serves(model, dialect, claude, all)).toBe('claude')
    }
    expect(serves('gpt-x', dialect, claude, all)).toBe('all')
  }
  const responses = account('responses', 'responses', 'C', ['*'])
  expect(serves('m', 'chat', responses, all)).toBe('responses')
  expect(serves('m', 'chat', responses, { ...all, apiKey: 'C' })).toBe('all')
  expect(serves('m', 'chat', responses, { ...all, apiKey: 'C', headers: { x: 'y' } })).toBe(
    'responses',
  )
})

test("a model of Gemini is found with and without the prefix `models/` of Gemini's own names", () => {
  const settings = readSettings({
    GEMINI_API_KEY: 'k',
    OPENAI_API_KEY: 'o',
    MODELS: '{"best":["models/gemini-3-pro"]}',
  })
  const configured = { accounts: listAccounts(settings), settings }
  for (const name of [
    'gemini-3-pro',
    'models/gemini-3-pro',
    'gemini/gemini-3-pro',
    'gemini/models/gemini-3-pro',
    'best',
  ]) {
    const [{ account, model }] = routeModel(configured, name, { dialect: 'chat' })
    expect([account.name, model]).toEqual(['gemini', 'gemini-3-pro'])
  }
})
