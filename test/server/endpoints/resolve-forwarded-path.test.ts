import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  rejectAccountPath,
  rejectUnknownPath,
  resolveForwardedPath,
  type AccountPathSettings,
} from '../../../src/server/endpoints/resolve-forwarded-path.ts'

const KEYS = [
  { name: 'ada', key: 'sk-1' },
  { name: 'grace', key: 'sk-2' },
]
const TWO_KEYS: AccountPathSettings = {
  ACCOUNT_PATHS: 'auto',
  BACKSTORY_KEYS: KEYS,
  OPEN_WEBUI_JWT_SECRET: null,
  TRUST_USER_HEADERS: 'off',
}
const ONE_KEY: AccountPathSettings = { ...TWO_KEYS, BACKSTORY_KEYS: KEYS.slice(0, 1) }
const ONLY_GRACE: AccountPathSettings = { ...TWO_KEYS, ACCOUNT_PATHS: ['grace'] }

function resolve(settings: AccountPathSettings, method: string, path: string, tenant = 'ada') {
  const url = `http://localhost${path}`
  try {
    rejectUnknownPath({ method, url })
    const forwarded = resolveForwardedPath({ method, url })
    rejectAccountPath(forwarded, { tenant, user: null }, settings)
    return forwarded
  } catch (error) {
    return (error as { failure: { code: string } }).failure.code
  }
}

const ACCOUNT_PATHS = [
  '/v1/files',
  '/v1/files/file-1/content',
  '/v1/batches',
  '/v1/vector_stores',
  '/v1/threads/thread_1',
  '/v1/containers',
  '/v1/fine_tuning/jobs',
  '/files',
]
const ADMINISTRATIVE_PATHS = [
  '/v1/organization/costs',
  '/v1/Organization/admin_api_keys',
  '/v1/projects',
]

describe('forwarded paths that belong to the account of the upstream', () => {
  test.each(ACCOUNT_PATHS)('with two API keys, %s is forwarded for none of them', (path) => {
    expect(resolve(TWO_KEYS, 'GET', path)).toBe('insufficient_permissions')
    expect(resolve(TWO_KEYS, 'GET', path, 'grace')).toBe('insufficient_permissions')
  })

  test.each(ACCOUNT_PATHS)('with a single API key and no users, %s is forwarded', (path) => {
    expect(resolve(ONE_KEY, 'GET', path)).toBe(path.replace('/v1', ''))
    const withUsers = { ...ONE_KEY, TRUST_USER_HEADERS: 'on' as const }
    expect(resolve(withUsers, 'GET', path)).toBe('insufficient_permissions')
    const withSecret = { ...ONE_KEY, OPEN_WEBUI_JWT_SECRET: 'secret' }
    expect(resolve(withSecret, 'GET', path)).toBe('insufficient_permissions')
  })

  test.each([...ACCOUNT_PATHS, ...ADMINISTRATIVE_PATHS])(
    '%s is forwarded for an API key that ACCOUNT_PATHS names, and for no other',
    (path) => {
      expect(resolve(ONLY_GRACE, 'DELETE', path, 'grace')).toBe(path.replace('/v1', ''))
      expect(resolve(ONLY_GRACE, 'DELETE', path, 'ada')).toBe('insufficient_permissions')
    },
  )

  test.each(ADMINISTRATIVE_PATHS)('by default, %s is forwarded for no API key', (path) => {
    expect(resolve(ONE_KEY, 'GET', path)).toBe('insufficient_permissions')
  })

  test('without API keys, the paths are forwarded for clients on this machine', () => {
    expect(resolve({ ...TWO_KEYS, BACKSTORY_KEYS: [] }, 'GET', '/v1/files', 'local')).toBe('/files')
  })
})

describe('forwarded paths that call a model', () => {
  test.each(['embeddings', 'moderations', 'audio/speech', 'images/edits', 'rerank', 'completions'])(
    'POST /v1/%s is forwarded for every API key, and no other method is',
    (path) => {
      expect(resolve(TWO_KEYS, 'POST', `/v1/${path}`)).toBe(`/${path}`)
      for (const method of ['GET', 'HEAD', 'PUT', 'DELETE', 'TRACE', 'PROPFIND']) {
        expect(resolve(ONLY_GRACE, method, `/v1/${path}`, 'grace')).toBe('method_not_allowed')
      }
    },
  )
})

describe('paths that an upstream could read differently', () => {
  test.each([
    '/v1/chat%2fcompletions',
    '/v1/chat%2Fcompletions',
    '/v1/files%2f..%2fchat%2fcompletions',
    '/v1/responses;x',
    '/v1/x;y/chat/completions',
    '/v1/files/a%5cb',
    '/v1/files/%2e%2e%2fadmin',
  ])('%s is never forwarded', (path) => {
    expect(['invalid_value', 'not_found']).toContain(resolve(ONLY_GRACE, 'POST', path, 'grace'))
  })

  test.each([
    '/v1/Responses',
    '/v1/CHAT/completions',
    '/v1/Conversations/x',
    '/v1/files/../chat/completions',
  ])('%s is unknown in every letter case', (path) => {
    expect(resolve(ONLY_GRACE, 'POST', path, 'grace')).toBe('not_found')
  })

  test('no forwarded path is one of the gateway in another notation, for any characters', () => {
    const piece = fc.constantFrom(
      'chat',
      'Responses',
      'completions',
      'files',
      'v1',
      '/',
      '%2f',
      '%2F',
      '%5c',
      '\\',
      ';',
      '.',
      '..',
      '%2e',
      '?',
      '#',
      '@',
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
        const path = `/v1/${pieces.join('')}`
        if (!URL.canParse(`http://localhost${path}`)) return
        const result = resolve(ONLY_GRACE, 'POST', path, 'grace')
        if (!result.startsWith('/')) return
        expect(result).toMatch(/^(\/[\w.@]+)+$/)
        expect(result.split('/')[1]?.toLowerCase()).not.toMatch(/^(chat|responses|conversations)$/)
        expect(result.split('/')).not.toContain('..')
      }),
      { numRuns: 2000 },
    )
  })
})
