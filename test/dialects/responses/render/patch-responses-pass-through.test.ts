/** Of an upstream's own stream, only what must be ours is changed. */
import OpenAI from 'openai'
import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../../src/core/json/json.ts'
import { responsesDialect } from '../../../../src/dialects/responses/responses-dialect.ts'
import { createFailure } from '../../../../src/core/errors/gateway-error.ts'
import { formatSseMessages } from '../../../../src/core/stream/sse.ts'
import type { SseMessage } from '../../../../src/core/stream/stage.ts'
import {
  answeringTo,
  jsonOf,
  lastResponse,
  recordedStreams,
  rendered,
  TURN_ID,
} from '../../../support/responses-kit.ts'
import { responsesFaults } from '../../../support/responses-checker.ts'
import { readShared, sharedExists } from '../../../support/shared.ts'

const ANSWERING = answeringTo({
  model: 'gpt-5',
  input: 'go',
  instructions: 'be brief',
  metadata: { a: 'b' },
  max_output_tokens: 1,
  conversation: 'conv_1',
})

function eventOf(type: string, fields: JsonObject = {}, isNamed = true): SseMessage {
  const data = JSON.stringify({ type, ...fields })
  return isNamed ? { event: type, data } : { data }
}

const UPSTREAM = {
  id: 'resp_up',
  object: 'response',
  status: 'in_progress',
  store: false,
  previous_response_id: null,
  metadata: {},
  instructions: null,
  max_output_tokens: 16,
  background: false,
  model: 'gpt-5-2025',
  temperature: 0.7,
  future: [1],
}

test('the response is ours where we speak for it, and its own in the rest', () => {
  const message = eventOf('response.created', { response: UPSTREAM, sequence_number: 0 })
  const { event, data } = responsesDialect.createPassThroughPatcher(ANSWERING).patchMessage(message)
  expect(event).toBe('response.created')
  expect(JSON.parse(data)).toEqual({
    type: 'response.created',
    sequence_number: 0,
    response: {
      ...UPSTREAM,
      id: `resp_${TURN_ID}`,
      store: true,
      metadata: { a: 'b' },
      instructions: 'be brief',
      max_output_tokens: 1,
      conversation: { id: 'conv_1' },
    },
  })
})

test.each([true, false])('every other message is the very same (named: %s)', (isNamed) => {
  const retouch = responsesDialect.createPassThroughPatcher(ANSWERING)
  const messages = [
    eventOf('response.output_text.delta', { delta: '"response": {"id": 1}' }, isNamed),
    eventOf('response.output_item.added', { item: { type: 'message', response: 1 } }, isNamed),
    eventOf('error', { error: { code: 'x' } }, isNamed),
    { data: '[DONE]' },
    { data: '{"broken' },
    { event: 'response.completed', data: 'not JSON' },
  ]
  for (const message of messages) expect(retouch.patchMessage(message)).toBe(message)
})

test('an upstream that names no events is understood all the same', () => {
  const retouch = responsesDialect.createPassThroughPatcher(ANSWERING)
  const { event, data } = retouch.patchMessage(
    eventOf('response.completed', { response: UPSTREAM }, false),
  )
  expect(event).toBeUndefined()
  expect(JSON.parse(data)).toMatchObject({ response: { id: `resp_${TURN_ID}` } })
})

test.each([
  ['response.completed', true],
  ['response.incomplete', true],
  ['response.failed', true],
  ['error', true],
  ['response.output_item.done', false],
  ['response.created', false],
])('%s is an ending: %s', (type, isEnding) => {
  const retouch = responsesDialect.createPassThroughPatcher(ANSWERING)
  const fields = { response: UPSTREAM, error: {}, item: {} }
  expect(retouch.startsEnding(eventOf(type, fields))).toBe(isEnding)
  expect(retouch.startsEnding(eventOf(type, fields, false))).toBe(isEnding)
})

test('[DONE] is an ending', () => {
  expect(
    responsesDialect.createPassThroughPatcher(ANSWERING).startsEnding({ data: '[DONE]' }),
  ).toBe(true)
})

describe('an answer that nobody keeps', () => {
  const stateless = { ...answeringTo({ model: 'gpt-5', input: 'go', store: false }), stored: false }

  test('is left alone, its id included', () => {
    const retouch = responsesDialect.createPassThroughPatcher(stateless)
    const { metadata: _metadata, ...bare } = { ...UPSTREAM, max_output_tokens: null }
    for (const response of [UPSTREAM, bare]) {
      const message = eventOf('response.created', { response })
      expect(retouch.patchMessage(message)).toBe(message)
    }
    expect(retouch.patchBody(UPSTREAM)).toBe(UPSTREAM)
  })

  test('still says what was asked where something else was sent', () => {
    const body = { model: 'gpt-5', input: 'go', store: false, previous_response_id: 'resp_1' }
    const retouch = responsesDialect.createPassThroughPatcher(answeringTo(body, { stored: false }))
    expect(retouch.patchBody(UPSTREAM)).toEqual({ ...UPSTREAM, previous_response_id: 'resp_1' })
  })

  test('ends, if it breaks, under the id that the client knows', () => {
    const retouch = responsesDialect.createPassThroughPatcher(stateless)
    retouch.patchMessage(eventOf('response.created', { response: UPSTREAM, sequence_number: 0 }))
    const ending = retouch.renderFailure(createFailure('upstream_broken', 'It broke.'))
    expect(lastResponse(ending)).toMatchObject({ id: 'resp_up', status: 'failed' })
  })

  test.skipIf(!sharedExists)('comes as it was recorded', () => {
    for (const { name, messages } of recordedStreams()) {
      if (!name.startsWith('openai-responses') || name.includes('background')) continue
      const first = messages.find(({ data }) => data.includes('"response":{'))
      const { instructions, store } = (first === undefined ? {} : jsonOf(first))[
        'response'
      ] as JsonObject
      const body = { model: 'm', input: 'go', instructions, store } as JsonObject
      const retouch = responsesDialect.createPassThroughPatcher({
        ...answeringTo(body),
        stored: false,
      })
      const changed = messages.filter((message) => retouch.patchMessage(message) !== message)
      // The others were asked to be stored, and answered so.
      if (store !== true) expect([name, changed]).toEqual([name, []])
    }
  })
})

