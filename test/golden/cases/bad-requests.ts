/** Requests that the gateway rejects, each with its message, `param` and `code`. */
import type { Body, GoldenCase, GoldenGroup } from '../golden-case.ts'

const user = (content: unknown): Body => ({ model: 'demo', messages: [{ role: 'user', content }] })
const input = (given: unknown, more: Body = {}): Body => ({ model: 'demo', input: given, ...more })

const TO: Readonly<Record<string, readonly (Body | string)[]>> = {
  '/v1/responses': [
    '{"model":',
    '[]',
    '',
    { model: 'demo' },
    { input: 'x' },
    { model: 'nope', input: 'x' },
    input(5),
    input([]),
    input('x', { temperature: -1 }),
    input('x', { temperature: 'hot' }),
    input('x', { previous_response_id: 'resp_nope' }),
    input('x', { previous_response_id: 'resp_01KE70EHG0YEWVNWY240' }),
    input('x', { previous_response_id: 'resp_1', conversation: 'conv_1' }),
    input('x', { conversation: 'conv_nope' }),
    input('x', { stream: 'yes' }),
    input('x', { max_output_tokens: 0 }),
    input('x', { tools: [{ type: 'function' }] }),
    input('x', { tool_choice: { type: 'function', name: 'nobody' } }),
    input('x', { text: { format: { type: 'json_schema', name: 'a b', schema: {} } } }),
    input('x', { backstory: { policy: 'nope' } }),
    input('x', { backstory: { window: { turns: 0 }, outputs: { head: 'x' } } }),
    input('x', { metadata: { a: 1 } }),
    input('x', { background: true, store: false }),
    input([{ role: 'user', content: ['x'] }]),
    input([{ role: 'pope', content: 'x' }]),
    input([{ type: 'function_call_output', output: 'x' }]),
    input([{ type: 'item_reference', id: 'msg_nope' }]),
    input([{ type: 'function_call_output', call_id: 'call_1', output: 'x' }]),
  ],
  '/v1/chat/completions': [
    '{',
    { model: 'demo' },
    { model: 'nope', messages: [] },
    { model: 'demo', messages: [] },
    { model: 'demo', messages: 'x' },
    { model: 'demo', messages: [{ role: 'pope', content: 'x' }] },
    user(['x']),
    user([{ type: 'text', text: {} }]),
    user([{ type: 'image_url', image_url: 'x' }]),
    { ...user('x'), n: 0 },
    { ...user('x'), n: 2, stream: true },
    { ...user('x'), stop: [1] },
    { ...user('x'), tools: 'x' },
    { ...user('x'), max_tokens: -1 },
    { ...user('x'), response_format: { type: 'xml' } },
    { ...user('x'), backstory: { layers: { schema: { $ref: '#' } } } },
    { model: 'demo', messages: [{ role: 'tool', tool_call_id: 'call_1', content: 'x' }] },
    { model: 'demo', messages: [{ role: 'assistant', tool_calls: [{ id: 'a' }] }] },
  ],
  '/v1/context/explain': [{ api: 'nope' }, { model: 'demo' }],
  '/v1/conversations': [{ items: 'x' }, { metadata: 'x' }, { backstory: { policy: 'x' } }],
  '/v1/responses/compact': [{ model: 'demo' }],
  '/v1/memory/facts': [{ text: 5 }, { text: 'A fact of some length.', valid_until: 'soon' }],
}

const PATHS: readonly (readonly [string, string])[] = [
  ['GET', '/v1/responses/resp_nope'],
  ['DELETE', '/v1/responses/resp_nope'],
  ['GET', '/v1/responses/resp_nope/input_items?limit=0'],
  ['GET', '/v1/conversations/conv_nope/items'],
  ['GET', '/v1/chat/completions/chatcmpl-nope'],
  ['GET', '/v1/chat/completions?limit=x'],
  ['GET', '/v1/context/explain/resp_nope'],
  ['GET', '/v1/models/nope'],
  ['GET', '/v1/responses'],
  ['PUT', '/v1/responses'],
  ['POST', '/v1/nowhere'],
  ['GET', '/nowhere'],
]

export const BAD_REQUESTS: GoldenGroup = {
  name: 'bad-requests',
  cases: [
    ...Object.entries(TO).map(([path, bodies]): GoldenCase => ({
      name: `POST ${path}`,
      async play({ send }) {
        for (const body of bodies) await send({ path, body, explained: 'not at all' })
      },
    })),
    {
      name: 'paths that lead nowhere',
      async play({ send }) {
        for (const [method, path] of PATHS) await send({ method, path })
      },
    },
    {
      name: 'a body that is too large',
      settings: { MAX_BODY_MB: '1' },
      play: ({ send }) =>
        send({
          path: '/v1/responses',
          headers: { 'x-backstory-policy': 'replay' },
          body: `{"model": "demo"${' '.repeat(1_100_000)}}`,
        }),
    },
    {
      name: 'headers that cannot be meant',
      async play({ send }) {
        const body = input('x')
        const path = '/v1/responses'
        const explained = 'not at all'
        await send({ path, body, explained, headers: { 'x-backstory-policy': 'nope' } })
        await send({ path, body, explained, headers: { 'x-backstory-unsupported': 'nope' } })
        await send({ path, body, explained, headers: { origin: 'https://example.com' } })
      },
    },
    {
      name: 'a signature of Open WebUI that is missing or wrong',
      settings: { OPEN_WEBUI_JWT_SECRET: 'a secret that both sides know' },
      async play({ send }) {
        const request = { path: '/v1/chat/completions', body: user('x') }
        const explained = 'not at all'
        await send({ ...request, explained })
        await send({ ...request, explained, headers: { 'x-openwebui-user-jwt': 'a.b.c' } })
      },
    },
  ],
}
