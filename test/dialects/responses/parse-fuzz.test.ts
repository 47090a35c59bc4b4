/** Property tests: any JSON object is parsed, or rejected with the path of the fault. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../src/core/json/json.ts'
import { GatewayError } from '../../../src/core/errors/gateway-error.ts'
import { parseBody } from '../../support/responses-kit.ts'
import { readShared, sharedExists } from '../../support/shared-files.ts'

function expectParsedOrRejected(body: JsonObject): void {
  try {
    parseBody(body)
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error
    expect(error.failure.status).toBe(400)
    expect(typeof error.failure.param).toBe('string')
  }
}

const anything = fc.jsonValue({ maxDepth: 4 }) as fc.Arbitrary<never>

test('any object is parsed as a Responses request, or rejected with a GatewayError', () => {
  fc.assert(fc.property(fc.dictionary(fc.string(), anything), expectParsedOrRejected))
})

/** A request with all known fields and types of items. */
const FULL_REQUEST: JsonObject = {
  model: 'm',
  instructions: 'i',
  input: [
    {
      type: 'message',
      id: 'msg_1',
      role: 'assistant',
      status: 'completed',
      phase: 'commentary',
      content: [
        { type: 'output_text', text: 't', annotations: [{ type: 'a' }], logprobs: [{}] },
        { type: 'refusal', refusal: 'r' },
      ],
    },
    {
      role: 'user',
      content: [
        { type: 'input_image', image_url: 'u', detail: 'low', file_id: null },
        { type: 'input_file', file_data: 'd', filename: 'f', file_url: 'u' },
        { type: 'input_audio', input_audio: { data: 'd', format: 'wav' } },
        { type: 'text', text: 't' },
      ],
    },
    { type: 'function_call', call_id: 'c', name: 'n', arguments: '{}' },
    { type: 'function_call_output', call_id: 'c', output: [{ type: 'input_text', text: 't' }] },
    { type: 'custom_tool_call', call_id: 'c', name: 'n', input: 'i' },
    { type: 'custom_tool_call_output', call_id: 'c', output: 'o' },
    {
      type: 'reasoning',
      summary: [{ type: 'summary_text', text: 't' }],
      content: [{ type: 'reasoning_text', text: 't' }],
      encrypted_content: 'e',
    },
    { id: 'msg_1' },
  ],
  tools: [
    { type: 'function', name: 'f', description: 'd', parameters: {}, strict: false },
    { type: 'custom', name: 'c', format: { type: 'text' } },
  ],
  tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'function', name: 'f' }] },
  text: {
    format: { type: 'json_schema', name: 'n', schema: {}, strict: true, description: 'd' },
    verbosity: 'low',
  },
  reasoning: { effort: 'low', summary: 'auto' },
  include: ['reasoning.encrypted_content'],
  metadata: { a: 'b' },
  conversation: { id: 'conv_1' },
  stop: ['a'],
  store: true,
  background: false,
}

function listPaths(value: unknown, path: readonly (string | number)[] = []): (string | number)[][] {
  if (typeof value !== 'object' || value === null) return [[...path]]
  const nested = Object.entries(value).flatMap(([name, inner]) => listPaths(inner, [...path, name]))
  return path.length === 0 ? nested : [[...path], ...nested]
}

function replaceAt(
  value: unknown,
  [name, ...rest]: readonly (string | number)[],
  replacement: unknown,
): unknown {
  if (name === undefined) return replacement
  const copy = (
    Array.isArray(value) ? [...(value as unknown[])] : { ...(value as object) }
  ) as Record<string | number, unknown>
  copy[name] = replaceAt(copy[name], rest, replacement)
  return copy
}

test('a Responses request with all fields is parsed', () => {
  expect(parseBody(FULL_REQUEST).items).toHaveLength(8)
})

test('a Responses request with one random value in any place is parsed, or rejected with a GatewayError', () => {
  const wrong = fc.tuple(fc.constantFrom(...listPaths(FULL_REQUEST)), anything)
  fc.assert(
    fc.property(wrong, ([path, value]) =>
      expectParsedOrRejected(replaceAt(FULL_REQUEST, path, value) as JsonObject),
    ),
    { numRuns: 2000 },
  )
})

describe.skipIf(!sharedExists)('recorded Responses requests of Open WebUI', () => {
  test('every recorded Responses request of Open WebUI is parsed into items', () => {
    const requests = readShared('fixtures/open-webui/requests.jsonl')
      .toString()
      .split('\n')
      .filter((line) => line.trim() !== '')
      .map((line) => JSON.parse(line) as { connection: string; body?: JsonObject })
      .filter(({ connection, body }) => connection === 'responses' && body !== undefined)
    expect(requests.length).toBeGreaterThan(0)
    for (const { body = {} } of requests) expect(parseBody(body).items.length).toBeGreaterThan(0)
  })
})
