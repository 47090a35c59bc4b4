/** What is taken for an Open WebUI that says nothing of itself, and what follows from it. */
import { describe, expect, test } from 'vitest'
import { detectClient } from '../../../src/server/clients/detect-client.ts'
import { looksLikeOpenWebUiRequest } from '../../../src/server/clients/guess-open-webui.ts'
import { DEFAULT_CLIENT_TRAITS } from '../../../src/core/client/client-traits.ts'
import type { JsonObject } from '../../../src/core/json/json.ts'

const AIOHTTP = { 'user-agent': 'Python/3.11 aiohttp/3.13.5' }
const said = (role: string, text: string, type: string): JsonObject => ({
  type: 'message',
  role,
  content: [{ type, text }],
})
const ASKED: JsonObject = {
  stream: true,
  model: 'm',
  tools: [{ type: 'function', name: 'f', parameters: {} }],
  input: [
    said('user', 'R1', 'input_text'),
    said('assistant', 'Calling.', 'output_text'),
    { type: 'function_call', call_id: 'a', name: 'f', arguments: '{}' },
    { type: 'function_call_output', call_id: 'a', output: 'So.' },
  ],
  instructions: 'SYS',
}

test('by its library alone nothing follows but that its lines have to be short', () => {
  const settings = { MARKERS: 'auto', REMEMBER: 'on' } as const
  const known = (headers: Record<string, string>) =>
    detectClient(new Headers(headers), ASKED, settings)
  expect(known(AIOHTTP)).toEqual({ ...DEFAULT_CLIENT_TRAITS, hasShortLines: true })
  for (const agent of ['OpenAI/Python 1.0', 'AsyncOpenAI/Python 1.0', 'curl/8 aiohttp/3.1', '']) {
    expect(known({ 'user-agent': agent })).toEqual(DEFAULT_CLIENT_TRAITS)
  }
})

describe('a request for a response is written as Open WebUI writes it', () => {
  const asks = (body: JsonObject, headers: Record<string, string> = AIOHTTP) =>
    looksLikeOpenWebUiRequest(new Headers(headers), body)

  test('also within a tool loop that names a response', () => {
    expect(asks(ASKED)).toBe(true)
    expect(asks({ ...ASKED, previous_response_id: 'resp_a', reasoning_effort: 'high' })).toBe(true)
  })

  test.each<readonly [string, JsonObject]>([
    ['says what is to be stored', { store: false }],
    ['asks for more', { include: ['reasoning.encrypted_content'] }],
    ['asks in one text', { input: 'R1' }],
    ['writes a message in short', { input: [{ role: 'user', content: 'R1' }] }],
    ['sends items with ids', { input: [{ ...said('user', 'R1', 'input_text'), id: 'msg_1' }] }],
    ['sends reasoning', { input: [{ type: 'reasoning', summary: [] }] }],
  ])('not if it %s', (_, more) => {
    expect(asks({ ...ASKED, ...more })).toBe(false)
  })

  test('not by another library', () => {
    expect(asks(ASKED, {})).toBe(false)
  })
})
