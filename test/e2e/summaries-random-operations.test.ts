/**
 * Random operations on summarized conversations, with two gateways over one database, a fixed clock, a
 * failing store and crashes: the model gets every turn exactly once, in full or in the summary; the summary
 * comes first, the question last.
 */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { SummaryStore } from '../../src/store/summaries/summary-store-interface.ts'
import { DATABASES } from '../server/stored-object-routes/databases.ts'
import { startGateway, upstreams } from '../support/gateway.ts'
import {
  startSummarizingUpstream,
  type SummarizingUpstream,
  type SentMessage,
} from '../support/summarizing-upstream.ts'

type Gateway = Awaited<ReturnType<typeof startGateway>>
type StoreFault = 'none' | 'fails before' | 'fails behind' | 'hangs'

const STORE_FAULTS: readonly StoreFault[] = [
  'none',
  'none',
  'fails before',
  'fails behind',
  'hangs',
]
const HEADER = '[Summary of the earlier part of this conversation.'
const summaries = { trigger: 'turns', above: 3, keep_turns: 2, keep_tokens: 0 }
const backstory = { summaries }

/** A chat under test: its client sends all messages, or names a conversation or a response. */
interface Chat {
  readonly kind: 'chat' | 'conversation' | 'response'
  /** The questions so far. */
  readonly questions: readonly string[]
  /** The conversation's id, or that of the latest response. */
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

async function startTestSetup(DATABASE_URL: string) {
  const summarizer = await startSummarizingUpstream()
  const account = { name: 's', wire: 'chat', models: ['m'], baseUrl: summarizer.url, apiKey: 'k' }
  const start = async () => {
    // The gateway waits at most this long for a hanging summary when it stops.
    const gateway = await startGateway({ DATABASE_URL, DRAIN_SECONDS: '1', ...upstreams(account) })
    Object.assign(gateway.dependencies, { nowMs: () => 1_795_000_000_000 })
    return { gateway, memory: makeFail(gateway.dependencies.summaries) }
  }
  const pair = [await start(), await start()]
  let turn = 0
  return {
    summarizer,
    next: () => pair[(turn = 1 - turn)] as (typeof pair)[number],
    /** Crashes with all work in progress. */
    async crash() {
      turn = 1 - turn
      await pair[turn]?.gateway.close()
      pair[turn] = await start()
    },
    async close() {
      await Promise.all(pair.map(({ gateway }) => gateway.close()))
      await summarizer.close()
    },
  }
}

function makeFail(store: SummaryStore) {
  const memory = { mood: 'none' as StoreFault }
  for (const verb of ['findSummaries', 'saveSummary'] as const) {
    const own = store[verb] as (...given: unknown[]) => Promise<unknown>
    Object.assign(store, {
      async [verb](...given: unknown[]) {
        const { mood } = memory
        // A hanging write simulates a process that died; other calls do not wait for it.
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

type TestSetup = Awaited<ReturnType<typeof startTestSetup>>

let questionCount = 0
const newQuestion = () => `q${(questionCount += 1)}`

const messagesOf = (asked: readonly string[]) =>
  asked.flatMap((question) => [
    { role: 'user' as const, content: question },
    { role: 'assistant' as const, content: `Answer to: ${question}` },
  ])

async function ask(chat: Chat, { openai }: Gateway, stream: boolean): Promise<Chat> {
  const question = newQuestion()
  const asked = [...chat.questions, question]
  if (chat.kind === 'chat') {
    const messages = [...messagesOf(chat.questions), { role: 'user' as const, content: question }]
    const body = { model: 'm', messages, backstory }
    if (stream) for await (const _ of await openai.chat.completions.create({ ...body, stream }));
    else await openai.chat.completions.create(body)
    return { ...chat, questions: asked }
  }
  const place =
    chat.kind === 'conversation' ? { conversation: chat.id } : { previous_response_id: chat.id }
  const body = { model: 'm', input: question, backstory, ...place }
  const { id } = stream
    ? await openai.responses.stream(body).finalResponse()
    : await openai.responses.create(body)
  return { ...chat, questions: asked, id: chat.kind === 'conversation' ? chat.id : id }
}

/** Returns the messages that the model got with this question. */
function sentFor(summarizer: SummarizingUpstream, question: string): readonly SentMessage[] {
  const sent = summarizer.answerPrompts().filter((list) => list.at(-1)?.content === question)
  expect(sent).toHaveLength(1)
  return sent[0] ?? []
}

function expectEachTurnOnce(sent: readonly SentMessage[], asked: readonly string[]): void {
  const outcome = sent.filter(({ content }) => content.includes(HEADER))
  expect(outcome.length).toBeLessThanOrEqual(1)
  const inShort = outcome[0]?.content.match(/\bq\d+\b/g) ?? []
  const stored = asked.slice(inShort.length)
  // The summary covers the beginning, and the rest is in full, each turn once and in order.
  expect(inShort).toEqual(asked.slice(0, inShort.length))
  const rest = sent.filter(({ content }) => !content.includes(HEADER))
  expect(rest.map(({ content }) => content)).toEqual([
    ...messagesOf(stored.slice(0, -1)).map(({ content }) => content),
    asked.at(-1),
  ])
  if (outcome.length > 0) expect(sent[0]).toBe(outcome[0])
}

async function runStep([word, choice]: readonly [string, number], chats: Chat[], setup: TestSetup) {
  const at = choice % Math.max(chats.length, 1)
  const chat = chats[at]
  const { gateway, memory } = setup.next()
  if (word === 'mishap') memory.mood = STORE_FAULTS[choice % STORE_FAULTS.length] ?? 'none'
  if (word === 'crash' && choice % 3 === 0) await setup.crash()
  if (word === 'new' || chat === undefined) {
    const kind = (['chat', 'conversation', 'response'] as const)[choice % 3] ?? 'chat'
    const id = kind === 'conversation' ? (await gateway.openai.conversations.create()).id : null
    return void chats.push({ kind, questions: [], id })
  }
  const check = (after: Chat) => {
    expectEachTurnOnce(sentFor(setup.summarizer, after.questions.at(-1) ?? ''), after.questions)
    return after
  }
  if (word === 'ask' || word === 'stream') {
    chats[at] = check(await ask(chat, gateway, word === 'stream'))
  }
  if (word === 'ask twice' && chat.kind !== 'conversation') {
    const other = setup.next().gateway
    const both = await Promise.all([ask(chat, gateway, false), ask(chat, other, false)])
    for (const each of both) check(each)
    chats[at] = both[0]
    chats.push(both[1])
  }
  if (word === 'branch' && chat.kind === 'chat' && chat.questions.length > 1) {
    chats.push({
      ...chat,
      questions: chat.questions.slice(0, 1 + (choice % chat.questions.length)),
    })
  }
  if (word === 'edit' && chat.kind === 'chat' && chat.questions.length > 0) {
    chats[at] = {
      ...chat,
      questions: chat.questions.with(choice % chat.questions.length, newQuestion()),
    }
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

describe.concurrent.each(DATABASES)(
  'summaries in %s under random operations (C22, C55, C56)',
  (_, createDatabase) => {
    test('the model gets every turn exactly once, for any sequence of operations on a conversation', async () => {
      const { url, drop } = await createDatabase()
      const setup = await startTestSetup(url)
      try {
        await fc.assert(
          fc.asyncProperty(fc.array(anyStep, { minLength: 20, maxLength: 45 }), async (steps) => {
            const chats: Chat[] = []
            for (const step of steps) await runStep(step, chats, setup)
          }),
          { numRuns: 10, endOnFailure: true },
        )
        // The test proves nothing without enough summaries.
        expect(setup.summarizer.summarizedTexts().length).toBeGreaterThan(10)
        const outcome = setup.summarizer
          .answerPrompts()
          .filter((sent) => sent[0]?.content.includes(HEADER))
        expect(outcome.length).toBeGreaterThan(20)
      } finally {
        await setup.close()
        await drop()
      }
    }, 60_000)
  },
)
