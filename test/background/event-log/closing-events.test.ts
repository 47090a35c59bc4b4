/** A log that breaks off at any event gets a valid ending. */
import fc from 'fast-check'
import OpenAI from 'openai'
import { describe, expect, test } from 'vitest'
import {
  createClosingEvents,
  type RunLogEnding,
} from '../../../src/background/event-log/closing-events.ts'
import { createFailure } from '../../../src/core/errors/gateway-error.ts'
import { formatSseMessages, type SseMessage } from '../../../src/core/stream/sse.ts'
import { decodeFrames, groupMessages } from '../../support/logs.ts'
import { answer } from '../../support/responses-answers.ts'
import { responsesFaults } from '../../support/responses-checker.ts'
import {
  answeringTo,
  ASK,
  jsonOf,
  lastResponse,
  recordedStreams,
  renderEvents,
} from '../../support/responses-kit.ts'
import { sharedExists } from '../../support/shared-files.ts'

const failure = createFailure('internal_error', 'It stopped.')
const FAILED: RunLogEnding = { status: 'failed', failure, storedIndexes: new Set() }
const CANCELLED: RunLogEnding = { status: 'cancelled', failure: null, storedIndexes: new Set() }

const SSE = { 'content-type': 'text/event-stream' }

/** Returns all messages that a reader of the complete log receives. */
function ended(messages: readonly SseMessage[], ending: RunLogEnding): readonly SseMessage[] {
  const words = createClosingEvents(groupMessages(messages), ending)
  return [...messages, ...decodeFrames(words?.events.text ?? ''), { data: '[DONE]' }]
}

const ENDS = /^response\.(completed|failed|incomplete)$/

const cutAnswer = fc.tuple(answer, fc.nat(), fc.boolean()).map(([events, pick, background]) => {
  const told = renderEvents(events, answeringTo({ ...ASK, background }))
  const opening = background ? 3 : 2
  // The log of an unfinished run has no terminal event.
  const end = told.findIndex(({ event }) => event === 'error' || ENDS.test(event ?? ''))
  return told.slice(0, opening + (pick % (end - opening + 1)))
})

describe('closing events for an answer that breaks off after any event', () => {
  test('a failed run with closing events is a valid Responses stream', () => {
    fc.assert(
      fc.property(cutAnswer, (messages) => {
        expect(responsesFaults(ended(messages, FAILED))).toEqual([])
      }),
      { numRuns: 300 },
    )
  })

  test('a cancelled run with closing events is a valid Responses stream, apart from its missing error', () => {
    fc.assert(
      fc.property(cutAnswer, (messages) => {
        const faults = responsesFaults(ended(messages, CANCELLED))
        expect(faults.map((fault) => fault.replace(/^\d+ /, ''))).toEqual([
          'response.failed: has status cancelled',
          'response.failed: has the wrong error',
          'response.failed: is not preceded by error',
        ])
      }),
      { numRuns: 100 },
    )
  })

  test('the OpenAI SDK reads a cancelled run with closing events to its end', async () => {
    await fc.assert(
      fc.asyncProperty(cutAnswer, async (messages) => {
        const told = ended(messages, CANCELLED)
        const openai = new OpenAI({
          apiKey: 'x',
          fetch: () => Promise.resolve(new Response(formatSseMessages(told), { headers: SSE })),
        })
        const final = await openai.responses.stream({ response_id: 'resp_1' }).finalResponse()
        expect(final).toMatchObject(lastResponse(told))
      }),
      { numRuns: 50 },
    )
  })

  test.runIf(sharedExists).each(recordedStreams())(
    'closing events make a recorded stream of $name valid wherever it breaks off',
    ({ messages }) => {
      if (messages[0]?.event !== 'response.created') return
      for (let cut = 3; cut < messages.length; cut += 7) {
        const log = messages.slice(0, cut).filter(({ data }) => data !== '[DONE]')
        if (log.some(({ event }) => /^response\.(completed|failed|incomplete)$/.test(event ?? '')))
          break
        const before = responsesFaults(log, LOOSE)
        const after = responsesFaults(ended(log, FAILED), LOOSE)
        // Faults that the recording itself has.
        expect(after.filter((fault) => !before.includes(fault))).toEqual([])
      }
    },
  )
})

const LOOSE = { sentinel: false, wholeResponses: false }

describe('items of a broken answer for the store', () => {
  const open = renderEvents(
    [
      { type: 'answer-started', upstreamId: null, model: null },
      { type: 'item-started', index: 0, item: { type: 'message', role: 'assistant', content: [] } },
      { type: 'text-delta', index: 0, part: 0, text: 'Half a ' },
      { type: 'text-delta', index: 0, part: 0, text: 'word' },
      { type: 'item-started', index: 1, item: { type: 'reasoning', summary: [] } },
      { type: 'reasoning-delta', index: 1, channel: 'summary', part: 0, text: 'Hm' },
    ],
    answeringTo(),
  ).slice(0, 9)

  test('of the unfinished items of a broken answer, only a message is to be stored, with its text so far', () => {
    expect(createClosingEvents(groupMessages(open), CANCELLED)?.unfinishedItems).toMatchObject([
      {
        position: 0,
        item: { type: 'message', status: 'incomplete', content: [{ text: 'Half a word' }] },
      },
    ])
  })

  test('an item that is stored already is not to be stored again, and is closed as completed', () => {
    const words = createClosingEvents(groupMessages(open), {
      ...CANCELLED,
      storedIndexes: new Set([0]),
    })
    expect(words?.unfinishedItems).toEqual([])
    const { output } = lastResponse(decodeFrames(words?.events.text ?? ''))
    expect(output).toMatchObject([{ status: 'completed' }, { type: 'reasoning' }])
  })
})

test('no closing events are created for an empty event log', () => {
  expect(createClosingEvents([], FAILED)).toBeNull()
})

test('closing events continue the numbering of the log and contain its response object', () => {
  const begun = renderEvents([], answeringTo()).slice(0, 2)
  const words = createClosingEvents(groupMessages(begun), FAILED)
  expect(words?.events).toMatchObject({ first: 2, last: 3 })
  const [error, failed] = decodeFrames(words?.events.text ?? '').map(jsonOf)
  expect(error).toMatchObject({ type: 'error', error: { message: 'It stopped.' } })
  const first = begun[0] === undefined ? {} : jsonOf(begun[0])
  expect(failed?.['response']).toEqual({
    ...(first['response'] as object),
    status: 'failed',
    error: { code: 'server_error', message: 'It stopped.' },
  })
})
