/**
 * Property tests: for any events, the stream follows OpenAI's documented rules, the SDK can read it, and
 * nothing is lost.
 */
import fc from 'fast-check'
import OpenAI from 'openai'
import { describe, expect, test } from 'vitest'
import type { Item } from '../../../../src/core/item.ts'
import { isObject, type JsonObject } from '../../../../src/core/json/json.ts'
import type { StreamEvent } from '../../../../src/core/stream-event.ts'
import { formatSseMessages, type SseMessage } from '../../../../src/core/stream/sse.ts'
import { runStage } from '../../../../src/core/stream/stream-stage.ts'
import { responsesDialect } from '../../../../src/dialects/responses/responses-dialect.ts'
import { decodeStream } from '../../../../src/providers/openai-responses/response/decode-stream.ts'
import { numberOfRuns } from '../../../support/number-of-runs.ts'
import { answer, nonsense, tangledAnswer } from '../../../support/responses-answers.ts'
import { faultsInResponse, responsesFaults } from '../../../support/responses-checker.ts'
import {
  answeringTo,
  ASK,
  ENDED_AT_MS,
  jsonOf,
  lastResponse,
  outcomeOf,
  recordedStreams,
  renderEvents,
} from '../../../support/responses-kit.ts'
import { sharedExists } from '../../../support/shared-files.ts'

const answerContext = fc
  .tuple(
    fc.boolean(),
    fc.constantFrom<readonly string[]>([], ['reasoning.raw', 'reasoning.encrypted_content']),
    fc.boolean(),
  )
  .map(([stored, include, background]) =>
    answeringTo({ ...ASK, include, ...(stored ? { background } : {}) }, { isStored: stored }),
  )

describe('laws of rendered Responses streams', () => {
  test('a rendered Responses stream is valid for any answer', () => {
    fc.assert(
      fc.property(fc.oneof(answer, tangledAnswer), answerContext, (events, context) => {
        expect(responsesFaults(renderEvents(events, context))).toEqual([])
      }),
      numberOfRuns(300),
    )
  })

  test('a rendered Responses stream is valid for an answer that breaks off anywhere', () => {
    fc.assert(
      fc.property(answer, fc.nat(), answerContext, (events, at, context) => {
        const broken = events.slice(0, at % events.length)
        expect(responsesFaults(renderEvents(broken, context))).toEqual([])
      }),
      numberOfRuns(300),
    )
  })

  test('a rendered Responses stream is valid even if the decoded events come in any order', () => {
    fc.assert(
      fc.property(nonsense, answerContext, (events, context) => {
        // If a finished item contradicts its deltas, the finished item is sent.
        const isContradiction = (fault: string) => / (says|differs) /.test(fault)
        const faults = responsesFaults(renderEvents(events, context))
        expect(faults.filter((fault) => !isContradiction(fault))).toEqual([])
      }),
      numberOfRuns(300),
    )
  })
})

test("a rendered Responses stream contains no terminal event before the renderer's `end` is called", () => {
  fc.assert(
    fc.property(fc.oneof(answer, nonsense), (events) => {
      const renderer = responsesDialect.createRenderer(answeringTo())
      const types = events.flatMap((event) => renderer.push(event)).map(({ event }) => event)
      const endings = ['response.completed', 'response.incomplete', 'response.failed', 'error']
      expect(types.filter((type) => endings.includes(type ?? ''))).toEqual([])
    }),
  )
})

/** Returns an item without its id, its status and the fields of the gateway. */
function pickContent(item: Item): unknown {
  const { id: _id, status: _status, native: _native, origin: _origin, ...own } = item
  if (own.type === 'opaque') return { ...own.raw, id: null }
  if (own.type === 'message') return { ...own, content: own.content.map(pickPartContent) }
  if (own.type === 'function_call_output') return { ...own, output: null }
  return own
}

function pickPartContent(part: object): unknown {
  const { annotations = [], logprobs: _logprobs, ...own } = part as JsonObject
  return 'text' in own ? { ...own, annotations } : own
}

function collectItems(events: readonly StreamEvent[]): readonly Item[] {
  const items: Item[] = []
  for (const event of events) if (event.type === 'item-ended') items[event.index] = event.item
  return items
}

