/**
 * Each item is stored once, and not again with every later turn, whether the client names the previous
 * turn or sends its complete history. Otherwise the ratio of stored to new bytes would grow with the
 * number of turns (GROWTH_TURNS).
 */
import type OpenAI from 'openai'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Engine } from '../../../src/store/database/engine-interface.ts'
import { openEngine } from '../../../src/store/database/open-engine.ts'
import { startGateway } from '../../support/gateway.ts'
import type { TestDatabase } from '../../support/postgres.ts'
import { DEMO, sqliteFile } from './databases.ts'

const TURNS = Number(process.env['GROWTH_TURNS'] ?? 120)
const WORDS = 220

let database: TestDatabase
let engine: Engine
let gateway: Awaited<ReturnType<typeof startGateway>>
beforeAll(async () => {
  database = await sqliteFile()
  const { url } = database
  // A short prompt saves most of the time; its content does not matter here.
  gateway = await startGateway({ DATABASE_URL: url, ...DEMO, HISTORY_MAX_ITEMS: '4' })
  engine = await openEngine(url)
})
afterAll(async () => {
  await engine.close()
  await gateway.close()
  await database.drop()
})

/** Counts the bytes of all stored texts, including the columns of indexes. */
async function storedBytes(): Promise<number> {
  const columns = {
    turns: `id, tenant, user_id, thread, parent, dialect, wire, account, model, prefix_hash, state,
      usage, failure, request, conversation, metadata, owner, finish, served_model, digests,
      content_hash`,
    items: 'turn_id, tenant, side, item_id, type, call_id, body',
    conversations: 'id, tenant, metadata, head',
  }
  const sums = Object.entries(columns).map(([table, names]) => {
    const lengths = names.split(',').map((name) => `coalesce(length(cast(${name} as blob)), 0)`)
    return {
      name: null,
      sql: `select coalesce(sum(${lengths.join('+')}), 0) as bytes from ${table}`,
      parameters: [],
    }
  })
  const rows = await engine.read(sums)
  return rows.reduce((all, [row]) => all + (row as { readonly bytes: number }).bytes, 0)
}

const filler = (at: number) => `${at} word `.repeat(WORDS)
const bytesOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value))
const instructions = 'Be kind. '.repeat(100)
const parameters = { type: 'object', properties: { city: { description: 'x'.repeat(2_000) } } }

interface Exchange {
  /** Size of the new content of a request, as sent by the client. */
  readonly bytes: number
  readonly sendQuestion: (question: string) => Promise<readonly unknown[]>
}

/** Sends many requests, and returns the ratio of stored bytes to new bytes. */
async function measureGrowth({ bytes, sendQuestion }: Exchange): Promise<number> {
  const before = await storedBytes()
  let unique = bytes
  for (let at = 0; at < TURNS; at++) {
    const question = `${filler(at)}\n/repeat ${WORDS} answer${at}`
    const answer = await sendQuestion(question)
    unique += bytesOf({ role: 'user', content: question }) + bytesOf(answer)
  }
  return ((await storedBytes()) - before) / unique
}

test('tools and instructions are not stored again with each response of a chain', async () => {
  const tools = [{ type: 'function' as const, name: 'f', strict: false, parameters }]
  let previous: string | null = null
  const ratio = await measureGrowth({
    bytes: bytesOf({ instructions, tools }),
    async sendQuestion(input) {
      const response: OpenAI.Responses.Response = await gateway.openai.responses.create({
        model: 'demo',
        input,
        previous_response_id: previous,
        instructions,
        tools,
      })
      previous = response.id
      return response.output
    },
  })
  expect(ratio).toBeLessThan(1.2)
  const read = await gateway.openai.responses.retrieve(previous ?? '')
  expect(read).toMatchObject({ instructions, tools: [{ name: 'f', parameters }] })
}, 120_000)

test('earlier items of a conversation are not stored again with each response', async () => {
  const { id } = await gateway.openai.conversations.create()
  const ratio = await measureGrowth({
    bytes: 0,
    async sendQuestion(input) {
      const asked = { model: 'demo', input, conversation: id, instructions }
      return (await gateway.openai.responses.create(asked)).output
    },
  })
  expect(ratio).toBeLessThan(1.2)
}, 120_000)

test('earlier messages are not stored again when a chat client resends them', async () => {
  const tools = [{ type: 'function' as const, function: { name: 'f', parameters } }]
  const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'system', content: instructions }]
  const ratio = await measureGrowth({
    bytes: bytesOf({ messages, tools }),
    async sendQuestion(content) {
      messages.push({ role: 'user', content })
      const asked = { model: 'demo', store: true, messages, tools }
      const { choices } = await gateway.openai.chat.completions.create(asked)
      const said = choices[0]?.message
      if (said !== undefined) messages.push(said)
      return [said]
    },
  })
  expect(ratio).toBeLessThan(1.2)
}, 120_000)

test('earlier items are not stored again when a Responses client resends them', async () => {
  const input: OpenAI.Responses.ResponseInputItem[] = []
  const ratio = await measureGrowth({
    bytes: 0,
    async sendQuestion(content) {
      input.push({ role: 'user', content })
      const { output } = await gateway.openai.responses.create({
        model: 'demo',
        input,
        instructions,
      })
      input.push(...(output as OpenAI.Responses.ResponseInputItem[]))
      return output
    },
  })
  expect(ratio).toBeLessThan(1.2)
}, 120_000)
