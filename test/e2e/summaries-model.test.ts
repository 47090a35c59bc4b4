/**
 * Whatever happens to conversations that are summed up, by two gateways over one database, with a clock
 * that stands still, a memory that fails and processes that die: of every turn a model is told once, in
 * full or in short, what is told in short stands first, and the question is there once and last.
 */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { SummaryStore } from '../../src/store/summaries/summary-store-interface.ts'
import { DATABASES } from '../server/stored-object-routes/databases.ts'
import { startGateway, upstreams } from '../support/gateway.ts'
import { startScribe, type Scribe, type SentMessage } from '../support/scribe.ts'

type Gateway = Awaited<ReturnType<typeof startGateway>>
type Mishap = 'none' | 'fails before' | 'fails behind' | 'hangs'

const MISHAPS: readonly Mishap[] = ['none', 'none', 'fails before', 'fails behind', 'hangs']
const HEADER = '[Summary of the earlier part of this conversation.'
const summaries = { trigger: 'turns', above: 3, keep_turns: 2, keep_tokens: 0 }
const backstory = { summaries }

/** What is done to a chat: its client sends all of it, or names a conversation or a response. */
interface Chat {
  readonly kind: 'chat' | 'conversation' | 'response'
  /** What was asked so far. */
  readonly asked: readonly string[]
  /** The conversation, or the newest response. */
  readonly id: string | null
}

const anyStep = fc.tuple(
  fc.constantFrom(
    'ask',
    'ask',
    'ask',
    'ask',
    'stream',
    'ask twice',
    'branch',
    'edit',
    'new',
    'mishap',
    'crash',
    'summarize',
    'delete',
  ),
  fc.nat(1_000),
)

async function startTown(DATABASE_URL: string) {
  const scribe = await startScribe()
  const account = { name: 's', wire: 'chat', models: ['m'], baseUrl: scribe.url, apiKey: 'k' }
  const start = async () => {
    // A summary that hangs is waited for when its gateway stops.
    const gateway = await startGateway({ DATABASE_URL, DRAIN_SECONDS: '1', ...upstreams(account) })
    Object.assign(gateway.dependencies, { nowMs: () => 1_795_000_000_000 })
    return { gateway, memory: failing(gateway.dependencies.summaries) }
  }
  const pair = [await start(), await start()]
  let turn = 0
  return {
    scribe,
    next: () => pair[(turn = 1 - turn)] as (typeof pair)[number],
    /** With whatever it was doing. */
    async crash() {
      turn = 1 - turn
      await pair[turn]?.gateway.close()
      pair[turn] = await start()
    },
    async close() {
      await Promise.all(pair.map(({ gateway }) => gateway.close()))
      await scribe.close()
    },
  }
}

function failing(store: SummaryStore) {
  const memory = { mood: 'none' as Mishap }
  for (const verb of ['findSummaries', 'saveSummary'] as const) {
    const own = store[verb] as (...given: unknown[]) => Promise<unknown>
    Object.assign(store, {
      async [verb](...given: unknown[]) {
        const { mood } = memory
        // What hangs is what was on its way when a process died; nobody else waits for that.
        if (mood === 'hangs' && verb === 'saveSummary') return new Promise(() => undefined)
        if (mood === 'fails before') throw new Error('database is away')
        const result = await own.apply(store, given)
        if (mood === 'fails behind') throw new Error('the answer of the database was lost')
        return result
      },
    })
  }
  return memory
}

type Town = Awaited<ReturnType<typeof startTown>>

let questions = 0
const newQuestion = () => `q${(questions += 1)}`

const messagesOf = (asked: readonly string[]) =>
  asked.flatMap((question) => [
    { role: 'user' as const, content: question },
    { role: 'assistant' as const, content: `Answer to: ${question}` },
  ])

async function ask(chat: Chat, { openai }: Gateway, stream: boolean): Promise<Chat> {
  const question = newQuestion()
  const asked = [...chat.asked, question]
  if (chat.kind === 'chat') {
    const messages = [...messagesOf(chat.asked), { role: 'user' as const, content: question }]
    const body = { model: 'm', messages, backstory }
    if (stream) for await (const _ of await openai.chat.completions.create({ ...body, stream }));
    else await openai.chat.completions.create(body)
    return { ...chat, asked }
  }
  const place =
    chat.kind === 'conversation' ? { conversation: chat.id } : { previous_response_id: chat.id }
  const body = { model: 'm', input: question, backstory, ...place }
  const { id } = stream
    ? await openai.responses.stream(body).finalResponse()
    : await openai.responses.create(body)
  return { ...chat, asked, id: chat.kind === 'conversation' ? chat.id : id }
}

