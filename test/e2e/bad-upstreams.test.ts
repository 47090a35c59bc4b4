/**
 * Services that break off, or send invalid or meaningless answers, on each wire and for both dialects: the
 * client gets one error, with the service's message if there is one; the partial answer is stored; nothing
 * hangs.
 */
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { afterEach, describe, expect, test } from 'vitest'
import { textOf } from '../../src/core/item.ts'
import {
  readClientAnswer,
  PATHS,
  greetingRequest,
  type Dialect,
  type ClientAnswer,
} from '../support/read-client-answer.ts'
import { responsesFaults } from '../support/responses-checker.ts'
import { useGatewayWithServices } from '../support/services/gateway-with-services.ts'
import type { Services } from '../support/services/start-services.ts'
import { STREAM_FAULTS } from '../support/stream-faults.ts'
import { answerSse } from '../support/upstream.ts'
import { WIRE_MODELS } from '../support/wire-models.ts'

const setup = useGatewayWithServices()
afterEach(() => {
  setup.services.spoil = null
  setup.services.behaveWell()
})

const MODELS = WIRE_MODELS.filter(({ model }) =>
  ['gpt-5', 'chat-model', 'claude-sonnet-5', 'gemini-3.8-flash'].includes(model),
)
const FULL_TEXT = 'You said “Servus”. Grüezi 🦊!'

const DIALECTS: readonly Dialect[] = ['responses', 'chat']

const ask = (dialect: Dialect, model: string, stream: boolean) =>
  setup.gateway.post(PATHS[dialect], greetingRequest(dialect, model, stream))

/** Returns the state of a stored answer and its text. */
async function loadStoredAnswer({ responseId }: ClientAnswer) {
  const turn = (
    await setup.gateway.dependencies.store.loadChain({ tenant: 'local', user: null }, responseId)
  )?.at(-1)
  const items = turn?.output ?? []
  const text = items.map((item) => (item.type === 'message' ? textOf(item.content) : '')).join('')
  return { state: turn?.state, text }
}

