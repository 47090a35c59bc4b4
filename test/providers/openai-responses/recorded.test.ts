/** Decodes recorded streams and errors of OpenAI and other servers. */
import { describe, expect, test } from 'vitest'
import type { StreamEvent } from '../../../src/core/stream-event.ts'
import { isObject, type JsonObject } from '../../../src/core/json/json.ts'
import {
  decodeStream,
  decodeBody,
} from '../../../src/providers/openai-responses/response/decode-stream.ts'
import { parseErrorResponse } from '../../../src/providers/openai-responses/parse-errors.ts'
import { runStage } from '../../../src/core/stream/stream-stage.ts'
import { outcomeOf, recordedStreams } from '../../support/responses-kit.ts'
import { readShared, sharedExists } from '../../support/shared-files.ts'
import { findEventFaults } from '../../support/event-laws.ts'

function listUpstreamItems(events: readonly StreamEvent[]): readonly unknown[] {
  return outcomeOf(events).items.map((item) => {
    const {
      encrypted_content: _sealed,
      fingerprint: _print,
      ...own
    } = (item.type === 'opaque' ? item.raw : item) as JsonObject
    return own
  })
}

describe.skipIf(!sharedExists)('decoding of recorded Responses streams', () => {
  test.each(recordedStreams())(
    'the recorded Responses stream $name gives events in a valid order',
    ({ messages }) => {
      expect(findEventFaults(runStage(decodeStream(), messages))).toEqual([])
    },
  )

  test.each(recordedStreams())(
    'the recorded Responses stream $name gives the items and usage of its final response',
    ({ name, messages }) => {
      const events = runStage(decodeStream(), messages)
      const last = messages.findLast(({ data }) => data !== '[DONE]')
      const { type, response } = JSON.parse(last?.data ?? '{}') as JsonObject
      const ends = { 'response.completed': 'stop', 'response.incomplete': 'length' }
      const outcome = outcomeOf(events)
      expect(outcome.finish).toBe(ends[type as keyof typeof ends] ?? null)
      expect(outcome.failure === null).toBe(type !== 'response.failed')
      if (!isObject(response)) throw new Error('A recorded stream ends with a response.')
      // OpenRouter sends another id for the reasoning in the final response.
      const hasOtherId = name.includes('openrouter')
      const bodyItems = listUpstreamItems(decodeBody(response))
      expect(hasOtherId ? bodyItems.slice(1) : bodyItems).toEqual(
        hasOtherId ? listUpstreamItems(events).slice(1) : listUpstreamItems(events),
      )
      expect(outcomeOf(decodeBody(response)).usage).toEqual(outcome.usage)
    },
  )

  test.each(recordedStreams())(
    'the recorded Responses stream $name is a failure wherever it is cut off',
    ({ messages }) => {
      const end = messages.findIndex(({ data }) =>
        /"type":"(?:error|response\.completed)"/.test(data),
      )
      for (let at = 0; at < end; at += 1 + (at >> 3)) {
        const events = runStage(decodeStream(), messages.slice(0, at))
        expect(findEventFaults(events)).toEqual([])
        expect(events.at(-1)).toMatchObject({ failure: { code: 'upstream_broken' } })
      }
    },
  )
})

describe.skipIf(!sharedExists)('parsing of recorded Responses errors', () => {
  test.each([
    ['error-401-invalid-key', 401, 'invalid_api_key', null],
    ['error-400-model-not-found', 400, 'model_not_found', 'model'],
    ['error-400-reasoning-without-following-item', 400, null, 'input'],
    ['error-400-not-background-stream', 400, 'invalid_request_error', 'stream'],
  ])(
    'the recorded Responses error %s keeps its code, param and message',
    (name, status, code, param) => {
      const body = readShared(`fixtures/streams/openai-responses/${name}.json`).toString()
      const failure = parseErrorResponse(status, JSON.parse(body) as JsonObject)
      expect(failure).toMatchObject({ status, code, param, type: 'invalid_request_error' })
      expect(body).toContain(JSON.stringify(failure.message).slice(1, -1))
    },
  )
})
