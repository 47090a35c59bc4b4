/** After any sequence of operations the stateful API returns what a simple model predicts. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { openEngine } from '../../../src/store/database/open-engine.ts'
import { startGateway } from '../../support/gateway.ts'
import { expectedState, clientOf, readState, type Client } from './client.ts'
import { DATABASES, DEMO } from './databases.ts'
import { alive, emptyModel, type Model } from './stored-objects-model.ts'

type Gateway = Awaited<ReturnType<typeof startGateway>>

/** Two gateways on one database; each can be restarted. */
async function startPair(DATABASE_URL: string) {
  const start = () => startGateway({ DATABASE_URL, ...DEMO })
  const pair: Gateway[] = [await start(), await start()]
  let turn = 0
  const at = () => (pair[turn] as Gateway).openai
  return {
    /** Alternates between the gateways. */
    next() {
      turn = 1 - turn
      return at()
    },
    async restart() {
      await pair[turn]?.close()
      pair[turn] = await start()
    },
    close: () => Promise.all(pair.map((gateway) => gateway.close())),
  }
}

/** An operation, and a number that selects the object that it is applied to. */
const anyStep = fc.tuple(
  fc.constantFrom(
    'ask',
    'follow',
    'follow',
    'converse',
    'converse',
    'chat',
    'chat on',
    'chat on',
    'new conversation',
    'add items',
    'hide item',
    'delete response',
    'delete chat',
    'delete conversation',
    'restart',
  ),
  fc.nat(1_000),
)

async function take(
  [word, choice]: readonly [string, number],
  client: Client,
  model: Model,
  restart: () => Promise<void>,
): Promise<void> {
  const pick = <Thing extends { readonly isDeleted: boolean }>(things: readonly Thing[]) => {
    const some = alive(things)
    return some[choice % Math.max(some.length, 1)] ?? null
  }
  const conversation = pick(model.conversations)
  const response = pick(model.responses)
  const chat = pick(model.chats)
  if (word === 'ask') await client.ask(null)
  if (word === 'follow') await client.ask(response)
  if (word === 'chat') await client.chat(null)
  if (word === 'chat on') await client.chat(chat)
  if (word === 'new conversation') await client.createConversation(choice % 4)
  if (word === 'delete response' && response !== null) await client.deleteResponse(response)
  if (word === 'delete chat' && chat !== null) await client.deleteChat(chat)
  if (word === 'restart' && choice % 4 === 0) await restart()
  if (conversation === null) return
  if (word === 'converse') await client.converse(conversation)
  if (word === 'add items') await client.addItems(conversation, 1 + (choice % 3))
  if (word === 'hide item') await client.hideItem(conversation, choice)
  if (word === 'delete conversation') await client.deleteConversation(conversation)
}

async function deleteAll(client: Client, model: Model): Promise<void> {
  for (const conversation of alive(model.conversations)) {
    await client.deleteConversation(conversation)
  }
  for (const response of alive(model.responses)) await client.deleteResponse(response)
  for (const chat of alive(model.chats)) await client.deleteChat(chat)
}

function count(table: string) {
  return { name: null, sql: `select count(*) as "left" from ${table}`, parameters: [] }
}

describe.each(DATABASES)('two gateways on one database, over %s', (_, open) => {
  test('two gateways on one database immediately return what was written through either, and nothing that was deleted', async () => {
    const database = await open()
    const pair = await startPair(database.url)
    const engine = await openEngine(database.url)
    await fc.assert(
      fc.asyncProperty(fc.array(anyStep, { minLength: 20, maxLength: 45 }), async (steps) => {
        const model = emptyModel()
        const client = clientOf(pair.next, model)
        for (const step of steps) await take(step, client, model, pair.restart)
        expect(await readState(pair.next(), model)).toEqual(expectedState(model))
        await deleteAll(client, model)
        expect(await engine.read([count('turns'), count('items')])).toEqual([
          [{ left: 0 }],
          [{ left: 0 }],
        ])
      }),
      { numRuns: 4 },
    )
    await engine.close()
    await pair.close()
    await database.drop()
  }, 60_000)
})
