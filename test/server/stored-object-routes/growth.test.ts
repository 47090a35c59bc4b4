/**
 * What is said is stored once: not again with each turn that goes on from it, whether the client names
 * that turn or sends everything again. If it were, the ratio would grow with the turns: GROWTH_TURNS
 * sets how many there are.
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
  // What the model is given does not matter here, and takes most of the time.
  gateway = await startGateway({ DATABASE_URL: url, ...DEMO, HISTORY_MAX_ITEMS: '4' })
  engine = await openEngine(url)
})
afterAll(async () => {
  await engine.close()
  await gateway.close()
  await database.drop()
})

/** Every byte of every text that is stored, of what has to be found again as well. */
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

interface Told {
  /** What is new in it, as it goes over the wire. */
  readonly bytes: number
  readonly say: (question: string) => Promise<readonly unknown[]>
}

/** Says something many times, and compares what that cost with what was new. */
async function growth({ bytes, say }: Told): Promise<number> {
  const before = await storedBytes()
  let unique = bytes
  for (let at = 0; at < TURNS; at++) {
    const question = `${filler(at)}\n/repeat ${WORDS} answer${at}`
    const said = await say(question)
    unique += bytesOf({ role: 'user', content: question }) + bytesOf(said)
  }
  return ((await storedBytes()) - before) / unique
}

test('a chain of responses, with the same tools and instructions each time', async () => {
  const tools = [{ type: 'function' as const, name: 'f', strict: false, parameters }]
  let previous: string | null = null
  const ratio = await growth({
    bytes: bytesOf({ instructions, tools }),
    async say(input) {
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

test('a conversation', async () => {
  const { id } = await gateway.openai.conversations.create()
  const ratio = await growth({
    bytes: 0,
    async say(input) {
      const asked = { model: 'demo', input, conversation: id, instructions }
      return (await gateway.openai.responses.create(asked)).output
    },
  })
  expect(ratio).toBeLessThan(1.2)
}, 120_000)

test('a chat whose client sends everything again each time', async () => {
  const tools = [{ type: 'function' as const, function: { name: 'f', parameters } }]
  const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'system', content: instructions }]
  const ratio = await growth({
    bytes: bytesOf({ messages, tools }),
    async say(content) {
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

test('responses whose client sends everything again each time', async () => {
  const input: OpenAI.Responses.ResponseInputItem[] = []
  const ratio = await growth({
    bytes: 0,
    async say(content) {
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
