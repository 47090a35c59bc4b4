/** Summaries with the official SDK: made behind an answer, told before the turns that are kept. */
import type OpenAI from 'openai'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { startGateway, upstreams } from '../support/gateway.ts'
import { startUpstream } from '../support/upstream.ts'
import { speak } from '../support/wires.ts'
import { said, startScribe, type Scribe, type SentMessage } from '../support/scribe.ts'

let scribe: Scribe
let gateway: Awaited<ReturnType<typeof startGateway>>
let openai: OpenAI
beforeAll(async () => {
  scribe = await startScribe()
  const account = { name: 'scribe', wire: 'chat', models: ['m', 'other'], baseUrl: scribe.url }
  const small = { ...account, name: 'small', models: ['small'], quirks: { contextWindow: 1_000 } }
  gateway = await startGateway(upstreams({ ...account, apiKey: 'k' }, { ...small, apiKey: 'k' }))
  openai = gateway.openai
})
afterAll(async () => {
  await gateway.close()
  await scribe.close()
})
beforeEach(() => {
  scribe.received.splice(0)
  gateway.log.splice(0)
})
afterEach(async () => {
  // What goes on behind the last answer is nothing of the next test's.
  await quiet()
  scribe.mishap = null
})

const backstory = { summaries: { trigger: 'turns', above: 4, keep_turns: 2, keep_tokens: 0 } }
const HEADER = '[Summary of the earlier part of this conversation.'

