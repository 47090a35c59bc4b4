/**
 * Replays recorded answers of real services byte for byte: the official SDK reads each through the gateway in
 * both dialects, and translated streams match the published rules.
 */
import { readdirSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Item } from '../../src/core/item.ts'
import { startGateway, upstreams } from '../support/gateway.ts'
import { readClientAnswer, greetingRequest, type Dialect } from '../support/read-client-answer.ts'
import { responsesFaults } from '../support/responses-checker.ts'
import { readShared, sharedExists, sharedUrl } from '../support/shared-files.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'

const FOLDERS = {
  'openai-responses': 'responses',
  'responses-compatible': 'responses',
  'openai-chat': 'chat',
  'chat-compatible': 'chat',
  openrouter: 'chat',
  anthropic: 'anthropic',
  gemini: 'gemini',
} as const

interface Recorded {
  readonly name: string
  readonly model: string
  readonly bytes: Buffer
}

/** Lists the recorded streams with one answer; recordings of events only get SSE frames again. */
function recordedStreams(): readonly Recorded[] {
  if (!sharedExists) return [{ name: 'no recordings here', model: '', bytes: Buffer.alloc(0) }]
  return Object.entries(FOLDERS).flatMap(([folder, model]) =>
    readdirSync(sharedUrl(`fixtures/streams/${folder}/`))
      .filter((file) => /\.(sse|jsonl)$/.test(file))
      .flatMap((file) => {
        const bytes = readShared(`fixtures/streams/${folder}/${file}`)
        const name = `${folder}/${file}`
        if (file.endsWith('.sse')) return [{ name, model, bytes }]
        return answersIn(bytes.toString()).map((text, at) => ({
          name: `${name} #${at + 1}`,
          model,
          bytes: Buffer.from(text),
        }))
      }),
  )
}

/** Lists the recorded non-streamed answers and errors. */
function recordedBodies(): readonly Recorded[] {
  if (!sharedExists) return [{ name: 'no recordings here', model: '', bytes: Buffer.alloc(0) }]
  return Object.entries(FOLDERS).flatMap(([folder, model]) =>
    readdirSync(sharedUrl(`fixtures/streams/${folder}/`))
      .filter((file) => file.endsWith('.json') && !OTHER_BODIES.test(file))
      .map((file) => {
        const name = `${folder}/${file}`
        return { name, model, bytes: readShared(`fixtures/streams/${name}`) }
      }),
  )
}

/** Recordings of other endpoints, or of an answer that has just started. */
const OTHER_BODIES =
  /count-tokens|compact-|conversation-(?:create|delete)|input-tokens|background-queued|json-array/

function answersIn(lines: string): readonly string[] {
  const answers: string[] = []
  for (const line of lines.split('\n').filter((line) => line.trim() !== '')) {
    if (answers.length === 0 || line.includes('"type":"response.created"')) answers.push('')
    answers[answers.length - 1] += `data: ${line}\n\n`
  }
  return answers
}

/** Forces a translation; other wires are always translated. */
function quirksOf(wire: string): object {
  return wire === 'chat' || wire === 'responses' ? { retell: true } : {}
}

let upstream: Upstream
let gateway: Awaited<ReturnType<typeof startGateway>>
beforeAll(async () => {
  upstream = await startUpstream()
  const baseUrl = upstream.url
  gateway = await startGateway(
    upstreams(
      ...['responses', 'chat', 'anthropic', 'gemini'].flatMap((wire) => [
        { name: wire, wire, models: [wire], baseUrl },
        { name: `${wire}-2`, wire, models: [`retold-${wire}`], baseUrl, quirks: quirksOf(wire) },
      ]),
    ),
  )
})
afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

function serve(bytes: Buffer): void {
  upstream.behave = (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end(bytes)
  }
}

const FAILED = /failed-|error-mid-stream/

/** Recordings that the SDK cannot read from the service itself either, so they are not passed through. */
const UNREADABLE_BY_SDK =
  /apply-patch-call|stream-starting-after|mistral-tool-call-no-index|tool-call-no-finish/

