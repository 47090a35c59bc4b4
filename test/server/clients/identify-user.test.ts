/** Identifies the user by a signed token, by trusted headers, or not at all. */
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

interface TokenParts {
  readonly claims?: object
  readonly header?: object
  readonly secret?: string
  readonly hash?: string
}

function token({
  claims = CLAIMS,
  header,
  secret = SECRET,
  hash = 'sha256',
}: TokenParts = {}): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const signed = `${part(header ?? { alg: 'HS256', typ: 'JWT' })}.${part(claims)}`
  return `${signed}.${createHmac(hash, secret).update(signed).digest('base64url')}`
}

/** Signs claims in which `sub` is the JSON text `bytes`. */
function signBytes(bytes: Buffer): string {
  const [before = '', after = ''] = JSON.stringify({ ...CLAIMS, sub: 'SUB' }).split('"SUB"')
  const claims = Buffer.concat([Buffer.from(before), bytes, Buffer.from(after)])
  const content = `${token().split('.')[0]}.${claims.toString('base64url')}`
  return `${content}.${createHmac('sha256', SECRET).update(content).digest('base64url')}`
}

interface Setup {
  readonly secret?: string | null
  readonly trust?: 'on' | 'off'
  readonly usesStoredData?: boolean
  readonly servesAdministrators?: boolean
}

function identifyRequester(
  headers: Readonly<Record<string, string>>,
  { secret = SECRET, trust = 'off', ...route }: Setup = {},
) {
  const settings = { OPEN_WEBUI_JWT_SECRET: secret, TRUST_USER_HEADERS: trust }
  const context = { nowMs: NOW_MS, usesStoredData: true, ...route }
  return identifyUser(new Headers(headers), settings, context)
}

const identify = (...request: Parameters<typeof identifyRequester>) =>
  identifyRequester(...request).id

const signed = (jwt: string, more: Setup = {}) => identify({ 'X-OpenWebUI-User-Jwt': jwt }, more)

function getRejection(run: () => unknown) {
  try {
    run()
  } catch (error) {
    expect(error).toBeInstanceOf(GatewayError)
    const { failure } = error as GatewayError
    expect(failure).toMatchObject({ status: 401, code: 'invalid_user_signature' })
    return failure.message
  }
  throw new Error('It was not rejected.')
}

describe('identifying users with OPEN_WEBUI_JWT_SECRET', () => {
  test('with OPEN_WEBUI_JWT_SECRET, the gateway uses the user id of the signed token (C129)', () => {
    expect(signed(token())).toBe('user-1')
  })

  test('with OPEN_WEBUI_JWT_SECRET, the gateway accepts a token up to one minute after its expiry', () => {
    expect(signed(token({ claims: { ...CLAIMS, exp: IAT - 60 } }))).toBe('user-1')
    const late = token({ claims: { ...CLAIMS, exp: IAT - 61 } })
    expect(getRejection(() => signed(late))).toMatch(/has expired.*Compare the clocks/)
  })

  test('with OPEN_WEBUI_JWT_SECRET, the gateway accepts a token up to one minute before its start', () => {
    expect(signed(token({ claims: { ...CLAIMS, nbf: IAT + 60 } }))).toBe('user-1')
    const early = token({ claims: { ...CLAIMS, nbf: IAT + 61 } })
    expect(getRejection(() => signed(early))).toMatch(/not valid yet.*Compare the clocks/)
  })

  const [head = '', claims = ''] = token().split('.')
  test.each([
    ['signed with another secret', token({ secret: 'other' })],
    ['of another issuer', token({ claims: { ...CLAIMS, iss: 'another' } })],
    ['without a user', token({ claims: { ...CLAIMS, sub: '' } })],
    ['with a user that is not a string', token({ claims: { ...CLAIMS, sub: 7 } })],
    ['without an expiry', token({ claims: { ...CLAIMS, exp: undefined } })],
    ['with an expiry that is not a number', token({ claims: { ...CLAIMS, exp: '9999999999' } })],
    ['signed with another algorithm', token({ header: { alg: 'HS512' }, hash: 'sha512' })],
    ['that names another algorithm', token({ header: { alg: 'none' } })],
    ['without a signature', `${head}.${claims}.`],
    ['with a signature that is too short', token().slice(0, -2)],
    [
      'with other claims than the signed ones',
      `${head}.${Buffer.from('{"sub":"root"}').toString('base64url')}.${token().split('.')[2] ?? ''}`,
    ],
    ['whose claims are not an object', token({ claims: [] })],
    ['with an extension that must be understood', token({ header: { alg: 'HS256', crit: ['x'] } })],
    ['with a start that is not a number', token({ claims: { ...CLAIMS, nbf: 'now' } })],
    ['with other characters in its signature', `${token()}$`],
    ['with padding', `${token()}=`],
    ['with a user that is not UTF-8', signBytes(Buffer.from([0x22, 0xff, 0x22]))],
    ['with an additional part', `${token()}.x`],
    ['that is not a token', 'user-1'],
  ])('with OPEN_WEBUI_JWT_SECRET, the gateway rejects a token %s', (_, jwt) => {
    expect(getRejection(() => signed(jwt))).toMatch(/FORWARD_USER_INFO_HEADER_JWT_SECRET/)
    expect(getRejection(() => signed(jwt, { usesStoredData: false }))).toMatch(/is not valid/)
  })

  test('with OPEN_WEBUI_JWT_SECRET, the gateway requires a token only if the request uses stored data', () => {
    const unsigned = { 'X-OpenWebUI-User-Id': 'user-1', 'X-Backstory-User': 'user-1' }
    expect(getRejection(() => identify(unsigned, { trust: 'on' }))).toMatch(
      /ENABLE_FORWARD_USER_INFO_HEADERS=true/,
    )
    expect(getRejection(() => signed(''))).toMatch(/no signed user/)
    expect(identify(unsigned, { trust: 'on', usesStoredData: false })).toBeNull()
  })
})

