/** Checks that the test services reject what the real ones reject, because other tests rely on it. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { JsonObject } from '../../src/core/json/json.ts'
import { startServices, type Services } from './services/start-services.ts'

let services: Services
beforeAll(async () => void (services = await startServices()))
afterAll(() => services.close())

const KEYS = {
  authorization: 'Bearer sk-upstream',
  'x-api-key': 'sk-upstream',
  'x-goog-api-key': 'sk-upstream',
  'anthropic-version': '2023-06-01',
}

async function send(path: string, body: object, headers: Record<string, string> = KEYS) {
  const response = await fetch(services.url + path, {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
  })
  return { status: response.status, json: (await response.json()) as JsonObject }
}

const go = { role: 'user', content: 'go' }
const claude = { model: 'claude-sonnet-5', max_tokens: 2000 }
const goBlocks = { role: 'user', content: [{ type: 'text', text: 'go' }] }
const goParts = { role: 'user', parts: [{ text: 'go' }] }
const FLASH = '/models/gemini-3.8-flash:generateContent'

test.each([
  ['/chat/completions', { model: 'm', messages: [go] }, /Incorrect API key/],
  ['/responses', { model: 'gpt-5', input: [go] }, /Incorrect API key/],
  ['/messages', { ...claude, messages: [goBlocks] }, /invalid x-api-key/],
  [FLASH, { contents: [goParts] }, /API key not valid/],
])('the simulated service at %s rejects a request without a key', async (path, body, message) => {
  const { status, json } = await send(path, body, {})
  expect(status).toBeGreaterThanOrEqual(400)
  expect((json['error'] as JsonObject)['message']).toMatch(message)
})

const call = { id: 'c', type: 'function', function: { name: 'look', arguments: '{}' } }
const calling = { role: 'assistant', content: null, tool_calls: [call] }
const answered = { role: 'tool', tool_call_id: 'c', content: 'fog' }

test.each([
  ['/chat/completions', { model: 'm', messages: [go, calling] }, /no answer to c/],
  [
    '/chat/completions',
    { model: 'deepseek-x', messages: [go, calling, answered] },
    /Missing `reasoning_content`/,
  ],
  ['/chat/completions', { model: 'strict-x', messages: [go, go] }, /must alternate/],
  [
    '/chat/completions',
    {
      model: 'v/m',
      messages: [
        { role: 'assistant', content: 'so', reasoning_details: [{ text: 'a', signature: 'b' }] },
      ],
    },
    /Invalid `signature`/,
  ],
  [
    '/responses',
    {
      model: 'gpt-5',
      store: false,
      input: [
        { type: 'reasoning', summary: [], encrypted_content: 'anything' },
        { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'so' }] },
      ],
    },
    /could not be verified/,
  ],
  ['/messages', { ...claude, messages: [goBlocks, goBlocks] }, /roles must alternate/],
  [
    '/messages',
    {
      ...claude,
      messages: [
        goBlocks,
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'Hm', signature: 'mine' },
            { type: 'text', text: 'so' },
          ],
        },
        goBlocks,
      ],
    },
    /Invalid `signature`/,
  ],
  [
    FLASH,
    {
      contents: [
        goParts,
        { role: 'model', parts: [{ functionCall: { name: 'look', args: {} } }] },
        { role: 'user', parts: [{ functionResponse: { name: 'look', response: {} } }] },
      ],
      tools: [{ functionDeclarations: [{ name: 'look' }] }],
    },
    /missing a thought_signature/,
  ],
  [
    FLASH,
    {
      contents: [
        goParts,
        { role: 'model', parts: [{ text: 'so', thoughtSignature: 'mine' }] },
        goParts,
      ],
    },
    /Corrupted thought signature/,
  ],
])('the simulated service at %s rejects an invalid request', async (path, body, message) => {
  const before = services.refusals.length
  const { status, json } = await send(path, body)
  expect(status).toBe(400)
  expect((json['error'] as JsonObject)['message']).toMatch(message)
  expect(services.refusals).toHaveLength(before + 1)
})

test('the simulated latest Claude accepts its thinking in the same conversation only', async () => {
  const opus = { ...claude, model: 'claude-opus-5-5' }
  const { json } = await send('/messages', { ...opus, messages: [goBlocks] })
  const said = { role: 'assistant', content: json['content'] }
  const own = await send('/messages', { ...opus, messages: [goBlocks, said, goBlocks] })
  expect(own.status).toBe(200)
  const system = [{ type: 'text', text: 'Be brief.' }]
  const other = await send('/messages', { ...opus, system, messages: [goBlocks, said, goBlocks] })
  expect(other).toMatchObject({ status: 400, json: { error: { type: 'invalid_request_error' } } })
})

/** Sends an answer back with a second request, which may differ in body, key and model. */
async function continueMessages(
  model: string,
  changed: object = {},
  key = 'sk-upstream',
  then = model,
) {
  const { json } = await send('/messages', { ...claude, model, messages: [goBlocks] })
  const said = { role: 'assistant', content: json['content'] }
  const body = { ...claude, model: then, messages: [goBlocks, said, goBlocks], ...changed }
  return send('/messages', body, { ...KEYS, 'x-api-key': key })
}

