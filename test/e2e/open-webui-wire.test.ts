/**
 * Requests of Open WebUI with each of its header profiles, and the answers to them: on Node and inside
 * workerd.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startGateway } from '../support/gateway.ts'
import {
  buildHeaders,
  JWT_SECRET,
  NO_POSITION,
  PROFILES,
  type Profile,
} from '../support/open-webui/headers.ts'
import { readShared, sharedExists } from '../support/shared-files.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'
import { answerWith } from '../support/answer-formats.ts'
import { HOSTS, type Host } from './hosts.ts'
import { sampleCases } from '../support/sample.ts'

type Pairs = Readonly<Record<string, string>>

const KEY = 'sk-backstory'
const BARE = { Authorization: `Bearer ${KEY}` }
const OPEN_WEBUI = { ...BARE, 'X-OpenWebUI-Chat-Id': 'c1' }

function pairsFor(profile: Profile, task = ''): Pairs {
  const place = {
    ...NO_POSITION,
    chat: 'c1',
    userMessage: 'u1',
    message: task === '' ? 'a1' : '',
    task,
  }
  return Object.fromEntries(buildHeaders({ profile, key: KEY, user: 'user-1' }, place))
}

/** A user token of the right form with an invalid signature. */
function forged(): Pairs {
  const token = pairsFor('jwt')['X-OpenWebUI-User-Jwt'] ?? ''
  return { ...BARE, 'X-OpenWebUI-User-Jwt': `${token.slice(0, -43)}${'A'.repeat(43)}` }
}

const SAID = {
  reasoning: 'Let me look.',
  text: 'I look it up.',
  calls: [{ id: 'call_a', name: 'look', arguments: '{}' }],
}
const TOOL = { name: 'look', description: 'Looks', parameters: { type: 'object', properties: {} } }
const TITLE = '### Task:\nGenerate a title.\n<chat_history>\nUSER: Q1\nASSISTANT: \n</chat_history>'
const chatOf = (model: string) => ({
  stream: true,
  model,
  messages: [{ role: 'user', content: 'Q1' }],
  tools: [{ type: 'function', function: TOOL }],
})
const responseOf = (model: string) => ({
  stream: true,
  model,
  tools: [{ type: 'function', ...TOOL }],
  input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Q1' }] }],
})

interface Line {
  readonly type?: string
  readonly event?: { readonly type: string }
  readonly usage?: object | null
  readonly choices?: readonly { readonly delta: Readonly<Record<string, unknown>> }[]
  readonly response?: { readonly output?: readonly object[]; readonly status: string }
}

/** Reads a stream as Open WebUI does: each line must be JSON and of limited length. */
function linesOf(text: string): readonly Line[] {
  const lines = text.split('\n').filter((line) => line.startsWith('data: '))
  expect(lines.at(-1)).toBe('data: [DONE]')
  return lines.slice(0, -1).map((line) => {
    expect(Buffer.byteLength(line)).toBeLessThan(64 * 1024)
    const json = JSON.parse(line.slice('data: '.length)) as Line
    for (const name of ['sources', 'selected_model_id']) expect(json).not.toHaveProperty(name)
    // A recorded chat with an unknown marker counts as imported, which a status line says.
    expect(json.event?.type ?? 'status').toBe('status')
    return json
  })
}