test('an answer that is rendered as a Responses stream and decoded again has the same content', () => {
  const raw = answeringTo({ ...ASK, include: ['reasoning.raw', 'reasoning.encrypted_content'] })
  fc.assert(
    fc.property(answer, (events) => {
      const decoded = runStage(decodeStream(), renderEvents(events, raw))
      expect(collectItems(decoded).map(pickContent)).toEqual(collectItems(events).map(pickContent))
      const [end, decodedEnd] = [events.at(-1), decoded.at(-1)]
      expect(decodedEnd?.type).toBe(end?.type)
      if (end?.type === 'answer-ended') expect(decodedEnd).toMatchObject({ finish: end.finish })
    }),
    numberOfRuns(300),
  )
})

test('a rendered non-streamed response equals the response object at the end of the stream of the same answer', () => {
  fc.assert(
    fc.property(answer, answerContext, (events, context) => {
      const ended = lastResponse(renderEvents(events, context))
      const body = responsesDialect.renderBody(outcomeOf(events), context, ENDED_AT_MS)
      expect(faultsInResponse(body)).toEqual([])
      if (isObject(ended['error'])) return
      // If items overlap, the item that ends last may not be the last in the list.
      const removeStatus = (output: unknown) =>
        (output as JsonObject[]).map(({ status: _status, ...item }) => item)
      expect({ ...body, output: removeStatus(body['output']) }).toEqual({
        ...ended,
        output: removeStatus(ended['output']),
      })
    }),
  )
})

/** Reads a stream with the OpenAI SDK and returns its final response. */
async function readWithSdk(messages: readonly SseMessage[]): Promise<JsonObject> {
  const openai = new OpenAI({
    apiKey: 'any',
    maxRetries: 0,
    fetch: () =>
      Promise.resolve(
        new Response(formatSseMessages(messages), {
          headers: { 'content-type': 'text/event-stream' },
        }),
      ),
  })
  const stream = openai.responses.stream({ model: 'm', input: 'go' })
  return (await stream.finalResponse()) as unknown as JsonObject
}

/** Returns the output without the fields that the SDK adds. */
function pickOutput({ output }: JsonObject): unknown {
  return JSON.parse(
    JSON.stringify(output, (name, value: unknown) =>
      name === 'parsed' || name === 'parsed_arguments' ? undefined : value,
    ),
  )
}

describe('Responses streams in the OpenAI SDK', () => {
  test('from any rendered Responses stream, the OpenAI SDK builds the response object that ends the stream', async () => {
    await fc.assert(
      fc.asyncProperty(answer, answerContext, async (events, context) => {
        const messages = renderEvents(events, context)
        const ended = lastResponse(messages)
        if (isObject(ended['error'])) return
        expect(pickOutput(await readWithSdk(messages))).toEqual(pickOutput(ended))
      }),
      numberOfRuns(60),
    )
  })

  test('the OpenAI SDK throws the error of a rendered Responses stream that failed', async () => {
    const failed = renderEvents([
      { type: 'answer-started', upstreamId: null, model: null },
      {
        type: 'answer-failed',
        failure: {
          status: 429,
          type: 'tokens',
          code: 'rate_limit_exceeded',
          message: 'Slow down.',
          param: null,
        },
      },
    ])
    await expect(readWithSdk(failed)).rejects.toMatchObject({
      code: 'rate_limit_exceeded',
      type: 'tokens',
    })
  })
})

describe.skipIf(!sharedExists)('rendering of recorded answers of all providers', () => {
  test.each(recordedStreams())(
    'the recorded answer $name is rendered as a valid Responses stream',
    async ({ messages }) => {
      const events = runStage(decodeStream(), messages)
      const rerendered = renderEvents(events)
      expect(responsesFaults(rerendered)).toEqual([])
      const ended = lastResponse(rerendered)
      if (isObject(ended['error'])) return
      expect(pickOutput(await readWithSdk(rerendered))).toEqual(pickOutput(ended))
    },
  )

  test.each(recordedStreams())(
    'the recorded answer $name is rendered as a valid Responses stream, wherever it breaks off',
    ({ messages }) => {
      for (let length = 0; length < messages.length; length += 1 + (length >> 3)) {
        const events = runStage(decodeStream(), messages.slice(0, length))
        expect(responsesFaults(renderEvents(events))).toEqual([])
      }
    },
  )

  test('the event name of every SSE message of a rendered recorded answer is the `type` in its data, and `[DONE]` has none', () => {
    for (const { messages } of recordedStreams()) {
      for (const message of renderEvents(runStage(decodeStream(), messages))) {
        if (message.data === '[DONE]') expect(message.event).toBeUndefined()
        else expect(message.event).toBe(jsonOf(message)['type'])
      }
    }
  })
})
