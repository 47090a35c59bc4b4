/** Guesses that a client without Open WebUI's headers is Open WebUI, and adapts little for it. */
import { describe, expect, test } from 'vitest'
import { detectClient } from '../../../src/server/clients/detect-client.ts'
import { looksLikeOpenWebUiRequest } from '../../../src/server/clients/guess-open-webui-without-headers.ts'
import { DEFAULT_CLIENT_TRAITS } from '../../../src/core/client/client-traits.ts'
import type { JsonObject } from '../../../src/core/json/json.ts'

const AIOHTTP = { 'user-agent': 'Python/3.11 aiohttp/3.13.5' }
const message = (role: string, text: string, type: string): JsonObject => ({
  type: 'message',
  role,
  content: [{ type, text }],
})
const REQUEST: JsonObject = {
  stream: true,
  model: 'm',
  tools: [{ type: 'function', name: 'f', parameters: {} }],
  input: [
    message('user', 'R1', 'input_text'),
    message('assistant', 'Calling.', 'output_text'),
    { type: 'function_call', call_id: 'a', name: 'f', arguments: '{}' },
    { type: 'function_call_output', call_id: 'a', output: 'So.' },
  ],
  instructions: 'SYS',
}

test('a client that uses the HTTP library aiohttp gets short lines, and no other adaptation', () => {
  const settings = { MARKERS: 'auto', REMEMBER: 'on' } as const
  const detect = (headers: Record<string, string>) =>
    detectClient(new Headers(headers), REQUEST, settings)
  expect(detect(AIOHTTP)).toEqual({ ...DEFAULT_CLIENT_TRAITS, dropsLongLines: true })
  for (const agent of ['OpenAI/Python 1.0', 'AsyncOpenAI/Python 1.0', 'curl/8 aiohttp/3.1', '']) {
    expect(detect({ 'user-agent': agent })).toEqual(DEFAULT_CLIENT_TRAITS)
  }
})

describe('recognizing a Responses request of Open WebUI', () => {
  const matches = (body: JsonObject, headers: Record<string, string> = AIOHTTP) =>
    looksLikeOpenWebUiRequest(new Headers(headers), body)

  test('a Responses request of Open WebUI without its headers is recognized, with and without previous_response_id', () => {
    expect(matches(REQUEST)).toBe(true)
    expect(matches({ ...REQUEST, previous_response_id: 'resp_a', reasoning_effort: 'high' })).toBe(
      true,
    )
  })

  test.each<readonly [string, JsonObject]>([
    ['sets store', { store: false }],
    ['sets include', { include: ['reasoning.encrypted_content'] }],
    ['has a string as input', { input: 'R1' }],
    ['has a message without a type', { input: [{ role: 'user', content: 'R1' }] }],
    ['sends items with ids', { input: [{ ...message('user', 'R1', 'input_text'), id: 'msg_1' }] }],
    ['sends reasoning', { input: [{ type: 'reasoning', summary: [] }] }],
  ])("a request is not recognized as Open WebUI's if it %s", (_, more) => {
    expect(matches({ ...REQUEST, ...more })).toBe(false)
  })

  test("a request that does not come from the HTTP library aiohttp is not recognized as Open WebUI's", () => {
    expect(matches(REQUEST, {})).toBe(false)
  })
})