describe('administrators', () => {
  const isAdministrator = (role: unknown, more: Setup = {}): boolean => {
    const headers = { 'X-OpenWebUI-User-Jwt': token({ claims: { ...CLAIMS, role } }) }
    return identifyRequester(headers, more).isAdministrator
  }

  test('only the role admin of a signed token makes an administrator', () => {
    expect(isAdministrator('admin')).toBe(true)
    for (const role of [
      'user',
      'pending',
      'Admin',
      'administrator',
      '',
      undefined,
      true,
      ['admin'],
    ])
      expect(isAdministrator(role)).toBe(false)
    expect(isAdministrator('admin', { secret: null, trust: 'on' })).toBe(false)
    const unsigned = { 'X-OpenWebUI-User-Id': 'a', 'X-OpenWebUI-User-Role': 'admin' }
    const trusting = { secret: null, trust: 'on' } as const
    expect(identifyRequester(unsigned, trusting)).toEqual({ id: 'a', isAdministrator: false })
  })

  test('an unsigned request on a route for operators is told which token to send', () => {
    const message = getRejection(() => identify({}, { servesAdministrators: true }))
    expect(message).toMatch(/X-OpenWebUI-User-Jwt.*`role: "admin"`/)
  })
})

describe('identifying users without OPEN_WEBUI_JWT_SECRET', () => {
  test('without OPEN_WEBUI_JWT_SECRET, the gateway ignores all user headers, signed or not (C129)', () => {
    const headers = {
      'X-OpenWebUI-User-Jwt': token(),
      'X-OpenWebUI-User-Id': 'user-1',
      'X-Backstory-User': 'user-1',
    }
    expect(identify(headers, { secret: null })).toBeNull()
  })

  const trustsHeaders = { secret: null, trust: 'on' } as const
  test('without OPEN_WEBUI_JWT_SECRET, the gateway accepts user headers with TRUST_USER_HEADERS=on (C129)', () => {
    expect(identify({ 'X-OpenWebUI-User-Id': 'a' }, trustsHeaders)).toBe('a')
    expect(identify({ 'X-Backstory-User': 'b', 'X-OpenWebUI-User-Id': 'a' }, trustsHeaders)).toBe(
      'b',
    )
  })

  test('without OPEN_WEBUI_JWT_SECRET, the gateway ignores empty and unfilled headers', () => {
    expect(identify({ 'X-Backstory-User': '', 'X-OpenWebUI-User-Id': 'a' }, trustsHeaders)).toBe(
      'a',
    )
    expect(identify({ 'X-Backstory-User': '{{USER_ID}}' }, trustsHeaders)).toBeNull()
    expect(identify({}, trustsHeaders)).toBeNull()
  })
})