/** What the model was given for this question. */
function sentFor(scribe: Scribe, question: string): readonly SentMessage[] {
  const sent = scribe.asked().filter((list) => list.at(-1)?.content === question)
  expect(sent).toHaveLength(1)
  return sent[0] ?? []
}

function expectToldOnce(sent: readonly SentMessage[], asked: readonly string[]): void {
  const told = sent.filter(({ content }) => content.includes(HEADER))
  expect(told.length).toBeLessThanOrEqual(1)
  const inShort = told[0]?.content.match(/\bq\d+\b/g) ?? []
  const kept = asked.slice(inShort.length)
  // In short the beginning, in full the rest, each of them once and in order.
  expect(inShort).toEqual(asked.slice(0, inShort.length))
  const rest = sent.filter(({ content }) => !content.includes(HEADER))
  expect(rest.map(({ content }) => content)).toEqual([
    ...messagesOf(kept.slice(0, -1)).map(({ content }) => content),
    asked.at(-1),
  ])
  if (told.length > 0) expect(sent[0]).toBe(told[0])
}

async function take([word, choice]: readonly [string, number], chats: Chat[], town: Town) {
  const at = choice % Math.max(chats.length, 1)
  const chat = chats[at]
  const { gateway, memory } = town.next()
  if (word === 'mishap') memory.mood = MISHAPS[choice % MISHAPS.length] ?? 'none'
  if (word === 'crash' && choice % 3 === 0) await town.crash()
  if (word === 'new' || chat === undefined) {
    const kind = (['chat', 'conversation', 'response'] as const)[choice % 3] ?? 'chat'
    const id = kind === 'conversation' ? (await gateway.openai.conversations.create()).id : null
    return void chats.push({ kind, asked: [], id })
  }
  const check = (after: Chat) => {
    expectToldOnce(sentFor(town.scribe, after.asked.at(-1) ?? ''), after.asked)
    return after
  }
  if (word === 'ask' || word === 'stream') {
    chats[at] = check(await ask(chat, gateway, word === 'stream'))
  }
  if (word === 'ask twice' && chat.kind !== 'conversation') {
    const other = town.next().gateway
    const both = await Promise.all([ask(chat, gateway, false), ask(chat, other, false)])
    for (const each of both) check(each)
    chats[at] = both[0]
    chats.push(both[1])
  }
  if (word === 'branch' && chat.kind === 'chat' && chat.asked.length > 1) {
    chats.push({ ...chat, asked: chat.asked.slice(0, 1 + (choice % chat.asked.length)) })
  }
  if (word === 'edit' && chat.kind === 'chat' && chat.asked.length > 0) {
    chats[at] = { ...chat, asked: chat.asked.with(choice % chat.asked.length, newQuestion()) }
  }
  if (chat.kind !== 'conversation') return
  const path = `${gateway.url}/v1/conversations/${chat.id}`
  if (word === 'summarize') {
    const body = { keep_turns: 1 + (choice % 3), ...(choice % 5 === 0 ? { focus: 'all' } : {}) }
    if (memory.mood !== 'hangs') await gateway.post(`/v1/conversations/${chat.id}/summarize`, body)
  }
  if (word === 'delete') {
    const { data = [] } = (await (await fetch(`${path}/summaries`)).json()) as {
      data?: { id: string }[]
    }
    const { id } = data[choice % Math.max(data.length, 1)] ?? {}
    if (id !== undefined) await fetch(`${path}/summaries/${id}`, { method: 'DELETE' })
  }
}

describe.concurrent.each(DATABASES)('C22, C55, C56: over %s', (_, createDatabase) => {
  test('of every turn a model is told once, whatever happens', async () => {
    const { url, drop } = await createDatabase()
    const town = await startTown(url)
    try {
      await fc.assert(
        fc.asyncProperty(fc.array(anyStep, { minLength: 20, maxLength: 45 }), async (steps) => {
          const chats: Chat[] = []
          for (const step of steps) await take(step, chats, town)
        }),
        { numRuns: 10, endOnFailure: true },
      )
      // Else it has shown nothing.
      expect(town.scribe.summed().length).toBeGreaterThan(10)
      const told = town.scribe.asked().filter((sent) => sent[0]?.content.includes(HEADER))
      expect(told.length).toBeGreaterThan(20)
    } finally {
      await town.close()
      await drop()
    }
  }, 60_000)
})
