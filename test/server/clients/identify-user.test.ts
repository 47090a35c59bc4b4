/** Which user asks: signed, believed, or nobody in particular. */
import { createHmac } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { identifyUser } from '../../../src/server/clients/identify-user.ts'
import { GatewayError } from '../../../src/core/errors/gateway-error.ts'

const SECRET = 'shared-secret'
const NOW_MS = 1_795_000_000_000
const IAT = NOW_MS / 1000
const CLAIMS = {
  sub: 'user-1',
  email: 'user@example.com',
  name: 'Ünal',
  role: 'user',
  iss: 'open-webui',
  iat: IAT,
  exp: IAT + 300,
}

interface Made {
  readonly claims?: object
  readonly header?: object
  readonly secret?: string
  readonly hash?: string
}

function token({ claims = CLAIMS, header, secret = SECRET, hash = 'sha256' }: Made = {}): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const signed = `${part(header ?? { alg: 'HS256', typ: 'JWT' })}.${part(claims)}`
  return `${signed}.${createHmac(hash, secret).update(signed).digest('base64url')}`
}

interface Setup {
  readonly secret?: string | null
  readonly trust?: 'on' | 'off'
  readonly isRemembered?: boolean
}

function asked(
  headers: Readonly<Record<string, string>>,
  { secret = SECRET, trust = 'off', isRemembered = true }: Setup = {},
) {
  const settings = { OPEN_WEBUI_JWT_SECRET: secret, TRUST_USER_HEADERS: trust }
  return identifyUser(new Headers(headers), settings, { nowMs: NOW_MS, isRemembered })
}

const signed = (jwt: string, more: Setup = {}) => asked({ 'X-OpenWebUI-User-Jwt': jwt }, more)

function refusal(run: () => unknown) {
  try {
    run()
  } catch (error) {
    expect(error).toBeInstanceOf(GatewayError)
    const { failure } = error as GatewayError
    expect(failure).toMatchObject({ status: 401, code: 'invalid_user_signature' })
    return failure.message
  }
  throw new Error('It is not refused.')
}

describe('with a secret', () => {
  test('is who the signature says (C129)', () => {
    expect(signed(token())).toBe('user-1')
  })

  test('clocks may differ by a minute, and no more', () => {
    expect(signed(token({ claims: { ...CLAIMS, exp: IAT - 60 } }))).toBe('user-1')
    const late = token({ claims: { ...CLAIMS, exp: IAT - 61 } })
    expect(refusal(() => signed(late))).toMatch(/has expired.*Compare the clocks/)
  })

  const [head = '', claims = ''] = token().split('.')
  test.each([
    ['under another secret', token({ secret: 'other' })],
    ['of another service', token({ claims: { ...CLAIMS, iss: 'somebody' } })],
    ['without a user', token({ claims: { ...CLAIMS, sub: '' } })],
    ['with a user that is no text', token({ claims: { ...CLAIMS, sub: 7 } })],
    ['that lasts for ever', token({ claims: { ...CLAIMS, exp: undefined } })],
    ['that lasts until a text', token({ claims: { ...CLAIMS, exp: '9999999999' } })],
    ['by an algorithm of its choice', token({ header: { alg: 'HS512' }, hash: 'sha512' })],
    ['that names another algorithm', token({ header: { alg: 'none' } })],
    ['that is not there', `${head}.${claims}.`],
    ['that is too short', token().slice(0, -2)],
    [
      'over other claims',
      `${head}.${Buffer.from('{"sub":"root"}').toString('base64url')}.${token().split('.')[2] ?? ''}`,
    ],
    ['over what is no object', token({ claims: [] })],
    ['with more behind it', `${token()}.x`],
    ['in nothing like a token', 'user-1'],
  ])('a signature %s does not hold', (_, jwt) => {
    expect(refusal(() => signed(jwt))).toMatch(/FORWARD_USER_INFO_HEADER_JWT_SECRET/)
    expect(refusal(() => signed(jwt, { isRemembered: false }))).toMatch(/does not hold/)
  })

  test('one that is missing is refused where something may be remembered', () => {
    const unsigned = { 'X-OpenWebUI-User-Id': 'user-1', 'X-Backstory-User': 'user-1' }
    expect(refusal(() => asked(unsigned, { trust: 'on' }))).toMatch(
      /ENABLE_FORWARD_USER_INFO_HEADERS=true/,
    )
    expect(refusal(() => signed(''))).toMatch(/No signed user/)
    expect(asked(unsigned, { trust: 'on', isRemembered: false })).toBeNull()
  })
})

describe('without a secret', () => {
  test('nobody is believed, signed or not (C129)', () => {
    const headers = {
      'X-OpenWebUI-User-Jwt': token(),
      'X-OpenWebUI-User-Id': 'user-1',
      'X-Backstory-User': 'user-1',
    }
    expect(asked(headers, { secret: null })).toBeNull()
  })

  const trusting = { secret: null, trust: 'on' } as const
  test('headers are believed where the operator says so (C129)', () => {
    expect(asked({ 'X-OpenWebUI-User-Id': 'a' }, trusting)).toBe('a')
    expect(asked({ 'X-Backstory-User': 'b', 'X-OpenWebUI-User-Id': 'a' }, trusting)).toBe('b')
  })

  test('one that says nothing names nobody', () => {
    expect(asked({ 'X-Backstory-User': '', 'X-OpenWebUI-User-Id': 'a' }, trusting)).toBe('a')
    expect(asked({ 'X-Backstory-User': '{{USER_ID}}' }, trusting)).toBeNull()
    expect(asked({}, trusting)).toBeNull()
  })
})
