/**
 * Services that break, lie or make no sense, behind each wire and for both dialects: the client is
 * told once, in the service's words where it had any; what had arrived is kept; nothing hangs.
 */
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { afterEach, describe, expect, test } from 'vitest'
import { textOf } from '../../src/core/item.ts'
import { heard, PATHS, servus, type Dialect, type Heard } from '../support/heard.ts'
import { responsesFaults } from '../support/responses-checker.ts'
import { serviceTown } from '../support/services/service-town.ts'
import type { Services } from '../support/services/start-services.ts'
import { SPOILS } from '../support/spoiled-streams.ts'
import { answerSse } from '../support/upstream.ts'
import { WIRE_MODELS } from '../support/wire-models.ts'

const town = serviceTown()
afterEach(() => {
  town.services.spoil = null
  town.services.behaveWell()
})

const MODELS = WIRE_MODELS.filter(({ model }) =>
  ['gpt-5', 'chat-model', 'claude-sonnet-5', 'gemini-3.8-flash'].includes(model),
)
const WHOLE = 'You said “Servus”. Grüezi 🦊!'

const DIALECTS: readonly Dialect[] = ['responses', 'chat']

const ask = (dialect: Dialect, model: string, stream: boolean) =>
  town.gateway.post(PATHS[dialect], servus(dialect, model, stream))

/** How a kept answer ended, and the text that was kept of it. */
async function kept({ responseId }: Heard) {
  const turn = (
    await town.gateway.dependencies.store.loadChain({ tenant: 'local', user: null }, responseId)
  )?.at(-1)
  const items = turn?.output ?? []
  const text = items.map((item) => (item.type === 'message' ? textOf(item.content) : '')).join('')
  return { state: turn?.state, text }
}

