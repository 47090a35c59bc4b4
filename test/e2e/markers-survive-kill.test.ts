/**
 * Markers survive the process: a turn that a client has a marker of is stored, even if the process is killed,
 * and another replica finds it. `MARKER_ROUNDS` and `REPLICA_CHATS` raise the numbers of rounds and chats.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { completionId } from '../../src/core/turn-derived-ids.ts'
import { startChild, type ChildGateway } from '../support/child-gateway.ts'
import { expectReceivedIfStored } from '../support/compare-explanations.ts'
import { startGateway, upstreams } from '../support/gateway.ts'
import { createDatabase } from '../support/postgres.ts'
import {
  firstMessageOf,
  startSlowReasoningUpstream,
  reasoningOf,
  type SlowReasoningUpstream,
} from '../support/slow-reasoning-upstream.ts'
import { askInText, addRound, type Message, type TextAnswer } from '../support/text-client.ts'

const ROUNDS = Number(process.env['MARKER_ROUNDS'] ?? 3)
const REPLICA_CHATS = Number(process.env['REPLICA_CHATS'] ?? 50)

interface Database {
  readonly url: string
  readonly remove: () => void | Promise<void>
}

const DATABASES: readonly (readonly [string, () => Promise<Database>])[] = [
  ['a SQLite file', newFile],
  [
    'Postgres',
    async () => {
      const { url, drop } = await createDatabase()
      return { url, remove: drop }
    },
  ],
]

async function newFile(): Promise<Database> {
  const folder = mkdtempSync(join(tmpdir(), 'backstory-kill-'))
  const remove = (): void => rmSync(folder, { recursive: true })
  return { url: `sqlite:${folder}/backstory.db`, remove }
}

let reasoner: SlowReasoningUpstream
beforeAll(async () => void (reasoner = await startSlowReasoningUpstream(20)))
afterAll(() => reasoner.close())

function firstMessage(chat: string): readonly Message[] {
  return [{ role: 'user', content: firstMessageOf(chat) }]
}

test.concurrent.each(DATABASES)(
  'a turn whose marker a client has received is found after the gateway process is killed, over %s',
  async (kind, make) => {
    const place = await make()
    const accounts = upstreams(...reasoner.accounts)
    const environment = { DATABASE_URL: place.url, MARKERS: 'always', ...accounts }
    let gateway = await startChild(environment)
    const seen: boolean[] = []
    for (let round = 0; round < ROUNDS; round++) {
      const answers = await startAndKillChats(gateway, `${kind} ${round}`)
      gateway = await startChild(environment)
      const { url } = gateway
      seen.push(...(await Promise.all(answers.map((cut) => isRecalled(url, cut)))))
    }
    await gateway.kill('SIGKILL')
    await place.remove()
    expect(seen).toContain(true)
    expect(seen).toContain(false)
  },
  60_000 + ROUNDS * 10_000,
)

/** An answer as far as its client received it before the kill. */
interface CutAnswer {
  readonly chat: string
  readonly model: string
  readonly told: TextAnswer
}

/**
 * True if the client has a marker or a reference of the answer, and the reasoning before it comes back in the next
 * request. Without either, it may come back if the client has the complete text.
 */
async function isRecalled(url: string, { chat, model, told }: CutAnswer): Promise<boolean> {
  const next = addRound(firstMessage(chat), told, 'Go on.')
  const answer = await askInText({ url, model, chat: next, isOpenWebUi: true })
  expect(answer).toMatchObject({ status: 200, isComplete: true })
  for (const id of answer.turnIds) {
    expect(await expectReceivedIfStored({ url }, completionId(id))).toBe('kept')
  }
  const isSeen = told.turnIds.length > 0
  const sent = reasoner.reasoningSent(chat)
  const [first, second] = reasoningOf(chat, 1)
  // The marker may stand at the end of the answer. If only that was cut off, the answer is found by its text.
  const found = [[first], [first, second]]
  expect(isSeen ? found : [[], ...found]).toContainEqual(sent)
  return isSeen
}

const CHATS = 8

/** Starts chats one after the other, and kills the gateway a random moment after the first marker. */
async function startAndKillChats(
  gateway: ChildGateway,
  name: string,
): Promise<readonly CutAnswer[]> {
  const marked = Promise.withResolvers<void>()
  const result = Array.from({ length: CHATS }, async (_, at) => {
    await wait(at * 60)
    const [chat, model] = [`${name} ${at}`, at % 2 === 0 ? 'c' : 'r']
    const onText = (text: string) => void (text.includes(']: #') && marked.resolve())
    const asking = { url: gateway.url, model, chat: firstMessage(chat), isOpenWebUi: true, onText }
    // A chat that starts after the kill gets no answer.
    const result = await askInText(asking).catch(() => null)
    return result === null ? [] : [{ chat, model, told: result }]
  })
  await marked.promise
  await wait(Math.random() * 400)
  await gateway.kill('SIGKILL')
  return (await Promise.all(result)).flat()
}

test.each(DATABASES)(
  'two replicas over %s find the turns that the other has just stored',
  async (kind, make) => {
    reasoner.stepMs = 5
    const place = await make()
    const accounts = upstreams(...reasoner.accounts)
    const environment = { DATABASE_URL: place.url, MARKERS: 'always', ...accounts }
    const replicas = await Promise.all([startGateway(environment), startGateway(environment)])
    const misses: string[] = []
    const ask = async (number: number) => {
      const chat = `${kind} ${number}`
      const model = number % 2 === 0 ? 'c' : 'r'
      const isOpenWebUi = number % 4 < 2
      const leavesAtDone = number % 3 > 0
      let reply = firstMessage(chat)
      const before: string[] = []
      for (let round = 1; round <= 3; round++) {
        const { url } = replicas[(number + round) % 2] ?? replicas[0]
        const result = await askInText({
          url,
          model,
          chat: reply,
          isOpenWebUi,
          leavesAtDone,
        })
        if (String(reasoner.reasoningSent(chat)) !== String(before)) {
          misses.push(JSON.stringify({ chat, model, isOpenWebUi, leavesAtDone, round }))
        }
        before.push(...reasoningOf(chat, round).slice(0, model === 'c' ? 2 : 1))
        reply = addRound(reply, result, 'Go on.')
      }
    }
    const AT_ONCE = 10
    for (let from = 0; from < REPLICA_CHATS; from += AT_ONCE) {
      const some = Array.from({ length: AT_ONCE }, (_, at) => ask(from + at))
      await Promise.all(some)
      reasoner.received.splice(0)
    }
    for (const replica of replicas) await replica.close()
    await place.remove()
    expect(misses).toEqual([])
  },
  20_000 + REPLICA_CHATS * 200,
)
