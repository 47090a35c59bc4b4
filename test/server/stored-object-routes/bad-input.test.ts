/** Invalid requests for stored data get a status, a code, the name of the field, and a helpful message. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startGateway } from '../../support/gateway.ts'
import { DEMO } from './databases.ts'

const unknownId = '00000000000000000000'
let gateway: Awaited<ReturnType<typeof startGateway>>
let response: string
let conversation: string
let chat: string
beforeAll(async () => {
  gateway = await startGateway(DEMO)
  const { openai } = gateway
  response = (await openai.responses.create({ model: 'demo', input: 'x' })).id
  conversation = (await openai.conversations.create()).id
  const messages = [{ role: 'user' as const, content: 'x' }]
  chat = (await openai.chat.completions.create({ model: 'demo', store: true, messages })).id
})
afterAll(() => gateway.close())

type Refusal = readonly [status: number, code: string | null, param: string | null, says: RegExp]

async function expectRejection(method: string, path: string, body: unknown, refusal: Refusal) {
  const [status, code, param, says] = refusal
  const named = path
    .replace('RESPONSE', response)
    .replace('CONVERSATION', conversation)
    .replace('CHAT', chat)
  const answer = await fetch(`${gateway.url}/v1${named}`, {
    method,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const { error } = (await answer.json()) as { error: { message: string } }
  expect({ status: answer.status, ...error }).toMatchObject({ status, code, param })
  expect(error).toMatchObject({ type: 'invalid_request_error' })
  expect(error.message).toMatch(says)
}

describe.each([
  '/responses/RESPONSE/input_items',
  '/conversations/CONVERSATION/items',
  '/chat/completions',
  '/chat/completions/CHAT/messages',
])('paging parameters of %s', (path) => {
  test.each<[string, ...Refusal]>([
    ['limit=0', 400, 'integer_below_min_value', 'limit', />= 1, but got 0/],
    ['limit=101', 400, 'integer_above_max_value', 'limit', /<= 100, but got 101/],
    ['limit=x', 400, 'invalid_type', 'limit', /expected an integer/],
    ['limit=', 400, 'invalid_type', 'limit', /expected an integer/],
    ['limit=1.5', 400, 'invalid_type', 'limit', /expected an integer/],
    ['order=sideways', 400, 'invalid_value', 'order', /'sideways'.*'asc', 'desc'/],
    ['after=unknown', 400, 'invalid_value', 'after', /there is no 'unknown' in this list/],
  ])('a list of stored objects with the query %s is rejected', async (query, ...refusal) => {
    await expectRejection('GET', `${path}?${query}`, undefined, refusal)
  })
})

const NO_RESPONSE = /^Response with id '.*' not found\.$/
const NO_CONVERSATION = /^Conversation with id '.*' not found\.$/
const NO_ITEM = /^Item with id '.*' not found\.$/
const NO_CHAT = /^Chat completion with id '.*' not found\.$/

test.each<[string, string, ...Refusal]>([
  ['GET', '/responses/foo', 400, 'invalid_value', 'response_id', /'foo'.*begins with 'resp'/],
  ['DELETE', '/responses/msg_1', 400, 'invalid_value', 'response_id', /begins with 'resp'/],
  ['GET', '/responses/foo/input_items', 400, 'invalid_value', 'response_id', /begins with 'resp'/],
  ['GET', `/responses/resp_${unknownId}`, 404, null, null, NO_RESPONSE],
  ['GET', '/responses/resp_', 404, null, null, NO_RESPONSE],
  ['DELETE', `/responses/resp_${unknownId}`, 404, null, null, NO_RESPONSE],
  ['GET', `/responses/resp_${unknownId}/input_items`, 404, null, null, NO_RESPONSE],
  ['GET', '/conversations/foo', 400, 'invalid_value', 'conversation_id', /begins with 'conv'/],
  [
    'GET',
    '/conversations/foo/items',
    400,
    'invalid_value',
    'conversation_id',
    /begins with 'conv'/,
  ],
  ['GET', `/conversations/conv_${unknownId}`, 404, null, null, NO_CONVERSATION],
  ['DELETE', `/conversations/conv_${unknownId}`, 404, null, null, NO_CONVERSATION],
  ['GET', `/conversations/conv_${unknownId}/items`, 404, null, null, NO_CONVERSATION],
  ['GET', `/conversations/conv_${unknownId}/items/msg_1`, 404, null, null, NO_CONVERSATION],
  ['GET', '/conversations/CONVERSATION/items/msg_1', 404, null, null, NO_ITEM],
  ['DELETE', '/conversations/CONVERSATION/items/msg_1', 404, null, null, NO_ITEM],
  ['GET', '/chat/completions/foo', 404, null, null, NO_CHAT],
  ['GET', `/chat/completions/chatcmpl-${unknownId}`, 404, null, null, NO_CHAT],
  ['DELETE', `/chat/completions/chatcmpl-${unknownId}`, 404, null, null, NO_CHAT],
  ['GET', `/chat/completions/chatcmpl-${unknownId}/messages`, 404, null, null, NO_CHAT],
])('the request %s %s for a stored object is rejected', async (method, path, ...refusal) => {
  await expectRejection(method, path, undefined, refusal)
})

const pairs = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [at, 'x']))
const many = Array.from({ length: 21 }, () => ({ role: 'user', content: 'x' }))

test.each<[string, object, ...Refusal]>([
  ['/conversations', { metadata: 'x' }, 400, 'invalid_type', 'metadata', /expected an object/],
  [
    '/conversations',
    { metadata: pairs(17) },
    400,
    'object_above_max_properties',
    'metadata',
    /at most 16 properties/,
  ],
  [
    '/conversations',
    { metadata: { ['k'.repeat(65)]: 'v' } },
    400,
    'string_above_max_length',
    'metadata',
    /maximum length 64/,
  ],
  [
    '/conversations',
    { metadata: { k: 'v'.repeat(513) } },
    400,
    'string_above_max_length',
    'metadata.k',
    /maximum length 512/,
  ],
  [
    '/conversations',
    { items: many },
    400,
    'array_above_max_length',
    'items',
    /maximum length 20.*21/,
  ],
  ['/conversations', { items: 'x' }, 400, 'invalid_type', 'items', /expected an array/],
  [
    '/conversations',
    { items: [{ role: 'nobody' }] },
    400,
    'invalid_value',
    'items[0].role',
    /nobody/,
  ],
  ...['/conversations', '/conversations/CONVERSATION/items'].map(
    (path): [string, object, ...Refusal] => [
      path,
      { items: [{ type: 'message', content: 'x' }] },
      400,
      'missing_required_parameter',
      'items[0].role',
      /^Missing required parameter: `items\[0\]\.role`\.$/,
    ],
  ),
  ...[
    '/responses',
    '/responses/compact',
    '/responses/input_tokens',
    '/context/explain',
    '/context/summarize',
  ].map((path): [string, object, ...Refusal] => [
    path,
    { model: 'demo', input: [{ type: 'message', content: 'x' }] },
    400,
    'missing_required_parameter',
    'input[0].role',
    /^Missing required parameter: `input\[0\]\.role`\.$/,
  ]),
  ['/conversations/CONVERSATION', {}, 400, 'missing_required_parameter', 'metadata', /metadata/],
  ['/conversations/CONVERSATION/items', {}, 400, 'missing_required_parameter', 'items', /items/],
  [
    '/conversations/CONVERSATION/items',
    { items: many },
    400,
    'array_above_max_length',
    'items',
    /21/,
  ],
  [
    '/conversations/CONVERSATION/items',
    { items: [{ type: 'item_reference', id: 'msg_x' }] },
    404,
    null,
    'input',
    /'msg_x' not found.*send the item itself/,
  ],
  [`/conversations/conv_${unknownId}`, { metadata: {} }, 404, null, null, NO_CONVERSATION],
  [
    `/conversations/conv_${unknownId}/items`,
    { items: many.slice(1) },
    404,
    null,
    null,
    NO_CONVERSATION,
  ],
  ['/chat/completions/CHAT', {}, 400, 'missing_required_parameter', 'metadata', /metadata/],
  ['/chat/completions/CHAT', { metadata: { a: 1 } }, 400, 'invalid_type', 'metadata.a', /a string/],
  [
    '/responses',
    { model: 'demo', input: 'x', conversation: `conv_${unknownId}` },
    404,
    null,
    'conversation',
    NO_CONVERSATION,
  ],
  [
    '/responses',
    { model: 'demo', input: 'x', conversation: `conv_${unknownId}`, store: false },
    404,
    null,
    'conversation',
    NO_CONVERSATION,
  ],
  [
    '/responses',
    { model: 'demo', input: 'x', conversation: 'foo' },
    400,
    'invalid_value',
    'conversation',
    /begins with 'conv'/,
  ],
  [
    '/responses',
    {
      model: 'demo',
      input: 'x',
      conversation: `conv_${unknownId}`,
      previous_response_id: 'resp_x',
    },
    400,
    'mutually_exclusive_parameters',
    'previous_response_id',
    /^Mutually exclusive parameters/,
  ],
  [
    '/responses',
    { model: 'demo', input: 'x', previous_response_id: `resp_${unknownId}` },
    400,
    'previous_response_not_found',
    'previous_response_id',
    /^Previous response with id '.*' not found\.$/,
  ],
])('the request POST %s with %j is rejected', async (path, body, ...refusal) => {
  await expectRejection('POST', path, body, refusal)
})

test('a request for a stored object with a body that is not JSON is rejected', async () => {
  const answer = await fetch(`${gateway.url}/v1/conversations`, { method: 'POST', body: '{' })
  expect(answer.status).toBe(400)
  expect(await answer.json()).toMatchObject({ error: { code: 'invalid_json' } })
})
