/** Encodes the items of a prompt as `input`, with notes for changes. */
import { describe, expect, test } from 'vitest'
import type { Item, Origin } from '../../../../src/core/item.ts'
import type { JsonObject } from '../../../../src/core/json/json.ts'
import type { Prompt } from '../../../../src/core/prompt.ts'
import { encodeRequest } from '../../../../src/providers/openai-responses/request/encode-request.ts'
import { openaiResponses } from '../../../../src/providers/openai-responses/openai-responses.ts'
import {
  ACCOUNT,
  accountWith,
  ASK,
  chatPrompt,
  parseBody,
  promptOf,
} from '../../../support/responses-kit.ts'
import { talk } from '../../../support/talk.ts'

const HERE: Origin = { wire: 'responses', account: 'openai', model: 'gpt-5', prefixHash: null }

interface Sent {
  readonly input: readonly JsonObject[]
  readonly notes: readonly unknown[]
}

/** Encodes items from the store, for a client that does not set `store`. */
function encodeStored(
  items: readonly Item[],
  body: JsonObject = ASK,
  quirks: JsonObject = {},
): Sent {
  return encode(promptOf(parseBody(body), items), quirks)
}

/** Encodes items that a client with `store: false` sent itself. */
function encodeStateless(items: readonly Item[], quirks: JsonObject = {}): Sent {
  const clientRequest = { ...parseBody({ ...ASK, store: false }), items }
  // Another value of `stream` prevents that the bytes are sent unchanged.
  return encode({ ...promptOf(clientRequest), stream: true }, quirks)
}

function encode(prompt: Prompt, quirks: JsonObject): Sent {
  const encoded = encodeRequest(prompt, accountWith(quirks))
  return {
    input: encoded.body['input'] as readonly JsonObject[],
    notes: encoded.notes.map(({ did, at, why }) => [did, at, why]),
  }
}

describe('unchanged bytes of a Responses client', () => {
  const STATELESS = { ...ASK, store: false }

  test("a Responses client's own bytes are sent if the gateway changes nothing", () => {
    const clientRequest = parseBody({
      ...STATELESS,
      stream: true,
      include: ['reasoning.encrypted_content'],
      future: { a: 1 },
      input: [
        { role: 'user', content: 'go' },
        { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'e' },
        { type: 'function_call', id: 'fc_1', call_id: 'c', name: 'f', arguments: '{}' },
        { type: 'function_call_output', call_id: 'c', output: 'x' },
      ],
    })
    const encoded = encodeRequest(promptOf(clientRequest), ACCOUNT)
    const { body } = clientRequest
    const bytes = clientRequest.bytes()
    expect(encoded).toEqual({ path: '/responses', body, bytes, notes: [] })
    expect(encoded.bytes).toBe(bytes)
  })

  test.each([
    ['`store: false` is missing', ASK],
    ['it has a previous response', { ...STATELESS, previous_response_id: 'resp_1' }],
    ['its previous response id is empty', { ...STATELESS, previous_response_id: '' }],
    ['it belongs to a conversation', { ...STATELESS, conversation: 'conv_1' }],
    ['it sets `background`', { ...STATELESS, background: false }],
    ['it has a field of Chat Completions', { ...STATELESS, reasoning_effort: 'low' }],
    ['its token limit is below the minimum', { ...STATELESS, max_output_tokens: 1 }],
    ['it includes `reasoning.raw`', { ...STATELESS, include: ['reasoning.raw'] }],
    [
      'a call id is too long',
      {
        ...STATELESS,
        input: [{ type: 'function_call', call_id: 'c'.repeat(65), name: 'f', arguments: '' }],
      },
    ],
    [
      'the tool choice is nested as in Chat Completions',
      { ...STATELESS, tool_choice: { type: 'function', function: { name: 'f' } } },
    ],
    [
      'the instructions are a list',
      { ...STATELESS, instructions: [{ role: 'developer', content: 'x' }] },
    ],
  ])("a Responses client's own bytes are not sent if %s", (_why, body) => {
    expect(encodeRequest(promptOf(parseBody(body)), ACCOUNT).body).not.toBeInstanceOf(Uint8Array)
  })

  test("a Responses client's own bytes are not sent if items or parameters were changed", () => {
    const clientRequest = parseBody(STATELESS)
    const items = [...clientRequest.items]
    const params = { ...clientRequest.params, model: 'gpt-5-mini' }
    expect(encodeRequest(promptOf(clientRequest, items), ACCOUNT).body).not.toBeInstanceOf(
      Uint8Array,
    )
    expect(
      encodeRequest(promptOf(clientRequest, clientRequest.items, params), ACCOUNT).body,
    ).toMatchObject({
      model: 'gpt-5-mini',
    })
  })

  test("a Responses client's own bytes are not sent if `stream` is changed", () => {
    const prompt = { ...promptOf(parseBody(STATELESS)), stream: true }
    expect(encodeRequest(prompt, ACCOUNT).body).toMatchObject({ stream: true })
  })
})

