/**
 * What an answer has named is there, whatever becomes of the process that named it, and whichever
 * process is asked next. More rounds and chats than by default: MARKER_ROUNDS and REPLICA_CHATS.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { completionId } from '../../src/core/turn-derived-ids.ts'
import { startChild, type ChildGateway } from '../support/child-gateway.ts'
import { expectArrivedIfKept } from '../support/explained.ts'
import { startGateway, upstreams } from '../support/gateway.ts'
import { createDatabase } from '../support/postgres.ts'
import {
  openingOf,
  startSlowThinker,
  thoughtsOf,
  type SlowThinker,
} from '../support/slow-thinker.ts'
import { askInText, goneOn, type Message, type Told } from '../support/text-client.ts'

const ROUNDS = Number(process.env['MARKER_ROUNDS'] ?? 3)
const REPLICA_CHATS = Number(process.env['REPLICA_CHATS'] ?? 50)

interface Place {
  readonly url: string
  readonly remove: () => void | Promise<void>
}

const DATABASES: readonly (readonly [string, () => Promise<Place>])[] = [
  ['a SQLite file', newFile],
  [
    'Postgres',
    async () => {
      const { url, drop } = await createDatabase()
      return { url, remove: drop }
    },
  ],
]

async function newFile(): Promise<Place> {
  const folder = mkdtempSync(join(tmpdir(), 'backstory-kill-'))
  const remove = (): void => rmSync(folder, { recursive: true })
  return { url: `sqlite:${folder}/backstory.db`, remove }
}

let thinker: SlowThinker
beforeAll(async () => void (thinker = await startSlowThinker(20)))
afterAll(() => thinker.close())

function hello(chat: string): readonly Message[] {
  return [{ role: 'user', content: openingOf(chat) }]
}

describe.concurrent.each(DATABASES)('over %s', (kind, make) => {
  test(
    'no marker that a client has seen is lost with the process that was killed',
    async () => {
      const place = await make()
      const environment = { DATABASE_URL: place.url, ...upstreams(...thinker.accounts) }
      let gateway = await startChild(environment)
      const seen: boolean[] = []
      for (let round = 0; round < ROUNDS; round++) {
        const heard = await killedOnTheWay(gateway, `${kind} ${round}`)
        gateway = await startChild(environment)
        const { url } = gateway
        seen.push(...(await Promise.all(heard.map((cut) => isSeenAgain(url, cut)))))
      }
      await gateway.kill('SIGKILL')
      await place.remove()
      expect(seen).toContain(true)
      expect(seen).toContain(false)
    },
    60_000 + ROUNDS * 10_000,
  )
})

/** An answer, as far as it was heard. */
interface Cut {
  readonly chat: string
  readonly model: string
  readonly told: Told
}

/** Whether it was marked. Then what was thought before the marker comes back, and else nothing. */
async function isSeenAgain(url: string, { chat, model, told }: Cut): Promise<boolean> {
  const next = goneOn(hello(chat), told, 'Go on.')
  const answer = await askInText({ url, model, chat: next, isOpenWebUi: true })
  expect(answer).toMatchObject({ status: 200, isWhole: true })
  for (const id of answer.turnIds) {
    expect(await expectArrivedIfKept({ url }, completionId(id))).toBe('kept')
  }
  const isSeen = told.turnIds.length > 0
  const sent = thinker.thoughtsSent(chat)
  const [first, second] = thoughtsOf(chat, 1)
  expect(isSeen ? [[first], [first, second]] : [[]]).toContainEqual(sent)
  return isSeen
}

const CHATS = 8

/** Chats that begin one after the other, and end at some moment after the first marker was seen. */
async function killedOnTheWay(gateway: ChildGateway, name: string): Promise<readonly Cut[]> {
  const marked = Promise.withResolvers<void>()
  const told = Array.from({ length: CHATS }, async (_, at) => {
    await wait(at * 60)
    const [chat, model] = [`${name} ${at}`, at % 2 === 0 ? 'c' : 'r']
    const heard = (text: string) => void (text.includes(']: #') && marked.resolve())
    const asking = { url: gateway.url, model, chat: hello(chat), isOpenWebUi: true, heard }
    // Whoever comes too late hears nothing, and does not go on.
    const told = await askInText(asking).catch(() => null)
    return told === null ? [] : [{ chat, model, told }]
  })
  await marked.promise
  await wait(Math.random() * 400)
  await gateway.kill('SIGKILL')
  return (await Promise.all(told)).flat()
}

describe.each(DATABASES)('two replicas over %s', (kind, make) => {
  test(
    'know what the other one has just said',
    async () => {
      thinker.stepMs = 5
      const place = await make()
      const environment = { DATABASE_URL: place.url, ...upstreams(...thinker.accounts) }
      const replicas = await Promise.all([startGateway(environment), startGateway(environment)])
      const misses: string[] = []
      const ask = async (number: number) => {
        const chat = `${kind} ${number}`
        const model = number % 2 === 0 ? 'c' : 'r'
        const isOpenWebUi = number % 4 < 2
        const isHasty = number % 3 > 0
        let said = hello(chat)
        const before: string[] = []
        for (let round = 1; round <= 3; round++) {
          const { url } = replicas[(number + round) % 2] ?? replicas[0]
          const told = await askInText({ url, model, chat: said, isOpenWebUi, isHasty })
          if (String(thinker.thoughtsSent(chat)) !== String(before)) {
            misses.push(JSON.stringify({ chat, model, isOpenWebUi, isHasty, round }))
          }
          before.push(...thoughtsOf(chat, round).slice(0, model === 'c' ? 2 : 1))
          said = goneOn(said, told, 'Go on.')
        }
      }
      const AT_ONCE = 10
      for (let from = 0; from < REPLICA_CHATS; from += AT_ONCE) {
        const some = Array.from({ length: AT_ONCE }, (_, at) => ask(from + at))
        await Promise.all(some)
        thinker.received.splice(0)
      }
      for (const replica of replicas) await replica.close()
      await place.remove()
      expect(misses).toEqual([])
    },
    20_000 + REPLICA_CHATS * 200,
  )
})
