/**
 * Whatever events come, the stream is one that the published rules allow, that the official SDK can
 * follow, and in which nothing is lost.
 */
import fc from 'fast-check'
import OpenAI from 'openai'
import { describe, expect, test } from 'vitest'
import type { StreamEvent } from '../../../../src/core/stream-event.ts'
import type { Item } from '../../../../src/core/item.ts'
import { isObject, type JsonObject } from '../../../../src/core/json/json.ts'
import { responsesDialect } from '../../../../src/dialects/responses/responses-dialect.ts'
import { decodeStream } from '../../../../src/providers/openai-responses/response/decode-stream.ts'
import { formatSseMessages } from '../../../../src/core/stream/sse.ts'
import { runStage, type SseMessage } from '../../../../src/core/stream/stage.ts'
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
  rendered,
} from '../../../support/responses-kit.ts'
import { sharedExists } from '../../../support/shared.ts'
import { runs } from '../../../support/runs.ts'

const asked = fc
  .tuple(
    fc.boolean(),
    fc.constantFrom<readonly string[]>([], ['reasoning.raw', 'reasoning.encrypted_content']),
    fc.boolean(),
  )
  .map(([stored, include, background]) =>
    answeringTo({ ...ASK, include, ...(stored ? { background } : {}) }, { stored }),
  )

describe('a stream is lawful', () => {
  test('for any answer', () => {
    fc.assert(
      fc.property(fc.oneof(answer, tangledAnswer), asked, (events, answering) => {
        expect(responsesFaults(rendered(events, answering))).toEqual([])
      }),
      runs(300),
    )
  })

  test('for an answer that breaks off anywhere', () => {
    fc.assert(
      fc.property(answer, fc.nat(), asked, (events, at, answering) => {
        const broken = events.slice(0, at % events.length)
        expect(responsesFaults(rendered(broken, answering))).toEqual([])
      }),
      runs(300),
    )
  })

  test('for events in an order that makes no sense', () => {
    fc.assert(
      fc.property(nonsense, asked, (events, answering) => {
        // Where the finished item contradicts what was heard of it, the finished item stands.
        const isContradiction = (fault: string) => / (says|differs) /.test(fault)
        const faults = responsesFaults(rendered(events, answering))
        expect(faults.filter((fault) => !isContradiction(fault))).toEqual([])
      }),
      runs(300),
    )
  })
})

test('the ending is not said before it is asked for', () => {
  fc.assert(
    fc.property(fc.oneof(answer, nonsense), (events) => {
      const renderer = responsesDialect.createRenderer(answeringTo())
      const types = events.flatMap((event) => renderer.push(event)).map(({ event }) => event)
      const endings = ['response.completed', 'response.incomplete', 'response.failed', 'error']
      expect(types.filter((type) => endings.includes(type ?? ''))).toEqual([])
    }),
  )
})

/** What an item says, without how it is called and whether it is whole. */
function wordsOf(item: Item): unknown {
  const { id: _id, status: _status, native: _native, origin: _origin, ...own } = item
  if (own.type === 'opaque') return { ...own.raw, id: null }
  if (own.type === 'message') return { ...own, content: own.content.map(bare) }
  if (own.type === 'function_call_output') return { ...own, output: null }
  return own
}

function bare(part: object): unknown {
  const { annotations = [], logprobs: _logprobs, ...own } = part as JsonObject
  return 'text' in own ? { ...own, annotations } : own
}

function itemsOf(events: readonly StreamEvent[]): readonly Item[] {
  const items: Item[] = []
  for (const event of events) if (event.type === 'item-ended') items[event.index] = event.item
  return items
}

test('what is rendered and decoded again has lost nothing', () => {
  const raw = answeringTo({ ...ASK, include: ['reasoning.raw', 'reasoning.encrypted_content'] })
  fc.assert(
    fc.property(answer, (events) => {
      const again = runStage(decodeStream(), rendered(events, raw))
      expect(itemsOf(again).map(wordsOf)).toEqual(itemsOf(events).map(wordsOf))
      const [end, endAgain] = [events.at(-1), again.at(-1)]
      expect(endAgain?.type).toBe(end?.type)
      if (end?.type === 'answer-ended') expect(endAgain).toMatchObject({ finish: end.finish })
    }),
    runs(300),
  )
})

test('a whole answer is what its stream ends with', () => {
  fc.assert(
    fc.property(answer, asked, (events, answering) => {
      const ended = lastResponse(rendered(events, answering))
      const whole = responsesDialect.renderBody(outcomeOf(events), answering, ENDED_AT_MS)
      expect(faultsInResponse(whole)).toEqual([])
      if (isObject(ended['error'])) return
      // Where items overlap, the last to end need not be the last in the list.
      const texts = (output: unknown) =>
        (output as JsonObject[]).map(({ status: _status, ...item }) => item)
      expect({ ...whole, output: texts(whole['output']) }).toEqual({
        ...ended,
        output: texts(ended['output']),
      })
    }),
  )
})

/** The response as the official SDK puts it together from a stream. */
async function accumulated(messages: readonly SseMessage[]): Promise<JsonObject> {
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

/** Without what the SDK adds of its own. */
function plainOutput({ output }: JsonObject): unknown {
  return JSON.parse(
    JSON.stringify(output, (name, value: unknown) =>
      name === 'parsed' || name === 'parsed_arguments' ? undefined : value,
    ),
  )
}

describe('the official SDK', () => {
  test('puts any answer together as it ends', async () => {
    await fc.assert(
      fc.asyncProperty(answer, asked, async (events, answering) => {
        const messages = rendered(events, answering)
        const ended = lastResponse(messages)
        if (isObject(ended['error'])) return
        expect(plainOutput(await accumulated(messages))).toEqual(plainOutput(ended))
      }),
      runs(60),
    )
  })

  test('throws what an answer has failed of', async () => {
    const failed = rendered([
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
    await expect(accumulated(failed)).rejects.toMatchObject({
      code: 'rate_limit_exceeded',
      type: 'tokens',
    })
  })
})

describe.skipIf(!sharedExists)('a recorded answer', () => {
  test.each(recordedStreams())('$name is told lawfully', async ({ messages }) => {
    const events = runStage(decodeStream(), messages)
    const told = rendered(events)
    expect(responsesFaults(told)).toEqual([])
    const ended = lastResponse(told)
    if (isObject(ended['error'])) return
    expect(plainOutput(await accumulated(told))).toEqual(plainOutput(ended))
  })

  test.each(recordedStreams())('$name is told lawfully, wherever it breaks', ({ messages }) => {
    for (let at = 0; at < messages.length; at += 1 + (at >> 3)) {
      const events = runStage(decodeStream(), messages.slice(0, at))
      expect(responsesFaults(rendered(events))).toEqual([])
    }
  })

  test('has every event under the name that it is framed with', () => {
    for (const { messages } of recordedStreams()) {
      for (const message of rendered(runStage(decodeStream(), messages))) {
        if (message.data === '[DONE]') expect(message.event).toBeUndefined()
        else expect(message.event).toBe(jsonOf(message)['type'])
      }
    }
  })
})
