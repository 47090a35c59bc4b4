/** What a response says of what was asked: everything, and nothing as null that clients refuse so. */
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

function echoOf(body: JsonObject, stored = true): JsonObject {
  return responsesDialect.renderBody(
    OUTCOME,
    answeringTo({ model: 'm', input: 'go', ...body }, { stored }),
  )
}

test('every default is a concrete value', () => {
  expect(faultsInResponse(echoOf({}))).toEqual([])
  expect(echoOf({})).toEqual({
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

test('everything that was asked is echoed', () => {
  const asked = {
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
  expect(echoOf(asked)).toMatchObject(asked)
  expect(echoOf({ reasoning: { effort: 'high' } })['reasoning']).toEqual({
    effort: 'high',
    summary: null,
  })
  expect(echoOf({ service_tier: 'auto' })['service_tier']).toBe('default')
  expect(echoOf({ conversation: 'conv_1' })['conversation']).toEqual({ id: 'conv_1' })
})

test('whether it is kept is said by what is done, not by what was asked', () => {
  expect(echoOf({ store: true }, false)['store']).toBe(false)
})

test('tools come back as they were written, functions with all that they must have', () => {
  const search = { type: 'web_search', filters: {} }
  const { tools } = echoOf({
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
])('the choice %j comes back as %j', (tool_choice, shown) => {
  const tools = [{ type: 'custom', name: 'c' }]
  expect(echoOf({ tool_choice, tools })['tool_choice']).toEqual(shown)
})

test('a schema is echoed flat, with all that it must have', () => {
  const format = { type: 'json_schema', name: 'n', schema: { type: 'object' } }
  expect(echoOf({ text: { format, verbosity: 'low' } })['text']).toEqual({
    format: { ...format, description: null, strict: false },
    verbosity: 'low',
  })
})

test('an answer in progress, or that has failed, says so', () => {
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

test('when it was completed is told if it is known', () => {
  expect(responsesDialect.renderBody(OUTCOME, answeringTo(), 1_700_000_009_999)).toMatchObject({
    completed_at: 1_700_000_009,
  })
})