describe.each(HOSTS)("Open WebUI's API requests to a gateway on %s", (_, start) => {
  let upstream: Upstream
  let open: Host
  let signing: Host
  beforeAll(async () => {
    upstream = await startUpstream(answerWith(SAID))
    const account = { baseUrl: upstream.url, apiKey: 'sk-upstream' }
    const environment = {
      BACKSTORY_KEYS: `openwebui:${KEY}`,
      UPSTREAMS: JSON.stringify([
        { name: 'c', wire: 'chat', models: ['chat-model'], ...account },
        { name: 'r', wire: 'responses', models: ['responses-model'], ...account },
        { name: 'd', wire: 'demo', models: ['example-model'], quirks: { delayMs: 0 } },
      ]),
    }
    ;[open, signing] = await Promise.all([
      start(environment),
      start({ ...environment, OPEN_WEBUI_JWT_SECRET: JWT_SECRET }),
    ])
  })
  afterAll(async () => {
    await open.close()
    await signing.close()
    await upstream.close()
  })

  const hostFor = (headers: Pairs) => ('X-OpenWebUI-User-Jwt' in headers ? signing : open)
  const post = (path: string, body: unknown, headers: Pairs, host = hostFor(headers)) =>
    fetch(`${host.url}/v1${path}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })

  describe.each(sampleCases(PROFILES, 2))(
    'Open WebUI\'s requests with the identifying headers of the profile "%s"',
    (profile) => {
      const isKnown = profile !== 'bare'
      const headers = pairsFor(profile)

      test('the gateway lists its models for Open WebUI (C126)', async () => {
        const response = await fetch(`${hostFor(headers).url}/v1/models`, { headers })
        const { data } = (await response.json()) as {
          data: readonly Readonly<Record<string, unknown>>[]
        }
        expect(data.map(({ id }) => id)).toEqual(['chat-model', 'responses-model', 'example-model'])
        for (const model of data) expect(model).not.toHaveProperty('pipeline')
      })

      test.each(['chat-model', 'responses-model'])(
        'the model %s answers a chat request of Open WebUI',
        async (model) => {
          const response = await post('/chat/completions', chatOf(model), headers)
          expect(response.headers.get('content-type')).toContain('text/event-stream')
          const lines = linesOf(await response.text())
          const result = lines.flatMap(({ choices = [] }) => choices.map(({ delta }) => delta))
          const joined = (field: string) => result.map((delta) => delta[field] ?? '').join('')
          expect(joined('content')).toContain(SAID.text)
          expect(joined('reasoning_content')).toBe(SAID.reasoning)
          if (!isKnown) return
          const withUsage = lines.filter(({ usage = null }) => usage !== null)
          expect(withUsage).toEqual([expect.objectContaining({ choices: [] })])
        },
      )

      test.each(['chat-model', 'responses-model'])(
        'the model %s answers a Responses request of Open WebUI (C127)',
        async (model) => {
          const response = await post('/responses', responseOf(model), headers)
          const last = linesOf(await response.text()).at(-1)
          expect(last).toMatchObject({
            type: 'response.completed',
            response: { status: 'completed' },
          })
          const output = last?.response?.output ?? []
          expect(output).toContainEqual(
            expect.objectContaining({ type: 'function_call', call_id: 'call_a' }),
          )
          if (isKnown) expect(last?.response).not.toHaveProperty('tools')
        },
      )

      test("Open WebUI's title task is answered with one JSON body", async () => {
        const request = { model: 'chat-model', stream: false, max_tokens: 1000 }
        const messages = [{ role: 'user', content: TITLE }]
        const response = await post(
          '/chat/completions',
          { ...request, messages },
          pairsFor(profile, 'title_generation'),
        )
        const body = (await response.json()) as { choices: [{ message: { content: string } }] }
        expect(body.choices[0].message.content).toBe(SAID.text)
      })
    },
  )

  test('the gateway requests token usage from a chat upstream for Open WebUI', async () => {
    await (await post('/chat/completions', chatOf('chat-model'), OPEN_WEBUI)).text()
    expect(upstream.received.at(-1)?.json['stream_options']).toEqual({ include_usage: true })
  })

  test("the gateway does not make a tool strict if it comes over Open WebUI's Responses connection", async () => {
    const strict = () => {
      const tools = upstream.received.at(-1)?.json['tools'] as { strict?: boolean }[] | undefined
      return tools?.[0]?.strict
    }
    await (await post('/responses', responseOf('responses-model'), OPEN_WEBUI)).text()
    expect(strict()).toBe(false)
    await (await post('/responses', responseOf('responses-model'), BARE)).text()
    expect(strict()).toBeUndefined()
  })

  describe('user headers of Open WebUI that are signed with OPEN_WEBUI_JWT_SECRET', () => {
    const ask = (headers: Pairs) =>
      post('/chat/completions', chatOf('example-model'), headers, signing)

    test('a request of Open WebUI whose user has a missing or invalid signature is rejected (C129)', async () => {
      for (const headers of [BARE, pairsFor('user'), pairsFor('full'), forged()]) {
        const response = await ask(headers)
        expect(response.status).toBe(401)
        expect(await response.json()).toMatchObject({ error: { code: 'invalid_user_signature' } })
      }
      expect((await ask(pairsFor('jwt'))).status).toBe(200)
    })

    test('Open WebUI may list models without a user, but a signature is checked when a connection is verified (C126, C129)', async () => {
      const list = (headers: Pairs) => fetch(`${signing.url}/v1/models`, { headers })
      expect((await list(BARE)).status).toBe(200)
      expect((await list(forged())).status).toBe(401)
    })
  })

  describe('requests that a browser sends directly to the gateway (CORS)', () => {
    const origin = 'https://chat.example.com'
    const allowed = (response: Response) => response.headers.get('access-control-allow-origin')

    test('a CORS preflight request allows the methods and headers that a web page uses', async () => {
      const response = await fetch(`${open.url}/v1/chat/completions`, {
        method: 'OPTIONS',
        headers: {
          origin,
          'access-control-request-method': 'POST',
          'access-control-request-headers': 'authorization,content-type',
        },
      })
      expect(response.status).toBe(204)
      expect(allowed(response)).toBe('*')
      expect(response.headers.get('access-control-allow-headers')).toContain('authorization')
    })

    test('model lists, streams and errors have CORS headers', async () => {
      const list = await fetch(`${open.url}/v1/models`, { headers: { ...BARE, origin } })
      expect([list.status, allowed(list)]).toEqual([200, '*'])
      const stream = await post('/chat/completions', chatOf('example-model'), { ...BARE, origin })
      expect([stream.status, allowed(stream)]).toEqual([200, '*'])
      linesOf(await stream.text())
      const error = await post('/chat/completions', chatOf('example-model'), { origin })
      expect([error.status, allowed(error)]).toEqual([401, '*'])
    })

    test('a request without an `Origin` header gets no CORS headers', async () => {
      expect(allowed(await fetch(`${open.url}/v1/models`, { headers: BARE }))).toBeNull()
    })
  })
})

test('a gateway without API keys sends CORS headers only to pages of the same machine', async () => {
  const gateway = await startGateway()
  const ask = (origin: string, method: string) =>
    fetch(`${gateway.url}/v1/models`, {
      method,
      headers: { origin, 'access-control-request-method': 'GET' },
    })
  const result = async (origin: string, method: string) => {
    const response = await ask(origin, method)
    return [response.status, response.headers.get('access-control-allow-origin')]
  }
  const here = 'http://localhost:3000'
  expect(await result(here, 'OPTIONS')).toEqual([204, here])
  expect(await result(here, 'GET')).toEqual([200, here])
  expect(await result('https://chat.example.com', 'OPTIONS')).toEqual([403, null])
  expect(await result('https://chat.example.com', 'GET')).toEqual([403, null])
  await gateway.close()
})

interface RecordedRequest {
  readonly kind: string
  readonly method: string
  readonly path: string
  readonly headers: readonly [string, string][]
  readonly body: { readonly stream: boolean } | null
}

describe.skipIf(!sharedExists)('requests that were recorded from Open WebUI', () => {
  const recorded = sharedExists
    ? readShared('fixtures/open-webui/requests.jsonl')
        .toString()
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as RecordedRequest)
    : []
  let gateway: Awaited<ReturnType<typeof startGateway>>
  beforeAll(async () => {
    gateway = await startGateway({
      BACKSTORY_KEYS: `openwebui:${KEY}`,
      UPSTREAMS: JSON.stringify([
        { name: 'd', wire: 'demo', models: ['example-model'], quirks: { delayMs: 0 } },
      ]),
    })
  })
  afterAll(() => gateway.close())

  test.each(recorded)(
    'the gateway answers the recorded Open WebUI request "$kind"',
    async ({ method, path, headers, body }) => {
      const sent = headers
        .filter(([name]) => !/^(host|accept-encoding|authorization)$/i.test(name))
        .map(([name, value]): [string, string] => [name.replace('X-Gw-', 'X-Backstory-'), value])
      const response = await fetch(gateway.url + path, {
        method,
        headers: [...sent, ['Authorization', `Bearer ${KEY}`]],
        ...(body === null ? {} : { body: JSON.stringify(body) }),
      })
      expect(response.status).toBe(200)
      const text = await response.text()
      if (body?.stream === true) expect(linesOf(text).length).toBeGreaterThan(2)
      else expect(JSON.parse(text)).toMatchObject({ object: expect.any(String) as string })
    },
  )
})