/** Returns the model with pass-through, if the dialect is the same, and the one with translation. */
function modelsFor({ name, model }: Recorded, dialect: Dialect): readonly string[] {
  const retold = `retold-${model}`
  return model !== dialect || UNREADABLE_BY_SDK.test(name) ? [retold] : [model, retold]
}

describe.skipIf(!sharedExists)('recorded answers of upstreams', () => {
  test.each(recordedStreams())(
    'a client of the Responses API can read the recorded stream $name',
    async (recorded) => {
      const isFailed = FAILED.test(recorded.name)
      serve(recorded.bytes)
      for (const model of modelsFor(recorded, 'responses')) {
        const { responses } = gateway.openai
        const reading = responses.stream({ model, input: 'Servus' }).finalResponse()
        if (isFailed) await expect(reading).rejects.toThrow()
        else expect((await reading).status).toMatch(/^(?:completed|incomplete)$/)
      }
      const body = greetingRequest('responses', `retold-${recorded.model}`, true)
      const { messages, failure } = await readClientAnswer(
        'responses',
        await gateway.post('/v1/responses', body),
      )
      expect(responsesFaults(messages)).toEqual([])
      expect(failure !== null).toBe(isFailed)
    },
  )

  test.each(recordedStreams())(
    'a client of Chat Completions can read the recorded stream $name',
    async (recorded) => {
      serve(recorded.bytes)
      for (const model of modelsFor(recorded, 'chat')) {
        const reading = gateway.openai.chat.completions
          .stream({ model, messages: [{ role: 'user', content: 'Servus' }] })
          .finalChatCompletion()
        if (FAILED.test(recorded.name)) await expect(reading).rejects.toThrow()
        else expect((await reading).choices[0]?.finish_reason).toMatch(/\w/)
      }
    },
  )

  test.each(recordedStreams())(
    'the answer of the recorded stream $name is stored as it was sent',
    async ({ name, model, bytes }) => {
      serve(bytes)
      const response = await gateway.post(
        '/v1/responses',
        greetingRequest('responses', model, true),
      )
      const { responseId, text } = await readClientAnswer('responses', response)
      const turn = (
        await gateway.dependencies.store.loadChain({ tenant: 'local', user: null }, responseId)
      )?.at(-1)
      expect(turn?.state).toMatch(FAILED.test(name) ? /^failed$/ : /^(?:complete|incomplete)$/)
      expect(wordsOf(turn?.output ?? [])).toBe(text)
    },
  )

  test.each(recordedBodies())(
    'clients can read the recorded body $name',
    async ({ name, model, bytes }) => {
      const status = Number(/error-(\d+)/.exec(name)?.[1] ?? 200)
      upstream.behave = (response) => {
        response.writeHead(status, { 'content-type': 'application/json' })
        response.end(bytes)
      }
      for (const asked of [model, `retold-${model}`]) {
        const chat = gateway.openai.chat.completions.create({
          model: asked,
          messages: [{ role: 'user', content: 'Servus' }],
        })
        const response = gateway.openai.responses.create({ model: asked, input: 'Servus' })
        if (status === 200) {
          expect((await chat).choices[0]?.finish_reason).toMatch(/\w/)
          expect((await response).status).toMatch(/^(?:completed|incomplete)$/)
        } else {
          const sent = status === 401 ? 502 : status
          // Each API has its own status for an unknown model.
          const isUnknownModel = /error-404|model-not-found/.test(name)
          const [inChat, inResponses] = isUnknownModel ? [404, 400] : [sent, sent]
          const message = REJECTION_MESSAGE
          await expect(chat).rejects.toMatchObject({ status: inChat, message })
          await expect(response).rejects.toMatchObject({ status: inResponses, message })
        }
      }
    },
  )
})

const REJECTION_MESSAGE = expect.stringMatching(/^[45]\d\d \S+ \S+/) as string

function wordsOf(items: readonly Item[]): string {
  const parts = items.flatMap((item) => (item.type === 'message' ? item.content : []))
  return parts.map((part) => (part.type === 'output_text' ? part.text : '')).join('')
}
