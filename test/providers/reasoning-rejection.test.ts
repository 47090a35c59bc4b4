/** Tests that errors of providers and routers about reasoning are recognized. */
import { expect, test } from 'vitest'
import type { JsonObject } from '../../src/core/json/json.ts'
import type { Account, WireName } from '../../src/providers/provider-interface.ts'
import { requiresUnchangedReasoningPrefix } from '../../src/providers/requires-unchanged-reasoning-prefix.ts'
import { PROVIDERS } from '../../src/providers/provider-registry.ts'

const ANTHROPIC = [
  'messages.1.content.0: Invalid `signature` in `thinking` block',
  'Invalid signature in thinking block. The block is bound to a different conversation.',
  'messages.3.content.0: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified.',
  'messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`.',
]
const OPENAI = [
  'The encrypted content gAAA...abc= could not be verified. Reason: Encrypted content organization_id did not match the target organization.',
  'Encrypted content item_id did not match the target item id.',
  'Encrypted content could not be decrypted or parsed.',
  'The reasoning item was not issued to this caller.',
]
const GEMINI = [
  'Corrupted thought signature.',
  'Invalid thought_signature.',
  'Function call is missing a thought_signature in functionCall parts: `look`, position 2.',
]

function isRejection(wire: WireName, status: number, body: JsonObject): boolean | undefined {
  const { parseErrorResponse, isReasoningRejection } = PROVIDERS[wire]
  return isReasoningRejection?.(parseErrorResponse(status, body))
}

function createErrorBody(wire: WireName, message: string): JsonObject {
  const error = { message, type: 'invalid_request_error', param: null, code: null }
  return wire === 'anthropic' ? { type: 'error', error } : { error }
}

const REJECTIONS = [
  ...ANTHROPIC.map((message) => ['anthropic', message] as const),
  ...OPENAI.map((message) => ['responses', message] as const),
  ...GEMINI.map((message) => ['gemini', message] as const),
]

test.each(REJECTIONS)(
  'an upstream with the wire %s rejects reasoning if its error is: %s',
  (wire, message) => {
    expect(isRejection(wire, 400, createErrorBody(wire, message))).toBe(true)
    // The same message through a Chat Completions router, plain and wrapped.
    expect(isRejection('chat', 400, createErrorBody('chat', message))).toBe(true)
    const raw = JSON.stringify(createErrorBody(wire, message))
    const metadata = { raw, provider_name: 'Somebody' }
    const wrapped = { error: { code: 400, message: 'Provider returned error', metadata } }
    expect(isRejection('chat', 400, wrapped)).toBe(true)
  },
)

test('the code invalid_encrypted_content is recognized as a rejection of reasoning with any message', () => {
  const error = { message: 'No.', type: 'invalid_request_error', code: 'invalid_encrypted_content' }
  expect(isRejection('responses', 400, { error })).toBe(true)
  expect(isRejection('chat', 400, { error })).toBe(true)
})

test.each(REJECTIONS)(
  'an error of the wire %s with status 429 or 500 is no rejection of reasoning: %s',
  (wire, message) => {
    expect(isRejection(wire, 429, createErrorBody(wire, message))).toBe(false)
    expect(isRejection(wire, 500, createErrorBody(wire, message))).toBe(false)
  },
)

test.each([
  ['anthropic', '"thinking.type.enabled" is not supported for this model.'],
  ['anthropic', 'max_tokens must be greater than thinking.budget_tokens'],
  ['anthropic', 'tools.0: a function signature is required'],
  ['responses', "Item 'fc_1' of type 'function_call' was provided without its output."],
  ['responses', 'Unsupported value: reasoning.encrypted_content is not known to this model.'],
  ['gemini', 'Request contains an invalid argument.'],
  ['chat', 'Missing `reasoning_content` field in the assistant message at index 1.'],
] as const)(
  'an error of the wire %s with another cause is no rejection of reasoning: %s',
  (wire, message) => {
    expect(isRejection(wire, 400, createErrorBody(wire, message))).toBe(false)
  },
)

function requiresPrefix(wire: WireName, model: string, quirks: JsonObject = {}): boolean {
  const account: Account = {
    name: 'a',
    wire,
    baseUrl: '',
    apiKey: null,
    models: [],
    headers: {},
    quirks,
  }
  return requiresUnchangedReasoningPrefix(account, PROVIDERS[wire], model)
}

test.each<[WireName, string, boolean]>([
  ['anthropic', 'claude-opus-5-5', true],
  ['anthropic', 'claude-sonnet-5-5-20261001', true],
  ['anthropic', 'anthropic.claude-haiku-5-5-v1:0', true],
  ['anthropic', 'claude-fable-5-1', true],
  ['anthropic', 'claude-mythos-5-2', true],
  ['anthropic', 'claude-fable-5', false],
  ['anthropic', 'claude-opus-5', false],
  ['anthropic', 'claude-sonnet-4-5-20250929', false],
  ['anthropic', 'deepseek-v4', false],
  ['responses', 'gpt-5.6', true],
  ['responses', 'gpt-5.6-sol', true],
  ['responses', 'openai/gpt-6', true],
  ['responses', 'gpt-5.5', false],
  ['responses', 'gpt-5', false],
  ['responses', 'gpt-5-2025-08-07', false],
  ['responses', 'gpt-5.6-chat-latest', false],
  ['responses', 'gpt-oss-120b', false],
  ['responses', 'o3', false],
  ['gemini', 'gemini-3.8-flash', false],
  ['chat', 'anthropic/claude-opus-5-5', false],
])(
  'the wire %s requires an unchanged prefix before the reasoning of the model %s: %s',
  (wire, model, expected) => {
    expect(requiresPrefix(wire, model)).toBe(expected)
    // The account's quirk overrides the model.
    expect(requiresPrefix(wire, model, { prefixCheck: true })).toBe(true)
    expect(requiresPrefix(wire, model, { prefixCheck: false })).toBe(false)
  },
)