describe.each(MODELS)('invalid answers of an upstream over $model', ({ model, wire }) => {
  describe.each(DIALECTS)(
    'invalid answers of an upstream for a client of the %s API',
    (dialect) => {
      const isOwn = dialect === wire
      const spoilt = async (spoil: Services['spoil']) => {
        setup.services.spoil = spoil
        return readClientAnswer(dialect, await ask(dialect, model, true))
      }
      /** A chat stream that is passed through and not stored may end as the service ended it. */
      const expectOneEnding = ({ messages }: ClientAnswer) => {
        const count = messages.filter(({ data }) => data === '[DONE]').length
        if (!(isOwn && dialect === 'chat')) expect(count).toBe(1)
        if (!isOwn && dialect === 'responses') expect(responsesFaults(messages)).toEqual([])
      }

      test.each(STREAM_FAULTS)(
        'a client gets a valid stream if the upstream sends $name',
        async ({ frames, fails, said = /./ }) => {
          const answer = await spoilt((told) => frames(told, wire))
          if (fails === null) expect(answer.failure).toBeNull()
          else expect(answer.failure).toMatch(fails)
          if (fails === null && said.source === '.') expect(answer.text).toContain(FULL_TEXT)
          else expect(answer.text).toMatch(said)
          expectOneEnding(answer)
          if (dialect === 'chat') return
          expect(await loadStoredAnswer(answer)).toEqual({
            state: fails === null ? 'complete' : 'failed',
            text: answer.text,
          })
        },
      )

      test("the SDK throws the upstream's message for an error in a stream", async () => {
        const error = STREAM_FAULTS.find(({ name }) => name === 'an error behind a good beginning')
        setup.services.spoil = (told) => error?.frames(told, wire) ?? told
        const { responses, chat } = setup.gateway.openai
        const reading =
          dialect === 'responses'
            ? responses.stream({ model, input: 'Servus' }).finalResponse()
            : chat.completions
                .stream({ model, messages: [{ role: 'user', content: 'Servus' }] })
                .finalChatCompletion()
        await expect(reading).rejects.toThrow('The engine is on fire.')
      })

      test('a stream whose events are missing, doubled or in the wrong order ends exactly once', async () => {
        const picks = fc.array(fc.nat(), { maxLength: 30 })
        const property = fc.asyncProperty(picks, async (order) => {
          const answer = await spoilt((told) => order.map((at) => told[at % told.length] ?? ''))
          expectOneEnding(answer)
        })
        await fc.assert(property, { numRuns: 25 })
      })

      test('a stream with an event of 10 MB is decoded', async () => {
        const padding = `data: {"padding":"${'x'.repeat(10_000_000)}",`
        const { text, failure } = await spoilt((told) =>
          told.map((frame, at) => (at === 2 ? frame.replace('data: {', padding) : frame)),
        )
        expect({ text, failure }).toEqual({ text: FULL_TEXT, failure: null })
      })

      test('a stream with an event that never ends fails', async () => {
        const answer = await spoilt((told) => [
          ...told.slice(0, 3),
          `data: ${'x'.repeat(17_000_000)}`,
        ])
        expect(answer.failure).toMatch(/cannot be read/)
        expectOneEnding(answer)
      })

      test('a stream with the wrong content type is decoded', async () => {
        const result: string[] = []
        await spoilt((frames) => (result.push(...frames), frames))
        setup.services.behave = (response) => {
          response.writeHead(200, { 'content-type': 'text/plain' })
          response.end(result.join(''))
        }
        const { text, failure } = await readClientAnswer(dialect, await ask(dialect, model, true))
        expect({ text, failure }).toEqual({ text: FULL_TEXT, failure: null })
      })

      test('a stream whose connection breaks fails', async () => {
        const result: string[] = []
        await spoilt((frames) => (result.push(...frames), frames))
        setup.services.behave = answerSse(result.slice(0, -2), 'reset', 1)
        const answer = await readClientAnswer(dialect, await ask(dialect, model, true))
        expect(answer.failure).toMatch(/connection to the upstream broke/)
        expectOneEnding(answer)
      })

      test.each([
        [200, '{"id":"x"}', /sent its answer in gzip, which it was not asked for/],
        [503, '{"error":{"message":"Full."}}', /answered with status 503, and in gzip/],
      ])(
        "an upstream's answer in an encoding that the gateway did not accept fails (status %i)",
        async (status, body, says) => {
          setup.services.behave = (response) => {
            response.writeHead(status, { 'content-encoding': 'gzip' })
            response.end(gzipSync(body))
          }
          for (const stream of [false, true]) {
            const response = await ask(dialect, model, stream)
            expect(response.status).toBe(status === 200 ? 502 : status)
            expect((await readClientAnswer(dialect, response)).failure).toMatch(says)
          }
        },
      )

      test.each([
        [
          302,
          { location: 'https://login.example/in?token=secret' },
          'a redirect to https://login.example/in, which is not followed',
        ],
        [304, {}, 'which is neither an answer nor an error'],
        [999, {}, 'which is neither an answer nor an error'],
      ])(
        "an upstream's status %i, which is neither an answer nor an error, becomes status 502",
        async (status, headers, what) => {
          setup.services.behave = (response) => void response.writeHead(status, headers).end()
          for (const stream of [false, true]) {
            const response = await ask(dialect, model, stream)
            expect(response.status).toBe(502)
            expect((await readClientAnswer(dialect, response)).failure).toBe(
              `The upstream answered with status ${status}, ${what}. Check its baseUrl.`,
            )
          }
        },
      )

      test.each(BODIES)(
        "an upstream's answer whose body is %s fails",
        async (_, status, type, body) => {
          setup.services.behave = (response) => {
            response.writeHead(status, { 'content-type': type })
            response.end(body)
          }
          for (const stream of [false, true]) {
            const response = await ask(dialect, model, stream)
            if (!stream) expect(response.status).toBe(status === 200 ? 502 : status)
            const { failure } = await readClientAnswer(dialect, response)
            expect(failure).toMatch(/\w+ \w+/)
            expect(failure).not.toMatch(/[<{]/)
          }
        },
      )
    },
  )
})

const PAGE = '<!doctype html><html><title>Sign in</title><body>Please sign in.</body></html>'

/** Answers of the proxies and login pages between a gateway and a service. */
const BODIES: readonly (readonly [string, number, string, string])[] = [
  ['a web page', 200, 'text/html', PAGE],
  ['a web page with an error', 502, 'text/html', PAGE],
  ['nothing', 200, 'application/json', ''],
  ['empty, with an error status', 500, 'application/json', ''],
  ['half of a JSON object', 200, 'application/json', '{"id":"x","choices":[{"mess'],
  ['an empty object', 200, 'application/json', '{}'],
  ['a failure', 200, 'application/json', '{"status":"failed","error":{"message":"On fire."}}'],
  ['a failure without a message', 200, 'application/json', '{"error":{"length":3}}'],
  ['a list', 200, 'application/json', '[]'],
  ['null', 200, 'application/json', 'null'],
  ['words', 503, 'text/plain', 'upstream connect error or disconnect/reset before headers'],
  ['an error of another shape', 400, 'application/json', '{"detail":"Not like this, please."}'],
]