describe.each(MODELS)('over $model', ({ model, wire }) => {
  describe.each(DIALECTS)('for %s', (dialect) => {
    const isOwn = dialect === wire
    const spoilt = async (spoil: Services['spoil']) => {
      town.services.spoil = spoil
      return heard(dialect, await ask(dialect, model, true))
    }
    /** What is passed on in a chat that is not kept is the service's own. */
    const expectOneEnding = ({ messages }: Heard) => {
      const count = messages.filter(({ data }) => data === '[DONE]').length
      if (!(isOwn && dialect === 'chat')) expect(count).toBe(1)
      if (!isOwn && dialect === 'responses') expect(responsesFaults(messages)).toEqual([])
    }

    test.each(SPOILS)('a stream: $name', async ({ frames, fails, said = /./ }) => {
      const answer = await spoilt((told) => frames(told, wire))
      if (fails === null) expect(answer.failure).toBeNull()
      else expect(answer.failure).toMatch(fails)
      if (fails === null && said.source === '.') expect(answer.text).toContain(WHOLE)
      else expect(answer.text).toMatch(said)
      expectOneEnding(answer)
      if (dialect === 'chat') return
      expect(await kept(answer)).toEqual({
        state: fails === null ? 'complete' : 'failed',
        text: answer.text,
      })
    })

    test('a stream: the SDK throws what the service said', async () => {
      const error = SPOILS.find(({ name }) => name === 'an error behind a good beginning')
      town.services.spoil = (told) => error?.frames(told, wire) ?? told
      const { responses, chat } = town.gateway.openai
      const reading =
        dialect === 'responses'
          ? responses.stream({ model, input: 'Servus' }).finalResponse()
          : chat.completions
              .stream({ model, messages: [{ role: 'user', content: 'Servus' }] })
              .finalChatCompletion()
      await expect(reading).rejects.toThrow('The engine is on fire.')
    })

    test('a stream: events in any order, missing and doubled', async () => {
      const picks = fc.array(fc.nat(), { maxLength: 30 })
      const property = fc.asyncProperty(picks, async (order) => {
        const answer = await spoilt((told) => order.map((at) => told[at % told.length] ?? ''))
        expectOneEnding(answer)
      })
      await fc.assert(property, { numRuns: 25 })
    })

    test('a stream: an event of 10 MB', async () => {
      const padding = `data: {"padding":"${'x'.repeat(10_000_000)}",`
      const { text, failure } = await spoilt((told) =>
        told.map((frame, at) => (at === 2 ? frame.replace('data: {', padding) : frame)),
      )
      expect({ text, failure }).toEqual({ text: WHOLE, failure: null })
    })

    test('a stream: an event without an end', async () => {
      const answer = await spoilt((told) => [
        ...told.slice(0, 3),
        `data: ${'x'.repeat(17_000_000)}`,
      ])
      expect(answer.failure).toMatch(/cannot be read/)
      expectOneEnding(answer)
    })

    test('a stream: under the wrong name', async () => {
      const told: string[] = []
      await spoilt((frames) => (told.push(...frames), frames))
      town.services.behave = (response) => {
        response.writeHead(200, { 'content-type': 'text/plain' })
        response.end(told.join(''))
      }
      const { text, failure } = await heard(dialect, await ask(dialect, model, true))
      expect({ text, failure }).toEqual({ text: WHOLE, failure: null })
    })

    test('a stream: the connection breaks', async () => {
      const told: string[] = []
      await spoilt((frames) => (told.push(...frames), frames))
      town.services.behave = answerSse(told.slice(0, -2), 'reset', 1)
      const answer = await heard(dialect, await ask(dialect, model, true))
      expect(answer.failure).toMatch(/connection to the upstream broke/)
      expectOneEnding(answer)
    })

    test.each([
      [200, '{"id":"x"}', /sent its answer in gzip, which it was not asked for/],
      [503, '{"error":{"message":"Full."}}', /answered with status 503, and in gzip/],
    ])('a body that is packed (%i)', async (status, body, says) => {
      town.services.behave = (response) => {
        response.writeHead(status, { 'content-encoding': 'gzip' })
        response.end(gzipSync(body))
      }
      for (const stream of [false, true]) {
        const response = await ask(dialect, model, stream)
        expect(response.status).toBe(status === 200 ? 502 : status)
        expect((await heard(dialect, response)).failure).toMatch(says)
      }
    })

    test.each([
      [
        302,
        { location: 'https://login.example/in?token=secret' },
        'a redirect to https://login.example/in, which is not followed',
      ],
      [304, {}, 'which is neither an answer nor an error'],
      [999, {}, 'which is neither an answer nor an error'],
    ])('neither an answer nor an error (%i)', async (status, headers, what) => {
      town.services.behave = (response) => void response.writeHead(status, headers).end()
      for (const stream of [false, true]) {
        const response = await ask(dialect, model, stream)
        expect(response.status).toBe(502)
        expect((await heard(dialect, response)).failure).toBe(
          `The upstream answered with status ${status}, ${what}. Check its baseUrl.`,
        )
      }
    })

    test.each(BODIES)('a body: %s', async (_, status, type, body) => {
      town.services.behave = (response) => {
        response.writeHead(status, { 'content-type': type })
        response.end(body)
      }
      for (const stream of [false, true]) {
        const response = await ask(dialect, model, stream)
        if (!stream) expect(response.status).toBe(status === 200 ? 502 : status)
        const { failure } = await heard(dialect, response)
        expect(failure).toMatch(/\w+ \w+/)
        expect(failure).not.toMatch(/[<{]/)
      }
    })
  })
})

const PAGE = '<!doctype html><html><title>Sign in</title><body>Please sign in.</body></html>'

/** What stands between a gateway and a service says such things. */
const BODIES: readonly (readonly [string, number, string, string])[] = [
  ['a web page', 200, 'text/html', PAGE],
  ['a web page with an error', 502, 'text/html', PAGE],
  ['nothing', 200, 'application/json', ''],
  ['nothing with an error', 500, 'application/json', ''],
  ['half of an object', 200, 'application/json', '{"id":"x","choices":[{"mess'],
  ['an empty object', 200, 'application/json', '{}'],
  ['a failure', 200, 'application/json', '{"status":"failed","error":{"message":"On fire."}}'],
  ['a failure without words', 200, 'application/json', '{"error":{"length":3}}'],
  ['a list', 200, 'application/json', '[]'],
  ['null', 200, 'application/json', 'null'],
  ['words', 503, 'text/plain', 'upstream connect error or disconnect/reset before headers'],
  ['an error of another shape', 400, 'application/json', '{"detail":"Not like this, please."}'],
]
