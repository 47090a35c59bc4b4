/**
 * Services that send a JSON body although a stream was requested, or the reverse. The client gets the
 * requested form, and the answer is stored like any other.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { textOf } from '../../src/core/item.ts'
import { startGateway } from '../support/gateway.ts'
import {
  readClientAnswer,
  PATHS,
  greetingRequest,
  type Dialect,
} from '../support/read-client-answer.ts'
import { responsesFaults } from '../support/responses-checker.ts'
import { startServices, type Services } from '../support/services/start-services.ts'
import { answerJson, answerSse, type Behaviour } from '../support/upstream.ts'
import { WIRE_MODELS } from '../support/wire-models.ts'

let services: Services
let gateway: Awaited<ReturnType<typeof startGateway>>
let guarded: typeof gateway
beforeAll(async () => {
  services = await startServices()
  gateway = await startGateway(services.environment)
  guarded = await startGateway({ ...services.environment, SPEAKER_GUARD: 'on' })
})
afterAll(async () => {
  await gateway.close()
  await guarded.close()
  await services.close()
})
afterEach(() => services.behaveWell())

const MODELS = WIRE_MODELS.filter(({ model }) =>
  ['gpt-5', 'chat-model', 'claude-sonnet-5', 'gemini-3.8-flash'].includes(model),
)
const DIALECTS: readonly Dialect[] = ['responses', 'chat']
const ANSWER = 'You said “Servus”. Grüezi 🦊!'

const ask = (dialect: Dialect, model: string, stream: boolean, by = gateway) =>
  by.post(PATHS[dialect], greetingRequest(dialect, model, stream))

/** Returns the body that the service itself sends for this form. */
async function recordBody(model: string, stream: boolean): Promise<string> {
  const chunks: Buffer[] = []
  const { behave } = services
  services.behave = (response, received) => {
    const [write, end] = [response.write.bind(response), response.end.bind(response)]
    const storedItem = (chunk: unknown) => {
      if (typeof chunk === 'string' || chunk instanceof Uint8Array) chunks.push(Buffer.from(chunk))
    }
    response.write = ((chunk: never) => (storedItem(chunk), write(chunk))) as typeof write
    response.end = ((chunk: never) => (storedItem(chunk), end(chunk))) as typeof end
    return behave(response, received)
  }
  await (await ask('chat', model, stream)).text()
  services.behave = behave
  return Buffer.concat(chunks).toString()
}

async function loadStoredAnswer(responseId: string) {
  const turn = (
    await gateway.dependencies.store.loadChain({ tenant: 'local', user: null }, responseId)
  )?.at(-1)
  const items = turn?.output ?? []
  const text = items.map((item) => (item.type === 'message' ? textOf(item.content) : '')).join('')
  return { state: turn?.state, text }
}

describe.each(MODELS)(
  "an upstream of $model that ignores the request's `stream` field",
  ({ model }) => {
    describe.each(DIALECTS)('requests over the %s dialect', (dialect) => {
      const streamed = async (behave: Behaviour, by = gateway) => {
        services.behave = behave
        return readClientAnswer(dialect, await ask(dialect, model, true, by))
      }

      test('a JSON body is converted to the stream that the client requested', async () => {
        const body = await recordBody(model, false)
        const answer = await streamed(answerJson(200, body))
        expect(answer).toMatchObject({ text: ANSWER, failure: null })
        expect(answer.messages.at(-1)?.data).toBe('[DONE]')
        if (dialect === 'chat') return
        expect(responsesFaults(answer.messages)).toEqual([])
        expect(await loadStoredAnswer(answer.responseId)).toEqual({
          state: 'complete',
          text: ANSWER,
        })
      })

      test('a JSON body is recognized if it comes in pieces, after blank lines, or with a wrong content type', async () => {
        const body = await recordBody(model, false)
        const bytes = Buffer.from(`\r\n\n ${body}`)
        const pieces = [bytes.subarray(0, 3), bytes.subarray(3, 60), bytes.subarray(60)]
        const { text, failure } = await streamed(answerSse(pieces, 'end', 1))
        expect({ text, failure }).toEqual({ text: ANSWER, failure: null })
      })

      test('an incomplete JSON body is one failure in the requested stream', async () => {
        const body = await recordBody(model, false)
        const half = [body.slice(0, body.length >> 1)]
        const ends = [
          await streamed(answerSse(half, 'end')),
          await streamed(answerSse(half, 'reset')),
        ]
        expect(ends.map(({ failure }) => failure)).toEqual([
          expect.stringMatching(/not JSON/),
          expect.stringMatching(/connection to the upstream broke/),
        ])
        for (const { messages, text, responseId } of ends) {
          expect(text).toBe('')
          expect(messages.filter(({ data }) => data === '[DONE]')).toHaveLength(1)
          if (dialect === 'chat') continue
          expect(responsesFaults(messages)).toEqual([])
          expect(await loadStoredAnswer(responseId)).toEqual({ state: 'failed', text: '' })
        }
      })

      test('the speaker guard applies to a JSON body as to a stream', async () => {
        const body = (await recordBody(model, false)).replace(ANSWER, `${ANSWER}\\nUser: Hi`)
        expect(await streamed(answerJson(200, body), guarded)).toMatchObject({
          text: `${ANSWER}\n`,
        })
      })

      test('a stream is converted to the JSON body that the client requested', async () => {
        const frames = await recordBody(model, true)
        services.behave = answerSse([frames])
        const response = await ask(dialect, model, false)
        expect(response.headers.get('content-type')).toBe('application/json')
        const body = (await response.json()) as {
          readonly id: string
          readonly choices?: readonly { readonly message: { readonly content: string } }[]
          readonly output?: readonly { readonly content?: readonly { readonly text: string }[] }[]
        }
        const [choice] = body.choices ?? []
        const reply = choice?.message.content ?? body.output?.at(-1)?.content?.[0]?.text
        expect(reply).toBe(ANSWER)
        if (dialect === 'chat') return
        expect(await loadStoredAnswer(body.id.slice('resp_'.length))).toEqual({
          state: 'complete',
          text: ANSWER,
        })
      })

      test('an incomplete stream is not a complete JSON answer', async () => {
        const frames = await recordBody(model, true)
        const head = frames.slice(0, frames.length >> 1)
        for (const ending of ['end', 'reset'] as const) {
          services.behave = answerSse([head], ending)
          const response = await ask(dialect, model, false)
          expect(response.status).toBe(502)
          expect((await readClientAnswer(dialect, response)).failure).toMatch(/\w+ \w+/)
        }
      })
    })
  },
)
