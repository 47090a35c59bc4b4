import OpenAI from 'openai'
import { describe, expect, test } from 'vitest'
import { createFailure } from '../../../../src/core/errors/gateway-error.ts'
import type { JsonObject } from '../../../../src/core/json/json.ts'
import { formatSseMessages, type SseMessage } from '../../../../src/core/stream/sse.ts'
import { responsesDialect } from '../../../../src/dialects/responses/responses-dialect.ts'
import { responsesFaults } from '../../../support/responses-checker.ts'
import {
  answeringTo,
  jsonOf,
  lastResponse,
  recordedStreams,
  renderEvents,
  TURN_ID,
} from '../../../support/responses-kit.ts'
import { readShared, sharedExists } from '../../../support/shared-files.ts'

const CONTEXT = answeringTo({
  model: 'gpt-5',
  input: 'go',
  instructions: 'be brief',
  metadata: { a: 'b' },
  max_output_tokens: 1,
  conversation: 'conv_1',
})

function sseMessage(type: string, fields: JsonObject = {}, isNamed = true): SseMessage {
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

test("the patcher of passed-through responses sets the gateway's id and the client's request fields, and keeps all others", () => {
  const message = sseMessage('response.created', { response: UPSTREAM, sequence_number: 0 })
  const { event, data } = responsesDialect.createPassThroughPatcher(CONTEXT).patchMessage(message)
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

test.each([true, false])(
  'the patcher of passed-through responses returns messages without a response object unchanged (with event names: %s)',
  (isNamed) => {
    const patcher = responsesDialect.createPassThroughPatcher(CONTEXT)
    const messages = [
      sseMessage('response.output_text.delta', { delta: '"response": {"id": 1}' }, isNamed),
      sseMessage('response.output_item.added', { item: { type: 'message', response: 1 } }, isNamed),
      sseMessage('error', { error: { code: 'x' } }, isNamed),
      { data: '[DONE]' },
      { data: '{"broken' },
      { event: 'response.completed', data: 'not JSON' },
    ]
    for (const message of messages) expect(patcher.patchMessage(message)).toBe(message)
  },
)

test("the patcher of passed-through responses sets the gateway's id in a stream without event names, too", () => {
  const patcher = responsesDialect.createPassThroughPatcher(CONTEXT)
  const { event, data } = patcher.patchMessage(
    sseMessage('response.completed', { response: UPSTREAM }, false),
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
])(
  'the message %s starts the ending of a passed-through Responses stream: %s',
  (type, isEnding) => {
    const patcher = responsesDialect.createPassThroughPatcher(CONTEXT)
    const fields = { response: UPSTREAM, error: {}, item: {} }
    expect(patcher.startsEnding(sseMessage(type, fields))).toBe(isEnding)
    expect(patcher.startsEnding(sseMessage(type, fields, false))).toBe(isEnding)
  },
)

test('[DONE] starts the ending of a passed-through Responses stream', () => {
  expect(responsesDialect.createPassThroughPatcher(CONTEXT).startsEnding({ data: '[DONE]' })).toBe(
    true,
  )
})

describe('a passed-through Responses answer that is not stored', () => {
  const stateless = {
    ...answeringTo({ model: 'gpt-5', input: 'go', store: false }),
    isStored: false,
  }

  test("a passed-through response that is not stored is forwarded unchanged, with the upstream's id", () => {
    const patcher = responsesDialect.createPassThroughPatcher(stateless)
    const { metadata: _metadata, ...bare } = { ...UPSTREAM, max_output_tokens: null }
    for (const response of [UPSTREAM, bare]) {
      const message = sseMessage('response.created', { response })
      expect(patcher.patchMessage(message)).toBe(message)
    }
    expect(patcher.patchBody(UPSTREAM)).toBe(UPSTREAM)
  })

  test("a passed-through response that is not stored contains the client's values of request fields that the gateway changed", () => {
    const body = { model: 'gpt-5', input: 'go', store: false, previous_response_id: 'resp_1' }
    const patcher = responsesDialect.createPassThroughPatcher(
      answeringTo(body, { isStored: false }),
    )
    expect(patcher.patchBody(UPSTREAM)).toEqual({ ...UPSTREAM, previous_response_id: 'resp_1' })
  })

  test("a passed-through response that is not stored and breaks off ends with the upstream's id", () => {
    const patcher = responsesDialect.createPassThroughPatcher(stateless)
    patcher.patchMessage(sseMessage('response.created', { response: UPSTREAM, sequence_number: 0 }))
    const ending = patcher.renderFailure(createFailure('upstream_broken', 'It broke.'))
    expect(lastResponse(ending)).toMatchObject({ id: 'resp_up', status: 'failed' })
  })

  test.skipIf(!sharedExists)(
    'a recorded response of OpenAI that is passed through and not stored is forwarded unchanged',
    () => {
      for (const { name, messages } of recordedStreams()) {
        if (!name.startsWith('openai-responses') || name.includes('background')) continue
        const first = messages.find(({ data }) => data.includes('"response":{'))
        const { instructions, store } = (first === undefined ? {} : jsonOf(first))[
          'response'
        ] as JsonObject
        const body = { model: 'm', input: 'go', instructions, store } as JsonObject
        const patcher = responsesDialect.createPassThroughPatcher({
          ...answeringTo(body),
          isStored: false,
        })
        const changed = messages.filter((message) => patcher.patchMessage(message) !== message)
        // The other streams were recorded with `store: true`.
        if (store !== true) expect([name, changed]).toEqual([name, []])
      }
    },
  )
})

test.each([true, false])(
  'the patcher of passed-through responses removes fields that could run scripts in a browser (stored: %s)',
  (stored) => {
    const patcher = responsesDialect.createPassThroughPatcher({
      ...answeringTo(),
      isStored: stored,
    })
    const hostile = sseMessage('response.output_text.delta', {
      delta: 'x',
      event: { type: 'execute' },
      sources: [],
    })
    expect(JSON.parse(patcher.patchMessage(hostile).data)).toEqual({
      type: 'response.output_text.delta',
      delta: 'x',
    })
    const hidden = { data: '{"\\u0065vent":{"type":"execute"},"type":"x"}' }
    expect(patcher.patchMessage(hidden).data).toBe('{"type":"x"}')
    const harmless = sseMessage('response.output_item.done', { item: { action: { sources: [] } } })
    expect(patcher.patchMessage(harmless)).toBe(harmless)
  },
)

describe('a non-streamed passed-through response', () => {
  test("a non-streamed passed-through response gets the gateway's id and `store`, and keeps all unknown fields", () => {
    expect(responsesDialect.createPassThroughPatcher(CONTEXT).patchBody(UPSTREAM)).toMatchObject({
      id: `resp_${TURN_ID}`,
      store: true,
      temperature: 0.7,
      future: [1],
    })
  })

  test('a non-streamed error body is not changed by the patcher of passed-through responses', () => {
    const body = { error: { message: 'x' } }
    expect(responsesDialect.createPassThroughPatcher(CONTEXT).patchBody(body)).toBe(body)
  })

  test.skipIf(!sharedExists)(
    'a recorded non-streamed passed-through response keeps its output and usage',
    () => {
      const body = JSON.parse(
        readShared('fixtures/streams/openai-responses/text-answer.json').toString(),
      ) as JsonObject
      const { id, output, usage } = responsesDialect
        .createPassThroughPatcher(answeringTo())
        .patchBody(body)
      expect([id, output, usage]).toEqual([`resp_${TURN_ID}`, body['output'], body['usage']])
    },
  )
})

describe('a passed-through stream that breaks off', () => {
  const failure = createFailure('upstream_broken', 'It broke.')

  test('the ending of a passed-through Responses stream that breaks off continues its numbering and repeats its response object', () => {
    const patcher = responsesDialect.createPassThroughPatcher(CONTEXT)
    const item = { type: 'message', id: 'msg_1', content: [] }
    const passed = [
      sseMessage('response.created', { response: UPSTREAM, sequence_number: 0 }),
      sseMessage('response.output_item.done', { output_index: 0, item, sequence_number: 4 }),
      sseMessage('response.output_text.delta', { delta: 'x', sequence_number: 5 }),
    ]
    for (const message of passed) patcher.patchMessage(message)
    const ending = patcher.renderFailure(failure)
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

  test('a passed-through Responses stream that breaks off before its first message gets a valid ending', () => {
    expect(
      lastResponse(responsesDialect.createPassThroughPatcher(CONTEXT).renderFailure(failure)),
    ).toMatchObject({
      id: `resp_${TURN_ID}`,
      status: 'failed',
      output: [],
    })
  })

  test('a passed-through Responses stream and the ending that the gateway adds are valid, wherever the stream breaks off', () => {
    const messages = renderEvents([
      { type: 'answer-started', upstreamId: null, model: null },
      { type: 'item-ended', index: 0, item: { type: 'reasoning', summary: [] } },
      { type: 'answer-ended', finish: 'stop', usage: null },
    ]).slice(0, -2)
    for (let length = 2; length <= messages.length; length++) {
      const patcher = responsesDialect.createPassThroughPatcher(CONTEXT)
      const passed = messages.slice(0, length).map(patcher.patchMessage)
      const faults = responsesFaults([...passed, ...patcher.renderFailure(failure)])
      // The patcher cannot end an item that the upstream has started.
      expect(faults.filter((fault) => !/is not done|shows 0 of 1/.test(fault))).toEqual([])
    }
  })
})

describe.skipIf(!sharedExists)('recorded streams that are passed through', () => {
  test.each(recordedStreams())(
    "the OpenAI SDK reads the recorded stream $name with the gateway's id after it is passed through",
    async (recorded) => {
      const patcher = responsesDialect.createPassThroughPatcher(answeringTo())
      const messages = recorded.messages.map(patcher.patchMessage)
      const changed = messages.filter((message, index) => message !== recorded.messages[index])
      const withoutReasoning = changed.filter(({ data }) => !/"type": ?"reasoning"/.test(data))
      expect(changed.length).toBeGreaterThan(1)
      expect(withoutReasoning.length).toBeLessThan(5)
      expect(JSON.stringify(changed)).not.toMatch(/rs_[^}]*encrypted_content/)
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
    },
  )
})