/** Behind an answer, and so some time after it. */
async function logged(event: string, count = 1): Promise<void> {
  const seen = () => gateway.log.filter((line) => line.event === event).length
  for (let waits = 0; seen() < count; waits += 1) {
    if (waits > 300) throw new Error(`${event}: ${JSON.stringify(gateway.log)}`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

async function quiet(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 60))
}

/** What the endpoints answer with, a refusal too. */
interface Told {
  readonly id: string
  readonly created: boolean
  readonly active: boolean
  readonly tokens: { readonly before: number; readonly after: number }
  readonly error: { readonly code: string; readonly param: string | null }
}

let chats = 0
/** A chat that no other test has had. */
function newChat() {
  chats += 1
  const messages: { role: 'user' | 'assistant' | 'system'; content: string }[] = []
  const ask = async (content: string, fields: object = {}): Promise<string> => {
    const asked = [...messages, { role: 'user' as const, content }]
    const body = { model: 'm', messages: asked, backstory, ...fields }
    const { choices } = await openai.chat.completions.create(body)
    const answer = choices[0]?.message.content ?? ''
    messages.push({ role: 'user', content }, { role: 'assistant', content: answer })
    return answer
  }
  return { messages, ask, name: `chat ${chats}` }
}

const sent = (): readonly SentMessage[] => scribe.asked().at(-1) ?? []
const textSent = () =>
  sent()
    .map(({ content }) => content)
    .join('\n')

function expectTold(summed: readonly string[], kept: readonly string[]): void {
  const list = sent()
  const told = list.findIndex(({ content }) => content.includes(HEADER))
  expect(list.filter(({ content }) => content.includes(HEADER))).toHaveLength(1)
  for (const question of summed) {
    expect(list.filter(({ content }) => content === question)).toEqual([])
    expect(list[told]?.content).toContain(question.split(' ')[0])
  }
  const places = kept.map((question) => list.findIndex(({ content }) => content === question))
  expect(places.every((place) => place > told)).toBe(true)
  expect(list.at(-1)?.content).toBe(kept.at(-1))
  expect(list.filter(({ content }) => content === kept.at(-1))).toHaveLength(1)
}

describe('a chat that its client sends as a whole', () => {
  test('C46, C54: is summed up behind an answer, and from then on told in short', async () => {
    const { ask, name } = newChat()
    for (const q of ['q1', 'q2', 'q3']) await ask(`${q} of ${name}`)
    await quiet()
    expect(scribe.summed()).toEqual([])
    await ask(`q4 of ${name}`)
    await logged('summarised')
    expect(scribe.summed()).toHaveLength(1)
    for (const q of ['q5', 'q6']) {
      await ask(`${q} of ${name}`)
      expectTold(
        ['q1', 'q2'].map((each) => `${each} of ${name}`),
        [`q3 of ${name}`, `q4 of ${name}`, `${q} of ${name}`],
      )
    }
  })

  test('C64: is told the same when the answer is streamed', async () => {
    const { ask, messages, name } = newChat()
    for (const q of ['q1', 'q2', 'q3']) await ask(`${q} of ${name}`)
    const question = { role: 'user' as const, content: `q4 of ${name}` }
    const body = { model: 'm', messages: [...messages, question], backstory, stream: true as const }
    let text = ''
    for await (const chunk of await openai.chat.completions.create(body)) {
      text += chunk.choices[0]?.delta.content ?? ''
    }
    messages.push(question, { role: 'assistant', content: text })
    await logged('summarised')
    const next = [...messages, { role: 'user' as const, content: `q5 of ${name}` }]
    const streamed = await openai.chat.completions.create({ ...body, messages: next })
    for await (const _ of streamed);
    const asStream = sent()
    expectTold([`q1 of ${name}`, `q2 of ${name}`], [`q3 of ${name}`, `q5 of ${name}`])
    await openai.chat.completions.create({ ...body, messages: next, stream: false })
    expect(sent()).toEqual(asStream)
  })

  test('C55: goes on from one summary to the next, and is told the newest alone', async () => {
    const { ask, name } = newChat()
    for (let n = 1; n <= 4; n += 1) await ask(`q${n} of ${name} KEY-${n}`)
    await logged('summarised')
    for (let n = 5; n <= 6; n += 1) await ask(`q${n} of ${name} KEY-${n}`)
    await logged('summarised', 2)
    const [first, second] = scribe.summed()
    expect(first).not.toContain('<summary_so_far>')
    expect(second).toContain('<summary_so_far>\n## Facts\n- KEY-1')
    // What it stood for is not read again, and is told all the same.
    expect(second).not.toContain(`Answer to: q1 of ${name}`)
    await ask(`q7 of ${name}`)
    expectTold(
      ['q1', 'q2', 'q3', 'q4'].map((q, at) => `${q} of ${name} KEY-${at + 1}`),
      [`q5 of ${name} KEY-5`, `q7 of ${name}`],
    )
    // C60: what is to be kept word for word is read in the very turns that go.
    expect(sent()[0]?.content).toContain('- KEY-4')
  })

  test('is not told it any more from where it was edited', async () => {
    const { ask, messages, name } = newChat()
    for (let n = 1; n <= 4; n += 1) await ask(`q${n} of ${name}`)
    await logged('summarised')
    messages[0] = { role: 'user', content: `q1 of ${name}, edited` }
    await ask(`q5 of ${name}`)
    expect(textSent()).not.toContain(HEADER)
    expect(textSent()).toContain(`q1 of ${name}, edited`)
  })

  test('keeps its instructions, though they change from day to day', async () => {
    const { ask, messages, name } = newChat()
    messages.push({ role: 'system', content: 'Today is Monday.' })
    for (let n = 1; n <= 4; n += 1) await ask(`q${n} of ${name}`)
    await logged('summarised')
    messages[0] = { role: 'system', content: 'Today is Tuesday.' }
    await ask(`q5 of ${name}`)
    expectTold([`q1 of ${name}`], [`q3 of ${name}`, `q5 of ${name}`])
    expect(sent()[0]?.content).toContain('Today is Tuesday.')
    expect(scribe.summed().join()).not.toContain('Monday')
  })

  test('is told in full where no summaries are wished for', async () => {
    const { ask, name } = newChat()
    for (let n = 1; n <= 4; n += 1) await ask(`q${n} of ${name}`)
    await logged('summarised')
    await ask(`q5 of ${name}`, { backstory: 'retain' })
    expect(textSent()).toContain(`q1 of ${name}`)
  })

  test.each([
    ['is refused', () => ({ status: 500, body: { error: { message: 'no' } } })],
    ['is empty', () => ({ status: 200, body: said('  ') })],
    ['is cut off', () => ({ status: 200, body: said('It began wi', 'length') })],
  ])('C52: stays as it is when its summary %s', async (_, mishap) => {
    scribe.mishap = mishap
    const { ask, name } = newChat()
    for (let n = 1; n <= 4; n += 1) await ask(`q${n} of ${name}`)
    await logged('not-summarised')
    scribe.mishap = null
    expect(await ask(`q5 of ${name}`)).toBe(`Answer to: q5 of ${name}`)
    expect(textSent()).not.toContain(HEADER)
    expect(textSent()).toContain(`q1 of ${name}`)
    await logged('summarised')
  })

  test('of which nothing is to be kept has no summary', async () => {
    const { ask, name } = newChat()
    for (let n = 1; n <= 5; n += 1) await ask(`q${n} of ${name}`, { store: false })
    await quiet()
    expect(scribe.summed()).toEqual([])
  })

  test('of which nothing is remembered has no summary', async () => {
    const account = { name: 'scribe', wire: 'chat', models: ['m'], baseUrl: scribe.url }
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
    await quiet()
    expect(scribe.summed()).toEqual([])
    await forgetful.close()
  })

  test('an answer does not wait for the summary, nor is it made twice at once', async () => {
    const release = scribe.holdBack()
    const { ask, name } = newChat()
    for (let n = 1; n <= 6; n += 1) await ask(`q${n} of ${name}`)
    await quiet()
    release()
    await logged('summarised')
    await quiet()
    expect(scribe.summed()).toHaveLength(1)
  })
})

test('a turn that is at work with tools goes on behind the beginning that it was begun behind', async () => {
  const { ask, messages, name } = newChat()
  for (let n = 1; n <= 3; n += 1) await ask(`q${n} of ${name}`)
  const release = scribe.holdBack()
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
  await logged('summarised')
  for (const content of ['look on', 'enough']) {
    const { tool_calls: calls = [] } = running.at(-1) as OpenAI.ChatCompletionMessage
    running.push({ role: 'tool', tool_call_id: calls[0]?.id ?? '', content })
    expect((await step()).slice(0, begun.length)).toEqual(begun)
  }
  await quiet()
  // Nothing of it is made a second time meanwhile.
  expect(scribe.summed()).toHaveLength(1)
  running.push({ role: 'user', content: `q6 of ${name}` })
  await step()
  expectTold([`q1 of ${name}`, `q2 of ${name}`], [`q3 of ${name}`, `q6 of ${name}`])
  await logged('summarised', 2)
})

test('so it does where the gateway keeps the conversation', async () => {
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
  const release = scribe.holdBack()
  await step(`q4 of ${name}`)
  const begun = await step(`q5 of ${name}: look`)
  release()
  await logged('summarised')
  for (const output of ['look on', 'enough']) {
    const { output: answer } = last as unknown as OpenAI.Responses.Response
    const call = answer.find((item) => item.type === 'function_call')
    const result = { type: 'function_call_output', call_id: call?.call_id ?? '', output } as const
    expect((await step([result])).slice(0, begun.length)).toEqual(begun)
  }
  await step(`q6 of ${name}`)
  expectTold([`q1 of ${name}`, `q2 of ${name}`], [`q3 of ${name}`, `q6 of ${name}`])
  await logged('summarised', 2)
})

test('C47, C56: what would not fit is summed up before it is sent, as a dry run tells', async () => {
  const { ask, messages, name } = newChat()
  const fields = {
    model: 'small',
    backstory: { summaries: { trigger: 'tokens', above: 100_000, keep_turns: 1, keep_tokens: 0 } },
  }
  const long = 'word '.repeat(200)
  await ask(`q1 of ${name} ${long}`, fields)
  expect(scribe.summed()).toEqual([])
  const question = { role: 'user', content: `q2 of ${name} ${long}` }
  const backstory = { ...fields.backstory, budget: { overflow: 'cut' } }
  const body = { ...fields, backstory, messages: [...messages, question] }
  const dry = await gateway.post('/v1/context/explain', body)
  const { items, notes } = (await dry.json()) as {
    items: { list: { fate: string }[] }
    notes: { why: string; detail: string }[]
  }
  // Nothing of it is cut, and nobody was asked.
  expect(items.list.map(({ fate }) => fate)).toEqual(['sent', 'sent', 'sent'])
  expect(notes.find(({ why }) => why === 'summary-due')?.detail).toContain('its first turn')
  expect(scribe.summed()).toEqual([])
  await ask(`q2 of ${name} ${long}`, fields)
  expect(scribe.summed().length).toBeGreaterThan(0)
  expectTold([`q1 of ${name} ${long}`], [`q2 of ${name} ${long}`])
  // C52: what cannot be summed up goes on as a request without a summary.
  scribe.mishap = () => ({ status: 500, body: { error: { message: 'no' } } })
  await ask(`q3 of ${name} ${long}`, fields)
  expect(sent().at(-1)?.content).toBe(`q3 of ${name} ${long}`)
  expect(gateway.log.some(({ event }) => event === 'not-summarised')).toBe(true)
})

test('C52: a summary that hangs is not waited for, and its call is taken back', async () => {
  const upstream = await startUpstream()
  const account = { name: 'u', wire: 'chat', models: ['m'], baseUrl: upstream.url, apiKey: 'k' }
  const impatient = await startGateway({
    SUMMARY_TIMEOUT_SECONDS: '1',
    ...upstreams({ ...account, quirks: { contextWindow: 1_000 } }),
  })
  upstream.behave = (response, received) =>
    upstream.received.length === 1 ? undefined : speak({ text: 'Fine.' })(response, received)
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
    fields: { why: 'It took too long.' },
  })
  await impatient.close()
  await upstream.close()
})