describe('items in Responses requests', () => {
  test('unchanged items are sent to Responses upstreams as the same objects, without `native` and `origin` (C10)', () => {
    const fine = parseBody({
      ...ASK,
      input: [
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'a' }], x: 1 },
      ],
    }).items
    const call: Item = {
      type: 'function_call',
      call_id: 'c',
      name: 'f',
      arguments: '{}',
      native: { gemini: { thoughtSignature: 'x' } },
      origin: HERE,
    }
    const { input, notes } = encodeStored([...fine, call])
    expect(input[0]).toBe(fine[0])
    expect(input[1]).toEqual({ type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' })
    expect(notes).toEqual([])
  })

  test('items are sent to Responses upstreams in their order', () => {
    const items = talk`
      user: weather?
      sealed: hm
      call a weather {}
      output a 4 degrees
      custom b grep foo
      custom-output b foo.ts
      assistant: 4 degrees
    `
    expect(encodeStored(items).input).toEqual(items)
  })

  test('items are sent to Responses upstreams with their `phase`', () => {
    const [message] = talk`assistant: soon`
    const item = { ...message, phase: 'commentary' } as Item
    expect(encodeStored([item]).input).toEqual([item])
  })
})

describe('item ids in Responses requests', () => {
  const items: readonly Item[] = [
    { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'e' },
    {
      type: 'message',
      id: 'msg_1',
      role: 'assistant',
      content: [{ type: 'output_text', text: 'a' }],
    },
    { type: 'function_call', id: 'fc_1', call_id: 'c', name: 'f', arguments: '{}' },
    { type: 'function_call_output', id: 'fco_1', call_id: 'c', output: 'x' },
    { type: 'opaque', raw: { type: 'web_search_call', id: 'ws_1' } },
    { type: 'opaque', raw: { type: 'mcp_call', id: 'mcp_1' } },
  ]

  test('the ids of all items are removed from a Responses request, because the upstream stores nothing (C10)', () => {
    const { input, notes } = encodeStored(items)
    expect(input.map(({ id }) => id)).toEqual([...items.slice(1).map(() => undefined), 'mcp_1'])
    expect(notes).toEqual([0, 1, 2, 3, 4].map((at) => ['changed', at, 'id-of-stored-item']))
  })

  test('items that a Responses client with `store: false` sends keep their ids', () => {
    const { input, notes } = encodeStateless(items)
    expect(input.map(({ id }) => id)).toEqual(['rs_1', 'msg_1', 'fc_1', 'fco_1', 'ws_1', 'mcp_1'])
    expect(notes).toEqual([])
  })

  test('stored items lose their ids in a Responses request, also for a client with `store: false`', () => {
    const recorded = items.map((item) => ({ ...item, origin: HERE }))
    expect(encodeStored(recorded, { ...ASK, store: false }).input.slice(0, 4)).toMatchObject(
      items.slice(0, 4).map(({ id: _id, ...item }) => item),
    )
  })
})

describe('reasoning in Responses requests', () => {
  const encrypted: Item = { type: 'reasoning', summary: [], encrypted_content: 'e' }
  const raw: Item = {
    type: 'reasoning',
    summary: [],
    content: [{ type: 'reasoning_text', text: 'hm' }],
  }
  const otherAccount: Origin = { ...HERE, account: 'azure' }
  const claude: Origin = { ...HERE, wire: 'anthropic' }

  test.each<[string, Item, JsonObject, string | null]>([
    ['encrypted by this account', { ...encrypted, origin: HERE }, {}, null],
    ['encrypted by an unknown account', encrypted, {}, null],
    [
      'encrypted by another account',
      { ...encrypted, origin: otherAccount },
      {},
      'reasoning-made-elsewhere',
    ],
    [
      'packed by the gateway for another provider',
      { ...encrypted, encrypted_content: 'anthropic:thinking:x:y' },
      {},
      'reasoning-made-elsewhere',
    ],
    [
      'encrypted by another provider',
      { ...encrypted, origin: claude },
      {},
      'reasoning-made-elsewhere',
    ],
    ['plain text of this account', { ...raw, origin: HERE }, {}, null],
    ['plain text of another account', { ...raw, origin: otherAccount }, {}, 'reasoning-not-sealed'],
    ['plain text of an unknown account', raw, {}, 'reasoning-not-sealed'],
    ['plain text for an upstream that accepts it', raw, { rawReasoning: true }, null],
    [
      'an id without content',
      { type: 'reasoning', id: 'rs_1', summary: [] },
      {},
      'reasoning-not-sealed',
    ],
    [
      'empty encrypted content',
      { ...encrypted, encrypted_content: '' },
      {},
      'reasoning-not-sealed',
    ],
  ])(
    'reasoning is sent in a Responses request only if the upstream can read it: %s',
    (_name, item, quirks, why) => {
      const { input, notes } = encodeStored([item], ASK, quirks)
      expect(input).toHaveLength(why === null ? 1 : 0)
      expect(notes).toEqual(why === null ? [] : [['dropped', 0, why]])
    },
  )

  test.each<[string, Item, boolean]>([
    ['encrypted', { ...encrypted, id: 'rs_1' }, true],
    ['plain text', { ...raw, id: 'rs_1' }, true],
    ['only a summary', { type: 'reasoning', id: 'rs_1', summary: [] }, false],
  ])(
    'reasoning of a Responses client with `store: false` is sent only if the upstream can read it: %s',
    (_name, item, isSent) => {
      expect(encodeStateless([item]).input).toEqual(isSent ? [item] : [])
    },
  )
})