test.each([
  ['claude-sonnet-5-5', 400],
  ['claude-haiku-5-5', 400],
  ['claude-opus-5-5', 200],
  ['claude-sonnet-5', 200],
])('thinking of the simulated %s gets status %i in another account', async (model, status) => {
  expect((await continueMessages(model, {}, 'sk-upstream-another')).status).toBe(status)
})

test.each([
  ['claude-opus-5-5', 'claude-fable-5-1', 0],
  ['claude-fable-5-1', 'claude-opus-5-5', 1],
  ['claude-sonnet-5-5', 'claude-sonnet-5', 1],
  ['claude-opus-4-6', 'claude-sonnet-5', 0],
])(
  'thinking of the simulated %s that is sent to %s is skipped %i times, without an error',
  async (from, to, times) => {
    services.dropped.splice(0)
    expect((await continueMessages(from, {}, 'sk-upstream', to)).status).toBe(200)
    expect(services.dropped).toHaveLength(times)
  },
)

test('cache marks do not invalidate thinking of the simulated Claude', async () => {
  const text = { type: 'text', text: 'go', cache_control: { type: 'ephemeral' } }
  const opus = { ...claude, model: 'claude-opus-5-5' }
  const { json } = await send('/messages', { ...opus, messages: [goBlocks] })
  const said = { role: 'assistant', content: json['content'] }
  const messages = [{ role: 'user', content: [text] }, said, goBlocks]
  expect((await send('/messages', { ...opus, messages })).status).toBe(200)
})

const asked = { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'go' }] }
const sealed = { store: false, include: ['reasoning.encrypted_content'] }

async function continueResponse(model: string, before: object, key = 'sk-upstream') {
  const { json } = await send('/responses', { model, ...sealed, input: [asked] })
  const input = [before, ...(json['output'] as JsonObject[]), asked]
  const headers = { ...KEYS, authorization: `Bearer ${key}` }
  return send('/responses', { model, ...sealed, input }, headers)
}

test('the simulated OpenAI service rejects reasoning that was encrypted for another organization', async () => {
  expect((await continueResponse('gpt-5', asked)).status).toBe(200)
  const { status, json } = await continueResponse('gpt-5', asked, 'sk-upstream-another')
  expect(status).toBe(400)
  expect(json).toMatchObject({ error: { code: 'invalid_encrypted_content' } })
})

test.each([
  ['gpt-5', 'other words', 0],
  ['gpt-5.6', 'other words', 1],
  ['gpt-5.6', 'go', 0],
])(
  'the simulated %s, after an earlier message changed to "%s", skips %i reasoning items',
  async (model, text, times) => {
    services.dropped.splice(0)
    const before = { ...asked, content: [{ type: 'input_text', text }] }
    expect((await continueResponse(model, before)).status).toBe(200)
    expect(services.dropped).toHaveLength(times)
  },
)
