import { expect, test } from 'vitest'
import { responsesDialect } from '../../../../src/dialects/responses/responses-dialect.ts'
import type { JsonObject } from '../../../../src/core/json/json.ts'
import { createFailure } from '../../../../src/core/errors/gateway-error.ts'
import { faultsInResponse } from '../../../support/responses-checker.ts'
import { answeringTo, outcomeOf, TURN_ID } from '../../../support/responses-kit.ts'

const OUTCOME = outcomeOf([
  { type: 'answer-started', upstreamId: null, model: null },
  { type: 'answer-ended', finish: 'stop', usage: null },
])

function renderEcho(body: JsonObject, stored = true): JsonObject {
  return responsesDialect.renderBody(
    OUTCOME,
    answeringTo({ model: 'm', input: 'go', ...body }, { isStored: stored }),
  )
}

test('a rendered response to a request without options contains every field with its default', () => {
  expect(faultsInResponse(renderEcho({}))).toEqual([])
  expect(renderEcho({})).toEqual({
    id: `resp_${TURN_ID}`,
    object: 'response',
    created_at: 1_700_000_000,
    status: 'completed',
    completed_at: null,
    error: null,
    incomplete_details: null,
    model: 'm',
    usage: null,
    output: [],
    access_programs: null,
    background: false,
    frequency_penalty: 0,
    instructions: null,
    max_output_tokens: null,
    max_tool_calls: null,
    metadata: {},
    parallel_tool_calls: true,
    presence_penalty: 0,
    previous_response_id: null,
    prompt_cache_key: null,
    reasoning: { effort: null, summary: null },
    safety_identifier: null,
    service_tier: 'default',
    store: true,
    temperature: 1,
    text: { format: { type: 'text' }, verbosity: 'medium' },
    tool_choice: 'auto',
    tools: [],
    top_logprobs: 0,
    top_p: 1,
    truncation: 'disabled',
    user: null,
  })
})

test('a rendered response contains all fields of the request', () => {
  const fields = {
    instructions: 'be brief',
    max_output_tokens: 50,
    max_tool_calls: 2,
    metadata: { a: 'b' },
    parallel_tool_calls: false,
    previous_response_id: 'resp_1',
    prompt_cache_key: 'k',
    safety_identifier: 's',
    temperature: 0,
    top_p: 0.5,
    top_logprobs: 3,
    truncation: 'auto',
    user: 'u',
    service_tier: 'flex',
  }
  expect(renderEcho(fields)).toMatchObject(fields)
  expect(renderEcho({ reasoning: { effort: 'high' } })['reasoning']).toEqual({
    effort: 'high',
    summary: null,
  })
  expect(renderEcho({ service_tier: 'auto' })['service_tier']).toBe('default')
  expect(renderEcho({ conversation: 'conv_1' })['conversation']).toEqual({ id: 'conv_1' })
})

test('`store` in a rendered response is false if the answer is not stored, even if the request has `store: true`', () => {
  expect(renderEcho({ store: true }, false)['store']).toBe(false)
})

test("a rendered response contains the request's tools, and adds only the required fields that functions lack", () => {
  const search = { type: 'web_search', filters: {} }
  const { tools } = renderEcho({
    tools: [{ type: 'function', name: 'f', parameters: {}, async: true }, search],
  })
  expect(tools).toEqual([
    { type: 'function', name: 'f', description: null, parameters: {}, strict: true, async: true },
    search,
  ])
})

test.each([
  ['required', 'required'],
  [
    { type: 'function', function: { name: 'f' } },
    { type: 'function', name: 'f' },
  ],
  [
    { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'custom', name: 'c' }] },
    { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'custom', name: 'c' }] },
  ],
])("a rendered response contains the request's tool choice %j as %j", (tool_choice, expected) => {
  const tools = [{ type: 'custom', name: 'c' }]
  expect(renderEcho({ tool_choice, tools })['tool_choice']).toEqual(expected)
})

test("a rendered response contains the request's JSON schema format with all required fields", () => {
  const format = { type: 'json_schema', name: 'n', schema: { type: 'object' } }
  expect(renderEcho({ text: { format, verbosity: 'low' } })['text']).toEqual({
    format: { ...format, description: null, strict: false },
    verbosity: 'low',
  })
})

test('a rendered response contains the status of an answer in progress and of a failed answer', () => {
  const unfinished = { ...OUTCOME, finish: null }
  expect(responsesDialect.renderBody(unfinished, answeringTo())).toMatchObject({
    status: 'in_progress',
    error: null,
  })
  const failure = createFailure('upstream_broken', 'It broke.')
  expect(responsesDialect.renderBody({ ...unfinished, failure }, answeringTo())).toMatchObject({
    status: 'failed',
    error: { code: 'server_error', message: 'It broke.' },
    completed_at: null,
  })
})

test('a rendered response contains the time of its completion if this is known', () => {
  expect(responsesDialect.renderBody(OUTCOME, answeringTo(), 1_700_000_009_999)).toMatchObject({
    completed_at: 1_700_000_009,
  })
})