test.each<[string, Item]>([
  ['its origin', { type: 'opaque', raw: { type: 'x' }, origin: { ...HERE, wire: 'anthropic' } }],
  ['its type', { type: 'opaque', raw: { type: 'gemini:part' } }],
])(
  'an item that only another provider understands, as %s shows, is not sent to Responses upstreams',
  (_how, item) => {
    const { input, notes } = encodeStored([item])
    expect([input, notes]).toEqual([[], [['dropped', 0, 'item-of-another-wire']]])
  },
)

test('a long call_id is shortened in a Responses request, in the call and in its output (C10)', () => {
  const [one, other] = ['x'.repeat(70), `${'x'.repeat(69)}y`]
  const { input, notes } = encodeStored(talk`
    call ${one} f {}
    call ${other} f {}
    output ${one} a
    output ${other} b
  `)
  const ids = input.map((item) => item['call_id'] as string)
  expect(ids.every((id) => id.length <= 64)).toBe(true)
  expect([ids[2], ids[3]]).toEqual([ids[0], ids[1]])
  expect(ids[0]).not.toBe(ids[1])
  expect(notes).toEqual([0, 1, 2, 3].map((at) => ['changed', at, 'call-id-shortened']))
})

describe('content parts in Responses requests', () => {
  const image = { type: 'input_image', image_url: 'data:image/png;base64,AA' } as const
  const input = { type: 'input_text', text: 'a' } as const
  const output = { type: 'output_text', text: 'a' } as const

  test('text parts in a Responses request get the type that belongs to their role', () => {
    const items: readonly Item[] = [
      { type: 'message', role: 'assistant', content: [input] },
      { type: 'message', role: 'user', content: [output, { type: 'refusal', refusal: 'no' }] },
      { type: 'function_call_output', call_id: 'c', output: [output, image] },
    ]
    const { input: sentItems, notes } = encodeStored(items)
    expect(sentItems.map(({ content, output }) => content ?? output)).toEqual([
      [output],
      [input, { type: 'input_text', text: 'no' }],
      [input, image],
    ])
    expect(notes).toEqual([0, 1, 2].map((at) => ['changed', at, 'part-renamed']))
  })

  test('images are dropped from assistant messages in a Responses request', () => {
    const { input: sentItems, notes } = encodeStored([
      { type: 'message', role: 'assistant', content: [output, image] },
      { type: 'message', role: 'assistant', content: [image] },
    ])
    expect(sentItems.map(({ content }) => content)).toEqual([
      [output],
      [{ type: 'output_text', text: '' }],
    ])
    expect(notes).toEqual([0, 1].map((at) => ['dropped', at, 'media-of-assistant']))
  })

  test('message parts of unknown types are sent to Responses upstreams only for a Responses client', () => {
    const video = { type: 'input_video', video_url: 'x' }
    const item: Item = {
      type: 'message',
      role: 'user',
      content: [input, { type: 'opaque', raw: video }],
    }
    expect(encodeStored([item]).input).toMatchObject([{ content: [input, video] }])
    const { body, notes } = encodeRequest(chatPrompt([item]), ACCOUNT)
    const text = '[Gateway notice: Something (input_video) was here, which cannot be shown.]'
    expect(body).toMatchObject({ input: [{ content: [input, { type: 'input_text', text }] }] })
    expect(notes).toMatchObject([{ did: 'dropped', at: 0, why: 'part-without-word' }])
    const own: Item = {
      ...item,
      role: 'assistant',
      content: [output, { type: 'opaque', raw: video }],
    }
    expect(encodeRequest(chatPrompt([own]), ACCOUNT).body).toMatchObject({
      input: [{ content: [output] }],
    })
  })
})

test('the API key of a Responses account is sent as a bearer token', () => {
  expect(openaiResponses.createHeaders(ACCOUNT)).toEqual({ authorization: 'Bearer sk-1' })
  expect(openaiResponses.createHeaders({ ...ACCOUNT, apiKey: null })).toEqual({})
})
