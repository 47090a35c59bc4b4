/** Summaries with the official SDK: made after an answer, sent before the turns that are retained in full. */
import type OpenAI from 'openai'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { startGateway, upstreams } from '../support/gateway.ts'
import { startUpstream } from '../support/upstream.ts'
import { answerWith } from '../support/answer-formats.ts'
import {
  chatCompletion,
  startSummarizingUpstream,
  type SummarizingUpstream,
  type SentMessage,
} from '../support/summarizing-upstream.ts'

let summarizer: SummarizingUpstream
let gateway: Awaited<ReturnType<typeof startGateway>>
let openai: OpenAI
beforeAll(async () => {
  summarizer = await startSummarizingUpstream()
  const account = {
    name: 'summarizer',
    wire: 'chat',
    models: ['m', 'other'],
    baseUrl: summarizer.url,
  }
  const small = { ...account, name: 'small', models: ['small'], quirks: { contextWindow: 1_000 } }
  gateway = await startGateway(upstreams({ ...account, apiKey: 'k' }, { ...small, apiKey: 'k' }))
  openai = gateway.openai
})
afterAll(async () => {
  await gateway.close()
  await summarizer.close()
})
beforeEach(() => {
  summarizer.received.splice(0)
  gateway.log.splice(0)
})
afterEach(async () => {
  // Work after the last answer must not run into the next test.
  await untilIdle()
  summarizer.summaryResponse = null
})

const backstory = { summaries: { trigger: 'turns', above: 4, keep_turns: 2, keep_tokens: 0 } }
const HEADER = '[Summary of the earlier part of this conversation.'

