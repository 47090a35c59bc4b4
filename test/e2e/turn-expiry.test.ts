/**
 * Stored turns of a chat live as long as the chat is used: `usedAtMs` is written at most once a day, after
 * the answer, and turns that were unused for long are deleted.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { expireUnusedTurns } from '../../src/gateway/record/expire-unused-turns.ts'
import { startGateway, upstreams } from '../support/gateway.ts'
import { askInText, addRound, type Message } from '../support/text-client.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'
import { chatStream } from '../support/answer-formats.ts'

const DAY_MS = 24 * 60 * 60 * 1000

let upstream: Upstream
let gateway: Awaited<ReturnType<typeof startGateway>>
let day = 0
const touched: number[] = []
const touching: Promise<void>[] = []
beforeAll(async () => {
  upstream = await startUpstream((response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end(chatStream({ reasoning: 'A thought.', text: 'Noted.' }).join(''))
  })
  const quirks = { reasoningField: 'reasoning_content', reasoningOn: 'all' }
  const account = { name: 'c', wire: 'chat', baseUrl: upstream.url, quirks }
  gateway = await startGateway({ ...upstreams(account), RETENTION_DAYS: '30' })
  const { dependencies } = gateway
  const { nowMs } = dependencies
  const { touchTurns } = dependencies.recall
  Object.assign(dependencies, { nowMs: () => nowMs() + day * DAY_MS })
  Object.assign(dependencies.recall, {
    touchTurns: (tenant: string, ids: readonly string[], now: number) => {
      touched.push(ids.length)
      const written = touchTurns(tenant, ids, now)
      touching.push(written)
      return written
    },
  })
})
afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

let chat: readonly Message[] = [{ role: 'user', content: 'What is a lighthouse for?' }]

/** Returns how much reasoning was sent and which turns were marked as used. */
async function ask(): Promise<{ readonly thoughts: number; readonly touched: readonly number[] }> {
  touched.length = 0
  const result = await askInText({ url: gateway.url, chat, isOpenWebUi: true })
  chat = addRound(chat, result, 'And then?')
  // The answer does not wait for these writes.
  await Promise.all(touching.splice(0))
  const { text = '' } = upstream.received.at(-1) ?? {}
  return { thoughts: text.split('A thought.').length - 1, touched: [...touched] }
}

const expire = () => expireUnusedTurns(gateway.dependencies, { pauseMs: 0 })

test('expiry keeps the turns of a chat in use and deletes those of an abandoned one', async () => {
  expect(await ask()).toEqual({ thoughts: 0, touched: [] })
  expect(await ask()).toEqual({ thoughts: 1, touched: [] })
  day = 20
  expect(await ask()).toEqual({ thoughts: 2, touched: [2] })
  // Not every read updates the time of use.
  expect(await ask()).toEqual({ thoughts: 3, touched: [] })
  day = 40
  expect(await expire()).toBe(0)
  expect(await ask()).toEqual({ thoughts: 4, touched: [4] })
  day = 75
  expect(await expire()).toBe(5)
  expect(await ask()).toEqual({ thoughts: 0, touched: [] })
})
