/**
 * What is remembered of a chat lives as long as the chat is gone on with: that it was needed is written down
 * at most once a day, behind the answer, and what nobody has needed for long is gone.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { expireUnusedTurns } from '../../src/gateway/record/expire-unused-turns.ts'
import { startGateway, upstreams } from '../support/gateway.ts'
import { askInText, goneOn, type Message } from '../support/text-client.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'
import { chatStream } from '../support/wires.ts'

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

/** How many thoughts went along, and which turns were said to be needed. */
async function ask(): Promise<{ readonly thoughts: number; readonly touched: readonly number[] }> {
  touched.length = 0
  const told = await askInText({ url: gateway.url, chat, isOpenWebUi: true })
  chat = goneOn(chat, told, 'And then?')
  // Nobody who asks waits for that.
  await Promise.all(touching.splice(0))
  const { text = '' } = upstream.received.at(-1) ?? {}
  return { thoughts: text.split('A thought.').length - 1, touched: [...touched] }
}

const expire = () => expireUnusedTurns(gateway.dependencies, { restMs: 0 })

test('a chat that is gone on with keeps its memory, and one that is left loses it', async () => {
  expect(await ask()).toEqual({ thoughts: 0, touched: [] })
  expect(await ask()).toEqual({ thoughts: 1, touched: [] })
  day = 20
  expect(await ask()).toEqual({ thoughts: 2, touched: [2] })
  // It is not written down with every read.
  expect(await ask()).toEqual({ thoughts: 3, touched: [] })
  day = 40
  expect(await expire()).toBe(0)
  expect(await ask()).toEqual({ thoughts: 4, touched: [4] })
  day = 75
  expect(await expire()).toBe(5)
  expect(await ask()).toEqual({ thoughts: 0, touched: [] })
})
