import { expect, test } from 'vitest'
import { accountsFrom, matches, route } from '../src/accounts.ts'
import { readSettings } from '../src/settings.ts'

test('a pattern matches with any text in the place of a star', () => {
  expect(matches('gpt-5', 'gpt-5')).toBe(true)
  expect(matches('gpt-5', 'gpt-5-mini')).toBe(false)
  expect(matches('gpt-*', 'gpt-5-mini')).toBe(true)
  expect(matches('*/*', 'vendor/model')).toBe(true)
  expect(matches('*/*', 'model')).toBe(false)
  expect(matches('a*a', 'a')).toBe(false)
  expect(matches('*b*c', 'abc')).toBe(true)
})

test('without any upstream there is the demo', () => {
  const accounts = accountsFrom(readSettings({}), {})
  expect(accounts.map(({ name }) => name)).toEqual(['demo'])
})

test('a key can be taken from the environment, and must be there', () => {
  const env = {
    UPSTREAMS: '[{"name":"a","wire":"chat","baseUrl":"http://x/v1","apiKey":"env:SECRET"}]',
  }
  const settings = readSettings(env)
  expect(accountsFrom(settings, { SECRET: 's' })[0]?.apiKey).toBe('s')
  expect(() => accountsFrom(settings, {})).toThrow('env:SECRET, which is not set')
})

test('the first upstream that matches serves, in the language of the client if it has it', () => {
  const accounts = accountsFrom(readSettings({ OPENAI_API_KEY: 'k', ANTHROPIC_API_KEY: 'k' }), {})
  expect(route(accounts, 'claude-x', 'chat').name).toBe('anthropic')
  expect(route(accounts, 'gpt-5', 'chat').name).toBe('openai-chat')
  expect(route(accounts, 'gpt-5', 'responses').name).toBe('openai')
})

test('an unknown model is refused as each of the two APIs does', () => {
  const accounts = accountsFrom(readSettings({}), {})
  expect(() => route(accounts, 'x', 'chat')).toThrow(
    expect.objectContaining({
      failure: expect.objectContaining({ status: 404, code: 'model_not_found' }) as unknown,
    }),
  )
  expect(() => route(accounts, 'x', 'responses')).toThrow(
    expect.objectContaining({
      failure: expect.objectContaining({
        status: 400,
        code: 'model_not_found',
        param: 'model',
      }) as unknown,
    }),
  )
})