/** Waits until an event is logged, because summaries are made after the answer. */
async function untilLogged(event: string, count = 1): Promise<void> {
  const seen = () => gateway.log.filter((line) => line.event === event).length
  for (let waits = 0; seen() < count; waits += 1) {
    if (waits > 300) throw new Error(`${event}: ${JSON.stringify(gateway.log)}`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

async function untilIdle(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 60))
}

/** An answer of the summary endpoints, or their error. */
interface SummaryResult {
  readonly id: string
  readonly created: boolean
  readonly active: boolean
  readonly tokens: { readonly before: number; readonly after: number }
  readonly error: { readonly code: string; readonly param: string | null }
}

let chats = 0
/** Starts a chat with a unique name. */
function newChat() {
  chats += 1
  const messages: { role: 'user' | 'assistant' | 'system'; content: string }[] = []
  const ask = async (content: string, fields: object = {}): Promise<string> => {
    const requestFields = [...messages, { role: 'user' as const, content }]
    const body = { model: 'm', messages: requestFields, backstory, ...fields }
    const { choices } = await openai.chat.completions.create(body)
    const answer = choices[0]?.message.content ?? ''
    messages.push({ role: 'user', content }, { role: 'assistant', content: answer })
    return answer
  }
  return { messages, ask, name: `chat ${chats}` }
}

const sent = (): readonly SentMessage[] => summarizer.answerPrompts().at(-1) ?? []
const textSent = () =>
  sent()
    .map(({ content }) => content)
    .join('\n')

function expectPrompt(summed: readonly string[], kept: readonly string[]): void {
  const list = sent()
  const outcome = list.findIndex(({ content }) => content.includes(HEADER))
  expect(list.filter(({ content }) => content.includes(HEADER))).toHaveLength(1)
  for (const question of summed) {
    expect(list.filter(({ content }) => content === question)).toEqual([])
    expect(list[outcome]?.content).toContain(question.split(' ')[0])
  }
  const places = kept.map((question) => list.findIndex(({ content }) => content === question))
  expect(places.every((place) => place > outcome)).toBe(true)
  expect(list.at(-1)?.content).toBe(kept.at(-1))
  expect(list.filter(({ content }) => content === kept.at(-1))).toHaveLength(1)
}

describe('summaries of a chat that its client sends completely', () => {
  test('a chat is summarized after an answer, and the summary is sent from then on (C46, C54)', async () => {
    const { ask, name } = newChat()
    for (const q of ['q1', 'q2', 'q3']) await ask(`${q} of ${name}`)
    await untilIdle()
    expect(summarizer.summarizedTexts()).toEqual([])
    await ask(`q4 of ${name}`)
    await untilLogged('summarised')
    expect(summarizer.summarizedTexts()).toHaveLength(1)
    for (const q of ['q5', 'q6']) {
      await ask(`${q} of ${name}`)
      expectPrompt(
        ['q1', 'q2'].map((each) => `${each} of ${name}`),
        [`q3 of ${name}`, `q4 of ${name}`, `${q} of ${name}`],
      )
    }
  })

  test('a streamed request sends the same prompt with a summary as a non-streamed one (C64)', async () => {
    const { ask, messages, name } = newChat()
    for (const q of ['q1', 'q2', 'q3']) await ask(`${q} of ${name}`)
    const question = { role: 'user' as const, content: `q4 of ${name}` }
    const body = { model: 'm', messages: [...messages, question], backstory, stream: true as const }
    let text = ''
    for await (const chunk of await openai.chat.completions.create(body)) {
      text += chunk.choices[0]?.delta.content ?? ''
    }
    messages.push(question, { role: 'assistant', content: text })
    await untilLogged('summarised')
    const next = [...messages, { role: 'user' as const, content: `q5 of ${name}` }]
    const streamed = await openai.chat.completions.create({ ...body, messages: next })
    for await (const _ of streamed);
    const asStream = sent()
    expectPrompt([`q1 of ${name}`, `q2 of ${name}`], [`q3 of ${name}`, `q5 of ${name}`])
    await openai.chat.completions.create({ ...body, messages: next, stream: false })
    expect(sent()).toEqual(asStream)
  })

  test('each summary of a chat continues the one before, and only the latest is sent (C55)', async () => {
    const { ask, name } = newChat()
    for (let n = 1; n <= 4; n += 1) await ask(`q${n} of ${name} KEY-${n}`)
    await untilLogged('summarised')
    for (let n = 5; n <= 6; n += 1) await ask(`q${n} of ${name} KEY-${n}`)
    await untilLogged('summarised', 2)
    const [first, second] = summarizer.summarizedTexts()
    expect(first).not.toContain('<summary_so_far>')
    expect(second).toContain('<summary_so_far>\n## Facts\n- KEY-1')
    // The second summary is made from the first, not from the turns that it replaces.
    expect(second).not.toContain(`Answer to: q1 of ${name}`)
    await ask(`q7 of ${name}`)
    expectPrompt(
      ['q1', 'q2', 'q3', 'q4'].map((q, at) => `${q} of ${name} KEY-${at + 1}`),
      [`q5 of ${name} KEY-5`, `q7 of ${name}`],
    )
    // C60: word-for-word facts are read from the turns that the new summary replaces.
    expect(sent()[0]?.content).toContain('- KEY-4')
  })

  test('a summary of turns that were edited later is not sent', async () => {
    const { ask, messages, name } = newChat()
    for (let n = 1; n <= 4; n += 1) await ask(`q${n} of ${name}`)
    await untilLogged('summarised')
    messages[0] = { role: 'user', content: `q1 of ${name}, edited` }
    await ask(`q5 of ${name}`)
    expect(textSent()).not.toContain(HEADER)
    expect(textSent()).toContain(`q1 of ${name}, edited`)
  })

  test('a summarized chat keeps its system messages, even if they change every day', async () => {
    const { ask, messages, name } = newChat()
    messages.push({ role: 'system', content: 'Today is Monday.' })
    for (let n = 1; n <= 4; n += 1) await ask(`q${n} of ${name}`)
    await untilLogged('summarised')
    messages[0] = { role: 'system', content: 'Today is Tuesday.' }
    await ask(`q5 of ${name}`)
    expectPrompt([`q1 of ${name}`], [`q3 of ${name}`, `q5 of ${name}`])
    expect(sent()[0]?.content).toContain('Today is Tuesday.')
    expect(summarizer.summarizedTexts().join()).not.toContain('Monday')
  })

  test('a chat is sent completely if the policy has no summaries', async () => {
    const { ask, name } = newChat()
    for (let n = 1; n <= 4; n += 1) await ask(`q${n} of ${name}`)
    await untilLogged('summarised')
    await ask(`q5 of ${name}`, { backstory: 'retain' })
    expect(textSent()).toContain(`q1 of ${name}`)
  })

  test.each([
    ['is refused', () => ({ status: 500, body: { error: { message: 'no' } } })],
    ['is empty', () => ({ status: 200, body: chatCompletion('  ') })],
    [
      'is cut off',
      () => ({
        status: 200,
        body: chatCompletion('A summary without', 'length'),
      }),
    ],
  ])('a chat is sent completely if its summary %s (C52)', async (_, mishap) => {
    summarizer.summaryResponse = mishap
    const { ask, name } = newChat()
    for (let n = 1; n <= 4; n += 1) await ask(`q${n} of ${name}`)
    await untilLogged('not-summarised')
    summarizer.summaryResponse = null
    expect(await ask(`q5 of ${name}`)).toBe(`Answer to: q5 of ${name}`)
    expect(textSent()).not.toContain(HEADER)
    expect(textSent()).toContain(`q1 of ${name}`)
    await untilLogged('summarised')
  })

  test('a chat with `store: false` is not summarized', async () => {
    const { ask, name } = newChat()
    for (let n = 1; n <= 5; n += 1) await ask(`q${n} of ${name}`, { store: false })
    await untilIdle()
    expect(summarizer.summarizedTexts()).toEqual([])
  })

  test('a chat is not summarized with `REMEMBER=off`', async () => {
    const account = { name: 'summarizer', wire: 'chat', models: ['m'], baseUrl: summarizer.url }
    const forgetful = await startGateway({
      ...upstreams({ ...account, apiKey: 'k' }),
      REMEMBER: 'off',
    })
    const messages: { role: 'user' | 'assistant'; content: string }[] = []
    for (let n = 1; n <= 5; n += 1) {
      messages.push({ role: 'user', content: `q${n} of nobody` })
      const body = { model: 'm', messages: [...messages], backstory }
      await forgetful.openai.chat.completions.create(body)
      messages.push({ role: 'assistant', content: `Answer to: q${n} of nobody` })
    }
    await untilIdle()
    expect(summarizer.summarizedTexts()).toEqual([])
    await forgetful.close()
  })

  test('an answer does not wait for the summary, which is made only once', async () => {
    const release = summarizer.delaySummaries()
    const { ask, name } = newChat()
    for (let n = 1; n <= 6; n += 1) await ask(`q${n} of ${name}`)
    await untilIdle()
    release()
    await untilLogged('summarised')
    await untilIdle()
    expect(summarizer.summarizedTexts()).toHaveLength(1)
  })
})

test('a running tool loop of a chat keeps the beginning of its prompt, even if a summary becomes ready', async () => {
  const { ask, messages, name } = newChat()
  for (let n = 1; n <= 3; n += 1) await ask(`q${n} of ${name}`)
  const release = summarizer.delaySummaries()
  await ask(`q4 of ${name}`)
  const tools = [{ type: 'function' as const, function: { name: 'look' } }]
  const running: OpenAI.ChatCompletionMessageParam[] = [
    ...messages,
    { role: 'user', content: `q5 of ${name}: look` },
  ]
  const step = async (): Promise<readonly SentMessage[]> => {
    const body = { model: 'm', messages: running, backstory, tools }
    const { choices } = await openai.chat.completions.create(body)
    const message = choices[0]?.message
    if (message !== undefined) running.push(message)
    return sent()
  }
  const begun = await step()
  release()
  await untilLogged('summarised')
  for (const content of ['look on', 'enough']) {
    const { tool_calls: calls = [] } = running.at(-1) as OpenAI.ChatCompletionMessage
    running.push({ role: 'tool', tool_call_id: calls[0]?.id ?? '', content })
    expect((await step()).slice(0, begun.length)).toEqual(begun)
  }
  await untilIdle()
  // Until then, no second summary is made.
  expect(summarizer.summarizedTexts()).toHaveLength(1)
  running.push({ role: 'user', content: `q6 of ${name}` })
  await step()
  expectPrompt([`q1 of ${name}`, `q2 of ${name}`], [`q3 of ${name}`, `q6 of ${name}`])
  await untilLogged('summarised', 2)
})

test('a running tool loop of a stored conversation keeps the beginning of its prompt, even if a summary becomes ready', async () => {
  chats += 1
  const tools = [{ type: 'function' as const, name: 'look', parameters: null, strict: null }]
  let last: OpenAI.Responses.Response | null = null
  const step = async (input: string | OpenAI.Responses.ResponseInput) => {
    const previous = last === null ? {} : { previous_response_id: last.id }
    const body = { model: 'm', input, tools, ...previous, backstory }
    last = await openai.responses.create(body)
    return sent()
  }
  const name = `chat ${chats}`
  for (let n = 1; n <= 3; n += 1) await step(`q${n} of ${name}`)
  const release = summarizer.delaySummaries()
  await step(`q4 of ${name}`)
  const begun = await step(`q5 of ${name}: look`)
  release()
  await untilLogged('summarised')
  for (const output of ['look on', 'enough']) {
    const { output: answer } = last as unknown as OpenAI.Responses.Response
    const call = answer.find((item) => item.type === 'function_call')
    const result = { type: 'function_call_output', call_id: call?.call_id ?? '', output } as const
    expect((await step([result])).slice(0, begun.length)).toEqual(begun)
  }
  await step(`q6 of ${name}`)
  expectPrompt([`q1 of ${name}`, `q2 of ${name}`], [`q3 of ${name}`, `q6 of ${name}`])
  await untilLogged('summarised', 2)
})

test('a prompt that does not fit is summarized before it is sent, as a dry run shows (C47, C56)', async () => {
  const { ask, messages, name } = newChat()
  const fields = {
    model: 'small',
    backstory: { summaries: { trigger: 'tokens', above: 100_000, keep_turns: 1, keep_tokens: 0 } },
  }
  const long = 'word '.repeat(225)
  await ask(`q1 of ${name} ${long}`, fields)
  expect(summarizer.summarizedTexts()).toEqual([])
  const question = { role: 'user', content: `q2 of ${name} ${long}` }
  const backstory = { ...fields.backstory, budget: { overflow: 'cut' } }
  const body = { ...fields, backstory, messages: [...messages, question] }
  const dry = await gateway.post('/v1/context/explain', body)
  const { items, notes } = (await dry.json()) as {
    items: { list: { fate: string }[] }
    notes: { why: string; detail: string }[]
  }
  // A dry run cuts nothing and calls no upstream.
  expect(items.list.map(({ fate }) => fate)).toEqual(['sent', 'sent', 'sent'])
  expect(notes.find(({ why }) => why === 'summary-due')?.detail).toContain('its first turn')
  expect(summarizer.summarizedTexts()).toEqual([])
  await ask(`q2 of ${name} ${long}`, fields)
  expect(summarizer.summarizedTexts().length).toBeGreaterThan(0)
  expectPrompt([`q1 of ${name} ${long}`], [`q2 of ${name} ${long}`])
  // C52: if the summary fails, the request is sent without one.
  summarizer.summaryResponse = () => ({ status: 500, body: { error: { message: 'no' } } })
  await ask(`q3 of ${name} ${long}`, fields)
  expect(sent().at(-1)?.content).toBe(`q3 of ${name} ${long}`)
  expect(gateway.log.some(({ event }) => event === 'not-summarised')).toBe(true)
})

test('the gateway gives up on a summary that hangs and cancels its request (C52)', async () => {
  const upstream = await startUpstream()
  const account = { name: 'u', wire: 'chat', models: ['m'], baseUrl: upstream.url, apiKey: 'k' }
  const impatient = await startGateway({
    SUMMARY_TIMEOUT_SECONDS: '1',
    ...upstreams({ ...account, quirks: { contextWindow: 1_000 } }),
  })
  upstream.behave = (response, received) =>
    upstream.received.length === 1 ? undefined : answerWith({ text: 'Fine.' })(response, received)
  const long = 'word '.repeat(600)
  const roles = ['user', 'assistant', 'user', 'assistant', 'user'] as const
  const body = {
    model: 'm',
    messages: roles.map((role) => ({ role, content: `${role} ${long}` })),
    backstory: {
      budget: { overflow: 'cut' },
      summaries: { trigger: 'tokens', above: 100_000, keep_turns: 1, keep_tokens: 0 },
    },
  }
  const { choices } = await impatient.openai.chat.completions.create(body)
  expect(choices[0]?.message.content).toBe('Fine.')
  await upstream.received[0]?.aborted
  expect(impatient.log).toContainEqual({
    level: 'warn',
    event: 'not-summarised',
    fields: { why: 'It took too long.', request: expect.stringMatching(/^req_/) as string },
  })
  await impatient.close()
  await upstream.close()
})

describe('summaries of a stored conversation', () => {
  const summaries = { trigger: 'manual', keep_turns: 2, keep_tokens: 0 }
  const talk = async (turns: number, trigger: object = summaries) => {
    const { id } = await openai.conversations.create()
    const ask = (input: string, stream = false) => {
      const body = { model: 'm', input, conversation: id, backstory: { summaries: trigger } }
      return stream ? openai.responses.stream(body).finalResponse() : openai.responses.create(body)
    }
    for (let n = 1; n <= turns; n += 1) await ask(`q${n} of ${id}`)
    return { id, ask }
  }
  const summarize = async (id: string, body: unknown = {}) => {
    const answer = await gateway.post(`/v1/conversations/${id}/summarize`, body)
    return { status: answer.status, body: (await answer.json()) as SummaryResult }
  }
  const listed = async (id: string) => {
    const answer = await fetch(`${gateway.url}/v1/conversations/${id}/summaries`)
    return ((await answer.json()) as { data: SummaryResult[] }).data
  }

  test('a stored conversation is summarized on request, and the answer reports the savings (C63)', async () => {
    const { id, ask } = await talk(6)
    await untilIdle()
    expect(summarizer.summarizedTexts()).toEqual([])
    const { body } = await summarize(id, { keep_turns: 2, focus: 'the colours' })
    expect(body).toMatchObject({
      object: 'context.summary',
      created: true,
      conversation: id,
      model: 'm',
      covered: { turns: 4, items: 8 },
      kept: { turns: 2, items: 4 },
      usage: { total_tokens: 70 },
    })
    expect(body.tokens.before).toBeGreaterThan(0)
    // C51: the focus is part of the summary prompt.
    expect(summarizer.summarizedTexts().at(-1)).toContain('<focus>\nthe colours\n</focus>')
    await ask(`q7 of ${id}`)
    expectPrompt([`q1 of ${id}`, `q4 of ${id}`], [`q5 of ${id}`, `q6 of ${id}`, `q7 of ${id}`])
    await ask(`q8 of ${id}`, true)
    expectPrompt([`q1 of ${id}`, `q4 of ${id}`], [`q5 of ${id}`, `q7 of ${id}`, `q8 of ${id}`])
  })

  test('a summarized conversation still lists its items, and sends them again when the summary is deleted (C53)', async () => {
    const { id, ask } = await talk(4)
    const { body } = await summarize(id, { keep_turns: 1 })
    const items = await openai.conversations.items.list(id, { limit: 100 })
    expect(items.data).toHaveLength(8)
    expect((await listed(id)).map((summary) => summary.id)).toEqual([body.id])
    const gone = await fetch(`${gateway.url}/v1/conversations/${id}/summaries/${body.id}`, {
      method: 'DELETE',
    })
    expect(await gone.json()).toMatchObject({ deleted: true, id: body.id })
    expect(await listed(id)).toEqual([])
    await ask(`q5 of ${id}`)
    expect(textSent()).not.toContain(HEADER)
    expect(textSent()).toContain(`q1 of ${id}`)
  })

  test('the summaries of a conversation are listed by page, in both orders (C53)', async () => {
    const { id, ask } = await talk(3)
    const made = [(await summarize(id, { keep_turns: 1 })).body.id]
    for (let n = 4; n <= 5; n += 1) {
      await ask(`q${n} of ${id}`)
      made.push((await summarize(id, { keep_turns: 1 })).body.id)
    }
    const ofConversation = `/v1/conversations/${id}`
    expect((await gateway.post(`${ofConversation}/context`, { summaries })).status).toBe(200)
    const path = `${gateway.url}${ofConversation}/summaries`
    const page = async (query: string) => {
      const answer = await fetch(`${path}?${query}`)
      const { data, ...rest } = (await answer.json()) as {
        data: SummaryResult[]
        has_more: boolean
      }
      return {
        ids: data.map((summary) => summary.id),
        active: data.map(({ active }) => active),
        ...rest,
      }
    }
    const longestFirst = made.toReversed()
    expect((await page('')).ids).toEqual(longestFirst)
    expect(await page('limit=2')).toMatchObject({
      ids: longestFirst.slice(0, 2),
      active: [true, false],
      first_id: made[2],
      last_id: made[1],
      has_more: true,
    })
    expect(await page(`after=${made[1]}`)).toMatchObject({ ids: [made[0]], has_more: false })
    expect(await page('order=asc&limit=1')).toMatchObject({ ids: [made[0]], active: [false] })
    for (const [query, param] of [
      ['limit=x', 'limit'],
      ['limit=0', 'limit'],
      ['limit=101', 'limit'],
      ['order=longest', 'order'],
      ['after=sum_x', 'after'],
    ]) {
      const refused = await fetch(`${path}?${query}`)
      expect(refused.status).toBe(400)
      expect(await refused.json()).toMatchObject({ error: { param } })
    }
  })

  test('a conversation is not summarized if it has no more rounds than the policy retains (C48)', async () => {
    const { id } = await talk(2)
    const { status, body } = await summarize(id, { keep_turns: 2 })
    expect(status).toBe(200)
    expect(body).toMatchObject({ id: null, created: false, kept: { turns: 2, items: 4 } })
    expect(summarizer.summarizedTexts()).toEqual([])
    // C49: The same for tokens.
    expect((await summarize(id, { keep_turns: 1, keep_tokens: 5000 })).body.id).toBeNull()
  })

  test('a conversation is summarized once for repeated requests, and again for another focus', async () => {
    const { id } = await talk(4)
    const first = await summarize(id, { keep_turns: 2 })
    const again = await summarize(id, { keep_turns: 2 })
    expect(again.body).toMatchObject({ id: first.body.id, created: false, usage: null })
    const anew = await summarize(id, { keep_turns: 2, focus: 'prices' })
    expect(anew.body.created).toBe(true)
    expect(anew.body.id).not.toBe(first.body.id)
    expect((await listed(id)).map((summary) => summary.id)).toEqual([anew.body.id])
  })

  test('deleting a conversation deletes its summaries', async () => {
    const { id } = await talk(4)
    const { body } = await summarize(id, { keep_turns: 1 })
    const remove = () =>
      fetch(`${gateway.url}/v1/context/summaries/${body.id}`, { method: 'DELETE' })
    await openai.conversations.delete(id)
    expect((await remove()).status).toBe(404)
  })

  test('a conversation shares a summary with its forks for the turns that they have in common', async () => {
    const { id, ask } = await talk(3)
    const fourth = await ask(`q4 of ${id}`)
    await summarize(id, { keep_turns: 2 })
    await openai.responses.create({
      model: 'm',
      input: `q5 of a fork of ${id}`,
      previous_response_id: fourth.id,
      backstory: { summaries },
    } as never)
    expectPrompt([`q1 of ${id}`, `q2 of ${id}`], [`q3 of ${id}`, `q5 of a fork of ${id}`])
  })

  test('a stored conversation is summarized automatically, with the configured model', async () => {
    const { id, ask } = await talk(4, { trigger: 'turns', above: 4, keep_turns: 2, model: 'other' })
    await untilIdle()
    expect(summarizer.summarizedTexts()).toEqual([])
    await ask(`q5 of ${id} ${'word '.repeat(20_000)}`)
    await untilLogged('summarised')
    const summing = summarizer.received.find(({ text }) => text.includes('<conversation>'))
    expect(summing?.json['model']).toBe('other')
  })

  test.each([
    [{ keep_turns: 0 }, 'keep_turns'],
    [{ keep_turns: 'all' }, 'keep_turns'],
    [{ keep_tokens: -1 }, 'keep_tokens'],
    [{ focus: 7 }, 'focus'],
    [{ model: [] }, 'model'],
    [{ keepTurns: 1 }, 'keepTurns'],
  ])(
    'a request for a summary with %j is rejected and the error names `%s`',
    async (body, param) => {
      const { id } = await openai.conversations.create()
      const refused = await summarize(id, body)
      expect(refused.status).toBe(400)
      expect(refused.body.error.param).toBe(param)
    },
  )

  test('a request for a summary of an unknown conversation, model or summary is an error', async () => {
    expect((await summarize('conv_00000000000000000000')).status).toBe(404)
    const { id } = await openai.conversations.create()
    expect((await summarize(id)).body).toMatchObject({ id: null, created: false })
    const unknown = await summarize((await talk(3)).id, { model: 'nobody', keep_turns: 1 })
    expect([unknown.status, unknown.body.error.code]).toEqual([400, 'model_not_found'])
    const remove = (path: string) => fetch(`${gateway.url}/v1${path}`, { method: 'DELETE' })
    expect((await remove(`/conversations/${id}/summaries/sum_x`)).status).toBe(404)
    expect((await remove('/context/summaries/x')).status).toBe(400)
  })
})

test('a client without stored conversations can have a chat summarized by sending its messages', async () => {
  const manual = { summaries: { trigger: 'manual', keep_turns: 1, keep_tokens: 0 } }
  const { ask, messages, name } = newChat()
  for (let n = 1; n <= 3; n += 1) await ask(`q${n} of ${name}`, { backstory: manual })
  const body = { model: 'm', messages, backstory: manual }
  const answer = await gateway.post('/v1/context/summarize', body)
  expect(await answer.json()).toMatchObject({
    created: true,
    active: true,
    covered: { turns: 2, items: 4 },
    conversation: null,
  })
  await ask(`q4 of ${name}`, { backstory: manual })
  expectPrompt([`q1 of ${name}`, `q2 of ${name}`], [`q3 of ${name}`, `q4 of ${name}`])
  const refused = await gateway.post('/v1/context/summarize', { ...body, store: false })
  expect(refused.status).toBe(400)
  // A dry run shows the summary and why it is sent.
  const next = [...messages, { role: 'user', content: 'q5' }]
  const explained = await gateway.post('/v1/context/explain', { ...body, messages: next })
  const text = await explained.text()
  expect(text).toContain('summarised')
  expect(text).toContain(HEADER)
})