describe('a conversation', () => {
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
    return { status: answer.status, body: (await answer.json()) as Told }
  }
  const listed = async (id: string) => {
    const answer = await fetch(`${gateway.url}/v1/conversations/${id}/summaries`)
    return ((await answer.json()) as { data: Told[] }).data
  }

  test('C63: is summed up on request, and the answer says what that saves', async () => {
    const { id, ask } = await talk(6)
    await quiet()
    expect(scribe.summed()).toEqual([])
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
    // C51: the focus is told to whoever writes it.
    expect(scribe.summed().at(-1)).toContain('<focus>\nthe colours\n</focus>')
    await ask(`q7 of ${id}`)
    expectTold([`q1 of ${id}`, `q4 of ${id}`], [`q5 of ${id}`, `q6 of ${id}`, `q7 of ${id}`])
    await ask(`q8 of ${id}`, true)
    expectTold([`q1 of ${id}`, `q4 of ${id}`], [`q5 of ${id}`, `q7 of ${id}`, `q8 of ${id}`])
  })

  test('C53: what was summed up is still listed, and told again when the summary is deleted', async () => {
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

  test('C53: its summaries are listed by page, the longest first or last', async () => {
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
      const { data, ...rest } = (await answer.json()) as { data: Told[]; has_more: boolean }
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

  test('C48: of not more turns than are kept nothing is summed up', async () => {
    const { id } = await talk(2)
    const { status, body } = await summarize(id, { keep_turns: 2 })
    expect(status).toBe(200)
    expect(body).toMatchObject({ id: null, created: false, kept: { turns: 2, items: 4 } })
    expect(scribe.summed()).toEqual([])
    // C49: nor of fewer tokens.
    expect((await summarize(id, { keep_turns: 1, keep_tokens: 5000 })).body.id).toBeNull()
  })

  test('is summed up once, however often that is asked for, and anew with another focus', async () => {
    const { id } = await talk(4)
    const first = await summarize(id, { keep_turns: 2 })
    const again = await summarize(id, { keep_turns: 2 })
    expect(again.body).toMatchObject({ id: first.body.id, created: false, usage: null })
    const anew = await summarize(id, { keep_turns: 2, focus: 'prices' })
    expect(anew.body.created).toBe(true)
    expect(anew.body.id).not.toBe(first.body.id)
    expect((await listed(id)).map((summary) => summary.id)).toEqual([anew.body.id])
  })

  test('is forgotten with its summaries', async () => {
    const { id } = await talk(4)
    const { body } = await summarize(id, { keep_turns: 1 })
    const remove = () =>
      fetch(`${gateway.url}/v1/context/summaries/${body.id}`, { method: 'DELETE' })
    await openai.conversations.delete(id)
    expect((await remove()).status).toBe(404)
  })

  test('a fork has the summary as far as it shares what was said', async () => {
    const { id, ask } = await talk(3)
    const fourth = await ask(`q4 of ${id}`)
    await summarize(id, { keep_turns: 2 })
    await openai.responses.create({
      model: 'm',
      input: `q5 of a fork of ${id}`,
      previous_response_id: fourth.id,
      backstory: { summaries },
    } as never)
    expectTold([`q1 of ${id}`, `q2 of ${id}`], [`q3 of ${id}`, `q5 of a fork of ${id}`])
  })

  test('by itself as well, with the model that is named for it', async () => {
    const { id, ask } = await talk(4, { trigger: 'turns', above: 4, keep_turns: 2, model: 'other' })
    await quiet()
    expect(scribe.summed()).toEqual([])
    await ask(`q5 of ${id} ${'word '.repeat(20_000)}`)
    await logged('summarised')
    const summing = scribe.received.find(({ text }) => text.includes('<conversation>'))
    expect(summing?.json['model']).toBe('other')
  })

  test.each([
    [{ keep_turns: 0 }, 'keep_turns'],
    [{ keep_turns: 'all' }, 'keep_turns'],
    [{ keep_tokens: -1 }, 'keep_tokens'],
    [{ focus: 7 }, 'focus'],
    [{ model: [] }, 'model'],
    [{ keepTurns: 1 }, 'keepTurns'],
  ])('a request with %j is refused for its `%s`', async (body, param) => {
    const { id } = await openai.conversations.create()
    const refused = await summarize(id, body)
    expect(refused.status).toBe(400)
    expect(refused.body.error.param).toBe(param)
  })

  test('what is not there is told as such', async () => {
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

test('a client without conversations has its own summed up with a request as it would send it', async () => {
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
  expectTold([`q1 of ${name}`, `q2 of ${name}`], [`q3 of ${name}`, `q4 of ${name}`])
  const refused = await gateway.post('/v1/context/summarize', { ...body, store: false })
  expect(refused.status).toBe(400)
  // A dry run tells it, too, and why.
  const next = [...messages, { role: 'user', content: 'q5' }]
  const explained = await gateway.post('/v1/context/explain', { ...body, messages: next })
  const text = await explained.text()
  expect(text).toContain('summarised')
  expect(text).toContain(HEADER)
})