test.each([true, false])('what would run scripts in a browser is lost (kept: %s)', (stored) => {
  const retouch = responsesDialect.createPassThroughPatcher({ ...answeringTo(), stored })
  const evil = eventOf('response.output_text.delta', {
    delta: 'x',
    event: { type: 'execute' },
    sources: [],
  })
  expect(JSON.parse(retouch.patchMessage(evil).data)).toEqual({
    type: 'response.output_text.delta',
    delta: 'x',
  })
  const hidden = { data: '{"\\u0065vent":{"type":"execute"},"type":"x"}' }
  expect(retouch.patchMessage(hidden).data).toBe('{"type":"x"}')
  const harmless = eventOf('response.output_item.done', { item: { action: { sources: [] } } })
  expect(retouch.patchMessage(harmless)).toBe(harmless)
})

describe('a whole answer', () => {
  test('is changed in the same places', () => {
    expect(responsesDialect.createPassThroughPatcher(ANSWERING).patchBody(UPSTREAM)).toMatchObject({
      id: `resp_${TURN_ID}`,
      store: true,
      temperature: 0.7,
      future: [1],
    })
  })

  test('that is none is left alone', () => {
    const body = { error: { message: 'x' } }
    expect(responsesDialect.createPassThroughPatcher(ANSWERING).patchBody(body)).toBe(body)
  })

  test.skipIf(!sharedExists)('of the real service keeps all that it said', () => {
    const body = JSON.parse(
      readShared('fixtures/streams/openai-responses/text-answer.json').toString(),
    ) as JsonObject
    const { id, output, usage } = responsesDialect
      .createPassThroughPatcher(answeringTo())
      .patchBody(body)
    expect([id, output, usage]).toEqual([`resp_${TURN_ID}`, body['output'], body['usage']])
  })
})

describe('a stream that breaks', () => {
  const failure = createFailure('upstream_broken', 'It broke.')

  test('goes on counting, and ends with the response that it began with', () => {
    const retouch = responsesDialect.createPassThroughPatcher(ANSWERING)
    const item = { type: 'message', id: 'msg_1', content: [] }
    const passed = [
      eventOf('response.created', { response: UPSTREAM, sequence_number: 0 }),
      eventOf('response.output_item.done', { output_index: 0, item, sequence_number: 4 }),
      eventOf('response.output_text.delta', { delta: 'x', sequence_number: 5 }),
    ]
    for (const message of passed) retouch.patchMessage(message)
    const ending = retouch.renderFailure(failure)
    expect(ending.map(({ event, data }) => event ?? data)).toEqual([
      'error',
      'response.failed',
      '[DONE]',
    ])
    expect(ending.slice(0, 2).map((message) => jsonOf(message)['sequence_number'])).toEqual([6, 7])
    expect(lastResponse(ending)).toMatchObject({
      id: `resp_${TURN_ID}`,
      status: 'failed',
      error: { code: 'server_error', message: 'It broke.' },
      temperature: 0.7,
      output: [item],
    })
  })

  test('of which nothing was seen ends lawfully as well', () => {
    expect(
      lastResponse(responsesDialect.createPassThroughPatcher(ANSWERING).renderFailure(failure)),
    ).toMatchObject({
      id: `resp_${TURN_ID}`,
      status: 'failed',
      output: [],
    })
  })

  test('is lawful as a whole, wherever it breaks', () => {
    const whole = rendered([
      { type: 'answer-started', upstreamId: null, model: null },
      { type: 'item-ended', index: 0, item: { type: 'reasoning', summary: [] } },
      { type: 'answer-ended', finish: 'stop', usage: null },
    ]).slice(0, -2)
    for (let at = 2; at <= whole.length; at++) {
      const retouch = responsesDialect.createPassThroughPatcher(ANSWERING)
      const passed = whole.slice(0, at).map(retouch.patchMessage)
      const faults = responsesFaults([...passed, ...retouch.renderFailure(failure)])
      // An item that was announced by the upstream cannot be finished by us.
      expect(faults.filter((fault) => !/is not done|shows 0 of 1/.test(fault))).toEqual([])
    }
  })
})

describe.skipIf(!sharedExists)('a recorded stream', () => {
  test.each(recordedStreams())('$name is followed by the SDK under our id', async (recorded) => {
    const retouch = responsesDialect.createPassThroughPatcher(answeringTo())
    const messages = recorded.messages.map(retouch.patchMessage)
    const changed = messages.filter((message, at) => message !== recorded.messages[at])
    expect(changed.length).toBeGreaterThan(1)
    expect(changed.length).toBeLessThan(5)
    const openai = new OpenAI({
      apiKey: 'any',
      maxRetries: 0,
      fetch: () => Promise.resolve(new Response(formatSseMessages(messages))),
    })
    const stream = await openai.responses.create({ model: 'm', input: 'go', stream: true })
    const ids = new Set<string>()
    try {
      for await (const event of stream) if ('response' in event) ids.add(event.response.id)
    } catch (error) {
      if (!recorded.name.includes('failed')) throw error
    }
    expect([...ids]).toEqual([`resp_${TURN_ID}`])
  })
})
