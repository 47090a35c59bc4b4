/**
 * Invalid requests get an error in OpenAI's shape, never a 500 and never no answer: on Node and inside
 * workerd.
 */
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { HOSTS, type Host } from './hosts.ts'
import { sampleCases } from '../support/sample.ts'

interface OpenaiError {
  readonly error: Readonly<Record<'message' | 'type' | 'param' | 'code', string | null>>
}

describe.each(sampleCases(HOSTS, 2))('rejecting invalid requests on %s', (_, start) => {
  let host: Host
  beforeAll(async () => {
    host = await start({
      BACKSTORY_KEYS: 'tests:sk-tests',
      MAX_BODY_MB: '1',
      UPSTREAMS: '[{"name":"demo","wire":"demo","models":["demo"],"quirks":{"delayMs":0}}]',
    })
  })
  afterAll(() => host.close())

  const send = async (path: string, body: unknown, headers: Record<string, string> = {}) => {
    const response = await fetch(host.url + path, {
      method: 'POST',
      headers: { authorization: 'Bearer sk-tests', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })
    return { status: response.status, json: (await response.json()) as OpenaiError }
  }
  const user = (content: unknown) => ({ model: 'demo', messages: [{ role: 'user', content }] })

  test.each([
    ['/v1/responses', '{"model":', 400, 'invalid_json', null],
    ['/v1/responses', '[]', 400, 'invalid_json', null],
    ['/v1/responses', '', 400, 'invalid_json', null],
    ['/v1/responses', { model: 'demo' }, 400, 'missing_required_parameter', 'input'],
    ['/v1/responses', { input: 'x' }, 400, 'missing_required_parameter', 'model'],
    ['/v1/responses', { model: 'nope', input: 'x' }, 400, 'model_not_found', 'model'],
    ['/v1/responses', { model: 'constructor', input: 'x' }, 400, 'model_not_found', 'model'],
    ['/v1/responses', { model: '__proto__', input: 'x' }, 400, 'model_not_found', 'model'],
    ['/v1/responses', { model: 'demo', input: 5 }, 400, 'invalid_type', 'input'],
    [
      '/v1/responses',
      { model: 'demo', input: [{ role: 'user', content: ['x'] }] },
      400,
      'invalid_type',
      'input[0].content[0]',
    ],
    [
      '/v1/responses',
      { model: 'demo', input: 'x', previous_response_id: 'resp_nope' },
      400,
      'previous_response_not_found',
      'previous_response_id',
    ],
    [
      '/v1/responses',
      { model: 'demo', input: 'x', temperature: -1 },
      400,
      'decimal_below_min_value',
      'temperature',
    ],
    ['/v1/chat/completions', { model: 'demo' }, 400, 'missing_required_parameter', 'messages'],
    ['/v1/chat/completions', { ...user('x'), model: 'nope' }, 404, 'model_not_found', null],
    ['/v1/chat/completions', { ...user('x'), model: 'toString' }, 404, 'model_not_found', null],
    [
      '/v1/chat/completions',
      { model: 'demo', messages: [{ role: 'pope', content: 'x' }] },
      400,
      'invalid_value',
      'messages[0].role',
    ],
    ['/v1/chat/completions', user(['x']), 400, 'invalid_type', 'messages[0].content[0]'],
    [
      '/v1/chat/completions',
      user([{ type: 'text', text: {} }]),
      400,
      'invalid_type',
      'messages[0].content[0].text',
    ],
    ['/v1/context/explain', { api: 'nope' }, 400, 'invalid_value', 'api'],
    ['/v1/nowhere', {}, 404, 'not_found', null],
    ['/nowhere', {}, 404, 'not_found', null],
  ])(
    'a request to %s with the body %j is rejected with status %i and code %s',
    async (path, body, status, code, param) => {
      const answer = await send(path, body)
      expect(answer).toMatchObject({ status, json: { error: { code, param } } })
      expect(Object.keys(answer.json.error).toSorted()).toEqual([
        'code',
        'message',
        'param',
        'type',
      ])
      expect(answer.json.error.message).toMatch(/\S+ \S+/)
    },
  )

  test('a body over the size limit is rejected, with or without a content-length', async () => {
    const body = { model: 'demo', input: 'x'.repeat(2_000_000) }
    expect(await send('/v1/responses', body)).toMatchObject({
      status: 413,
      json: { error: { code: 'request_too_large' } },
    })
    const response = await fetch(`${host.url}/v1/responses`, {
      method: 'POST',
      headers: { authorization: 'Bearer sk-tests' },
      body: new Blob([JSON.stringify(body)]).stream(),
      duplex: 'half',
    } as RequestInit)
    expect(response.status).toBe(413)
  })

  test.each([600, 3_000, 6_000, 20_000])(
    'a body that is nested %i levels deep is rejected and does not crash the gateway',
    async (levels) => {
      const deep = `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`
      const tool = `{"type":"function","name":"f","parameters":${deep}}`
      const bodies = [
        ['/v1/responses', `{"model":"demo","input":"x","tools":[${tool}]}`],
        ['/v1/responses', `{"model":"demo","input":[{"role":"user","content":"x","zz":${deep}}]}`],
        ['/v1/context/explain', `{"model":"demo","input":"x","tools":[${tool}]}`],
        [
          '/v1/chat/completions',
          `{"model":"demo","store":true,"messages":[{"role":"user","content":"x"}],"zz":${deep}}`,
        ],
      ] as const
      for (const [path, body] of bodies) {
        const { status, json } = await send(path, body)
        expect(status).toBe(400)
        expect(json.error.message).toContain('nested too deeply')
      }
    },
  )

  test('a body with the maximum nesting depth is answered and stored', async () => {
    const deep = `${'{"a":'.repeat(490)}1${'}'.repeat(490)}`
    const input = `[{"role":"user","content":"x","zz":${deep}}]`
    const first = await send('/v1/responses', `{"model":"demo","store":true,"input":${input}}`)
    expect(first.status).toBe(200)
    const { id } = first.json as unknown as { id: string }
    const next = { model: 'demo', input: 'y', previous_response_id: id }
    expect((await send('/v1/responses', next)).status).toBe(200)
  })

  test.each([
    { required: 'abc' },
    { properties: { a: { type: 'object', required: true } } },
    { properties: 5, required: [{}] },
  ])('a tool with the unusual JSON schema %j is accepted', async (parameters) => {
    const named = { name: 'f', parameters }
    const responses = { model: 'demo', input: 'x', tools: [{ type: 'function', ...named }] }
    const chat = { ...user('x'), tools: [{ type: 'function', function: named }] }
    expect((await send('/v1/responses', responses)).status).toBe(200)
    expect((await send('/v1/chat/completions', chat)).status).toBe(200)
  })

  test.each([
    ['', /: it is empty\.$/],
    ['{"model":', /: it ends before it is complete\.$/],
    ['{"model": "demo",\n "input": "secret",}', /: it is broken at line 2, column 20\.$/],
    ['{"model": secret}', /: it is broken at line 1, column 11\.$/],
    ['[}', /: it is broken at line 1, column 2\.$/],
    ['"secret"', /It must be a JSON object\.$/],
  ])(
    'the error for the body %j says where it is invalid, and does not quote it',
    async (body, says) => {
      const { json } = await send('/v1/responses', body)
      expect(json.error).toMatchObject({ code: 'invalid_json' })
      expect(json.error.message).toMatch(says)
      expect(json.error.message).not.toContain('secret')
    },
  )

  test('the error for an input of another type names both types that are allowed', async () => {
    for (const input of [42, true, {}]) {
      const { json } = await send('/v1/responses', { model: 'demo', input })
      expect(json.error.message).toContain('expected a string or an array, but got')
    }
  })

  test.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
  ])('a body in %s is rejected with an error that names the encoding', async (encoding, pack) => {
    for (const [path, body] of [
      ['/v1/responses', { model: 'demo', input: 'x' }],
      ['/v1/chat/completions', user('x')],
      ['/v1/conversations', {}],
      ['/v1/context/explain', user('x')],
    ] as const) {
      const response = await fetch(host.url + path, {
        method: 'POST',
        headers: { authorization: 'Bearer sk-tests', 'content-encoding': encoding },
        body: pack(JSON.stringify(body)),
      })
      expect(response.status).toBe(415)
      expect(await response.json()).toEqual({
        error: {
          message: `The body of your request is encoded as '${encoding}'. Send it without a content-encoding.`,
          type: 'invalid_request_error',
          param: null,
          code: 'unsupported_content_encoding',
        },
      })
    }
  })

  test('a request with a missing or wrong API key is rejected', async () => {
    expect(await send('/v1/responses', {}, { authorization: '' })).toMatchObject({
      status: 401,
      json: {
        error: {
          code: 'invalid_api_key',
          message: expect.stringContaining('BACKSTORY_KEYS') as string,
        },
      },
    })
    expect((await send('/v1/responses', {}, { authorization: 'Bearer nope' })).status).toBe(401)
  })

  test('a request with any JSON body is answered or rejected, but never fails with status 500', async () => {
    const anything = fc
      .anything({ withNullPrototype: false, maxDepth: 3 })
      .filter((value) => JSON.stringify(value) !== undefined)
    const words = fc.constantFrom(
      'role',
      'content',
      'type',
      'text',
      'tool_calls',
      'tools',
      'name',
      'call_id',
      'stream',
      'output',
    )
    const shaped = fc.dictionary(
      words,
      fc.oneof(anything, fc.constantFrom('user', 'assistant', 'tool', 'function', 'message')),
    )
    const schema = fc.record(
      {
        type: fc.oneof(fc.constantFrom('object', 'array', 'string'), anything),
        properties: fc.oneof(fc.dictionary(words, anything), anything),
        required: fc.oneof(fc.array(words), anything),
        enum: anything,
      },
      { requiredKeys: [] },
    )
    const tool = fc.record({
      type: fc.constant('function'),
      name: fc.constant('f'),
      parameters: fc.oneof(schema, fc.record({ properties: fc.dictionary(words, schema) })),
    })
    const body = fc.oneof(
      fc.record({ model: fc.constant('demo'), input: fc.constant('x'), tools: fc.array(tool) }),
      fc.record({ model: fc.constant('demo'), input: fc.oneof(anything, fc.array(shaped)) }),
      fc.record({ model: fc.constant('demo'), messages: fc.oneof(anything, fc.array(shaped)) }),
      fc.record({
        model: fc.constant('demo'),
        input: fc.constant('x'),
        tools: anything,
        metadata: anything,
        text: anything,
      }),
    )
    await fc.assert(
      fc.asyncProperty(
        body,
        fc.constantFrom('/v1/responses', '/v1/chat/completions', '/v1/context/explain'),
        async (body, path) => {
          const { status, json: answer } = await send(path, body)
          expect([200, 400]).toContain(status)
          if (status === 400) expect(answer.error.message).not.toMatch(/\ban? undefined\b/)
        },
      ),
      { numRuns: 150 },
    )
  })
})
