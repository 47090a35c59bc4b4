/**
 * Services that answer in the other form than they were asked for: whole where a stream was wanted,
 * or the other way round. The client gets what it asked for, and it is kept like any other answer.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { textOf } from '../../src/core/item.ts'
import { startGateway } from '../support/gateway.ts'
import { heard, PATHS, servus, type Dialect } from '../support/heard.ts'
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
const TOLD = 'You said “Servus”. Grüezi 🦊!'

const ask = (dialect: Dialect, model: string, stream: boolean, by = gateway) =>
  by.post(PATHS[dialect], servus(dialect, model, stream))

/** What the service says when it is asked as it likes. */
async function recorded(model: string, stream: boolean): Promise<string> {
  const chunks: Buffer[] = []
  const { behave } = services
  services.behave = (response, received) => {
    const [write, end] = [response.write.bind(response), response.end.bind(response)]
    const kept = (chunk: unknown) => {
      if (typeof chunk === 'string' || chunk instanceof Uint8Array) chunks.push(Buffer.from(chunk))
    }
    response.write = ((chunk: never) => (kept(chunk), write(chunk))) as typeof write
    response.end = ((chunk: never) => (kept(chunk), end(chunk))) as typeof end
    return behave(response, received)
  }
  await (await ask('chat', model, stream)).text()
  services.behave = behave
  return Buffer.concat(chunks).toString()
}

async function kept(responseId: string) {
  const turn = (
    await gateway.dependencies.store.loadChain({ tenant: 'local', user: null }, responseId)
  )?.at(-1)
  const items = turn?.output ?? []
  const text = items.map((item) => (item.type === 'message' ? textOf(item.content) : '')).join('')
  return { state: turn?.state, text }
}

describe.each(MODELS)('over $model', ({ model }) => {
  describe.each(DIALECTS)('for %s', (dialect) => {
    const streamed = async (behave: Behaviour, by = gateway) => {
      services.behave = behave
      return heard(dialect, await ask(dialect, model, true, by))
    }

    test('a whole answer is told as the stream that was asked for', async () => {
      const body = await recorded(model, false)
      const answer = await streamed(answerJson(200, body))
      expect(answer).toMatchObject({ text: TOLD, failure: null })
      expect(answer.messages.at(-1)?.data).toBe('[DONE]')
      if (dialect === 'chat') return
      expect(responsesFaults(answer.messages)).toEqual([])
      expect(await kept(answer.responseId)).toEqual({ state: 'complete', text: TOLD })
    })

    test('it is one however it comes: in pieces, behind blank lines, under a wrong name', async () => {
      const body = await recorded(model, false)
      const bytes = Buffer.from(`\r\n\n ${body}`)
      const pieces = [bytes.subarray(0, 3), bytes.subarray(3, 60), bytes.subarray(60)]
      const { text, failure } = await streamed(answerSse(pieces, 'end', 1))
      expect({ text, failure }).toEqual({ text: TOLD, failure: null })
    })

    test('one that breaks off is a failure, told once', async () => {
      const body = await recorded(model, false)
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
        expect(await kept(responseId)).toEqual({ state: 'failed', text: '' })
      }
    })

    test('guards watch it as they would a stream', async () => {
      const body = (await recorded(model, false)).replace(TOLD, `${TOLD}\\nUser: Hi`)
      expect(await streamed(answerJson(200, body), guarded)).toMatchObject({ text: `${TOLD}\n` })
    })

    test('a stream is told as the whole answer that was asked for', async () => {
      const frames = await recorded(model, true)
      services.behave = answerSse([frames])
      const response = await ask(dialect, model, false)
      expect(response.headers.get('content-type')).toBe('application/json')
      const body = (await response.json()) as {
        readonly id: string
        readonly choices?: readonly { readonly message: { readonly content: string } }[]
        readonly output?: readonly { readonly content?: readonly { readonly text: string }[] }[]
      }
      const [choice] = body.choices ?? []
      const said = choice?.message.content ?? body.output?.at(-1)?.content?.[0]?.text
      expect(said).toBe(TOLD)
      if (dialect === 'chat') return
      expect(await kept(body.id.slice('resp_'.length))).toEqual({ state: 'complete', text: TOLD })
    })

    test('a stream that broke off is no whole answer', async () => {
      const frames = await recorded(model, true)
      const head = frames.slice(0, frames.length >> 1)
      for (const ending of ['end', 'reset'] as const) {
        services.behave = answerSse([head], ending)
        const response = await ask(dialect, model, false)
        expect(response.status).toBe(502)
        expect((await heard(dialect, response)).failure).toMatch(/\w+ \w+/)
      }
    })
  })
})
