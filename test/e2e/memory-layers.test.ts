/**
 * Memory layers, end to end: a model's working memory and observations are in its next prompts, over every
 * wire, in both dialects, streamed and not; an answer is complete even if a layer fails.
 */
import { beforeEach, describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/core/json/json.ts'
import type { MemoryLayer } from '../../src/memory/memory-layer-interface.ts'
import { startGateway, upstreams } from '../support/gateway.ts'
import { chatCompletion, startSummarizingUpstream } from '../support/summarizing-upstream.ts'
import { useGatewayWithServices } from '../support/services/gateway-with-services.ts'
import { WIRE_MODELS } from '../support/wire-models.ts'

const WORKING_MEMORY_ON = { layers: { working_memory: true } }
/** Different in each test, because two identical chats cannot be told apart. */
let note: string
let count = 0
const CHANGE_NOTICE = 'These fields have changed since; null means removed:'

// One test has a layer that hangs; the gateway waits only one second for it at its end.
const setup = useGatewayWithServices({ TRUST_USER_HEADERS: 'on', DRAIN_SECONDS: '1' })
beforeEach(() => {
  note = `${(count += 1)}. Use update_working_memory({"changes":{"name":"Ada"}}).`
  setup.services.behaveWell()
  setup.services.refusals.length = 0
  setup.services.received.length = 0
  setLayers(undefined)
})

function setLayers(memoryLayers: readonly MemoryLayer[] | undefined): void {
  Object.assign(setup.gateway.dependencies, { memoryLayers })
}

const sent = (): string => setup.services.received.at(-1)?.text ?? ''

async function post(path: string, body: object, headers = {}): Promise<string> {
  const response = await setup.gateway.post(path, body, headers)
  const text = await response.text()
  expect(response.status, text).toBe(200)
  return text
}

/** Sends the next question of a conversation as a client of the dialect does. */
type AskNext = (question: string) => Promise<string>
type StartConversation = (model: string, more?: object) => AskNext

function overResponses(stream: boolean): StartConversation {
  return (model, more = { backstory: WORKING_MEMORY_ON }) => {
    let previous: object = {}
    return async (input) => {
      const text = await post('/v1/responses', { model, input, stream, ...previous, ...more })
      previous = { previous_response_id: /"id":"(resp_[^"]+)"/.exec(text)?.[1] }
      return text
    }
  }
}

/** A chat client that sends all messages so far, as it received them. */
function overChat(stream: boolean): StartConversation {
  return (model, more = { backstory: WORKING_MEMORY_ON }) => {
    const messages: object[] = []
    return async (content) => {
      messages.push({ role: 'user', content })
      const text = await post('/v1/chat/completions', { model, messages, stream, ...more })
      messages.push({ role: 'assistant', content: readText(text, stream) })
      return text
    }
  }
}

interface Choice {
  readonly delta?: { readonly content?: string | null }
  readonly message?: { readonly content?: string | null }
}

function readText(text: string, stream: boolean): string {
  const bodies = stream
    ? text.split('\n').flatMap((line) => (line.startsWith('data: {') ? [line.slice(6)] : []))
    : [text]
  return bodies
    .flatMap((body) => (JSON.parse(body) as { readonly choices: readonly Choice[] }).choices)
    .map(({ delta, message }) => delta?.content ?? message?.content ?? '')
    .join('')
}

const WAYS: readonly (readonly [string, StartConversation])[] = [
  ['responses, not streamed', overResponses(false)],
  ['responses, streamed', overResponses(true)],
  ['chat, not streamed', overChat(false)],
  ['chat, streamed', overChat(true)],
]

const WIRES = WIRE_MODELS.filter(
  ({ wire }, at) => WIRE_MODELS.findIndex((other) => other.wire === wire) === at,
)

describe.each(WAYS)('memory layers in requests of the kind: %s', (_, converse) => {
  test.each(WIRES)(
    'what the model writes into working memory is sent in later prompts over $model (C40)',
    async ({ model }) => {
      const ask = converse(model)
      const answer = await ask(note)
      expect(answer).not.toContain('update_working_memory')
      expect(sent()).toContain('The working memory has 14 of 4000 characters now.')
      expect(sent()).not.toContain(CHANGE_NOTICE)
      await ask('Who am I?')
      expect(sent()).toContain(CHANGE_NOTICE)
      expect(sent()).toContain('<working_memory_changed>')
      await ask('Are you sure?')
      // The model behind the services repeats its system prompt, so the tag may occur a second time.
      expect(sent().match(/(?<!I was told: )<working_memory_changed>/g)).toHaveLength(1)
      expect(setup.services.refusals).toEqual([])
    },
  )

  test('the block of a memory layer stays at its position in the prompt (C43)', async () => {
    const ask = converse('chat-model')
    await ask(note)
    await ask('Who am I?')
    const before = messagesSent()
    await ask('Are you sure?')
    expect(messagesSent().slice(0, before.length)).toEqual(before)
  })

  test('reasoning that is only valid after the same prefix stays valid with memory layers (C43)', async () => {
    const ask = converse('claude-opus-5-5')
    await ask(note)
    await ask('Who am I?')
    await ask('Are you sure?')
    expect(sent()).toContain(CHANGE_NOTICE)
    // Two of the first answer, which had two rounds, and one of the second.
    expect(sent().match(/"signature":/g)).toHaveLength(3)
    expect(setup.services.refusals).toEqual([])
  })

  test('the block of a memory layer is sent as a developer message that is not stored (C38)', async () => {
    const ask = converse('gpt-5')
    await ask(note)
    await ask('Who am I?')
    await ask('Are you sure?')
    const input = setup.services.received.at(-1)?.json['input'] as readonly JsonObject[]
    const result = input.filter(({ role }) => role === 'developer')
    expect(result).toMatchObject([{ type: 'message', role: 'developer' }])
    expect(JSON.stringify(result)).toContain(CHANGE_NOTICE)
  })

  test('a memory layer that fails or hangs does not delay or fail the answer (C37)', async () => {
    const never = () => new Promise<null>(() => undefined)
    setLayers([
      memoryLayer('broken', { loadBlock: async () => Promise.reject(new Error('no such table')) }),
      memoryLayer('hanging', { loadBlock: never, update: never as never, timeoutMs: 60 }),
      memoryLayer('fine', { loadBlock: async () => Promise.resolve({ text: 'All is well.' }) }),
    ])
    const answer = await converse('chat-model')('Hello?')
    expect(answer).toContain('You said')
    expect(sent()).toContain('<fine>\\nAll is well.\\n</fine>')
    expect(sent()).not.toMatch(/broken|hanging/)
    const events = setup.gateway.log.map(
      ({ event, fields }) => `${event} ${fields?.['layer'] as string}`,
    )
    expect(events).toContain('layer-failed broken')
    expect(events).toContain('layer-late hanging')
  })

  test('without the policy field `layers`, no memory layer is called, no tool is offered and no block is sent', async () => {
    const request: string[] = []
    setLayers([
      memoryLayer('off', { loadBlock: async () => Promise.resolve((request.push('off'), null)) }),
    ])
    await converse('chat-model', {})(note)
    expect(sent()).not.toMatch(/working_memory"|<working_memory/)
    expect(request).toEqual([])
  })
})

function messagesSent(): readonly unknown[] {
  return setup.services.received.at(-1)?.json['messages'] as readonly unknown[]
}

function memoryLayer(
  name: string,
  fields: Pick<MemoryLayer, 'loadBlock'> & Partial<MemoryLayer>,
): MemoryLayer {
  return {
    name,
    order: 100,
    isEnabled: ({ workingMemory }) => workingMemory,
    getStability: () => 'volatile',
    minTokens: 0,
    maxTokens: 500,
    timeoutMs: 500,
    ...fields,
  }
}

test('explain shows the tokens of each memory layer in a request (C45)', async () => {
  setLayers([
    memoryLayer('one', { loadBlock: async () => Promise.resolve({ text: 'x'.repeat(400) }) }),
    memoryLayer('two', { order: 5, loadBlock: async () => Promise.resolve({ text: 'y' }) }),
    memoryLayer('late', { timeoutMs: 10, loadBlock: () => new Promise(() => undefined) }),
  ])
  const body = { model: 'chat-model', input: 'Hello?', backstory: WORKING_MEMORY_ON }
  const result = JSON.parse(await post('/v1/context/explain', body)) as {
    readonly layers: Readonly<Record<string, { readonly tokens: number }>>
    readonly parts: { readonly added: { readonly tokens: number } }
    readonly items: {
      readonly list: readonly { readonly fate: string; readonly reasons?: object }[]
    }
    readonly notes: readonly { readonly why: string; readonly detail: string }[]
  }
  expect(Object.keys(result.layers)).toEqual(['two', 'one'])
  expect(result.layers['one']?.tokens).toBeGreaterThan(100)
  const all = Object.values(result.layers).reduce((sum, { tokens }) => sum + tokens, 0)
  expect(result.parts.added.tokens).toBe(all)
  expect(result.items.list.map(({ fate }) => fate)).toEqual(['added', 'added', 'sent'])
  expect(result.items.list[1]?.reasons).toMatchObject([{ why: 'layer-told', by: 'place-layers' }])
  expect(result.notes.find(({ why }) => why === 'layer-late')?.detail).toContain('(late)')
})

describe('the working memory API (C40)', () => {
  const at = (query: string) => `/v1/memory/working${query}`
  async function call(method: string, query: string, body?: object, headers = {}) {
    const response = await fetch(setup.gateway.url + at(query), {
      method,
      headers: { 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    return { status: response.status, body: (await response.json()) as JsonObject }
  }

  test('the API reads, writes and deletes the memory of a conversation, which is deleted with the conversation', async () => {
    const { id } = await setup.gateway.openai.conversations.create()
    const query = `?conversation=${id}`
    expect((await call('GET', query)).body).toEqual({
      object: 'memory.working',
      conversation: id,
      memory: {},
    })
    const put = await call('PUT', query, { memory: { city: 'Chur', ['__proto__']: { a: 1 } } })
    expect(put.body['memory']).toEqual({ city: 'Chur' })
    const body = {
      model: 'chat-model',
      input: 'Hello?',
      conversation: id,
      backstory: WORKING_MEMORY_ON,
    }
    await post('/v1/responses', body)
    expect(sent()).toContain('<working_memory>')
    expect(sent()).toContain('Chur')
    await post('/v1/responses', { ...body, input: note })
    expect((await call('GET', query)).body['memory']).toEqual({ city: 'Chur', name: 'Ada' })
    expect((await call('DELETE', query)).body).toMatchObject({ deleted: true })
    expect((await call('DELETE', query)).body).toMatchObject({ deleted: false })
    await call('PUT', query, { memory: { city: 'Chur' } })
    await setup.gateway.openai.conversations.delete(id)
    expect((await call('GET', query)).status).toBe(404)
  })

  test('the API finds the memory of a thread by a response id', async () => {
    const text = await post('/v1/responses', {
      model: 'chat-model',
      input: note,
      backstory: WORKING_MEMORY_ON,
    })
    const { id } = JSON.parse(text) as { readonly id: string }
    expect((await call('GET', `?response=${id}`)).body['memory']).toEqual({ name: 'Ada' })
  })

  test("the memory of a user is sent in all of the user's conversations and in no other user's", async () => {
    const [ada, bob] = ['ada', 'bob'].map((user) => ({ 'x-backstory-user': user }))
    const backstory = { layers: { working_memory: true, scope: 'user' } }
    await post('/v1/responses', { model: 'chat-model', input: note, backstory }, ada)
    const question = { model: 'chat-model', input: 'Who am I?', backstory }
    await post('/v1/responses', question, ada)
    expect(sent()).toContain('<working_memory>')
    await post('/v1/responses', question, bob)
    expect(sent()).not.toContain('<working_memory>')
    expect((await call('GET', '', undefined, ada)).body).toMatchObject({ user: 'ada' })
    await fetch(`${setup.gateway.url}/v1/memory/users/ada`, {
      method: 'DELETE',
      headers: ada ?? {},
    })
    expect((await call('GET', '', undefined, ada)).body['memory']).toEqual({})
  })

  test.each([
    ['PUT', '', { memory: {} }, 400, 'conversation'],
    ['GET', '?conversation=resp_1', undefined, 400, 'conversation'],
    ['GET', '?conversation=conv_nothing', undefined, 404, 'conversation'],
    ['GET', '?response=nonsense', undefined, 400, 'response'],
    ['GET', `?response=resp_${'0'.repeat(20)}`, undefined, 404, 'response'],
  ])(
    'the working memory API rejects %s %s with the body %j and names the invalid field',
    async (method, query, body, status, param) => {
      const refused = await call(method, query, body)
      expect(refused.status).toBe(status)
      expect(refused.body['error']).toMatchObject({ param })
    },
  )

  test.each([
    [{}, 'must be a JSON object'],
    [{ memory: [1] }, 'must be a JSON object'],
    [{ memory: { a: 'x'.repeat(5000) } }, 'the maximum is'],
    [{ memory: JSON.parse(`${'{"a":'.repeat(40)}1${'}'.repeat(40)}`) as object }, 'levels deep'],
  ])(
    'the working memory API rejects a memory that cannot be stored (case %#)',
    async (body, message) => {
      const { id } = await setup.gateway.openai.conversations.create()
      const refused = await call('PUT', `?conversation=${id}`, body)
      expect(refused.status).toBe(400)
      expect(refused.body['error']).toMatchObject({ param: 'memory' })
      expect(JSON.stringify(refused.body)).toContain(message)
    },
  )
})

describe('the working memory tool', () => {
  test('the working memory tool reports memory that cannot be stored, and loses no concurrent write', async () => {
    const { id } = await setup.gateway.openai.conversations.create()
    const memory = async () => {
      const response = await fetch(`${setup.gateway.url}/v1/memory/working?conversation=${id}`)
      return ((await response.json()) as { readonly memory: JsonObject }).memory
    }
    const use = (changes: JsonObject) => `update_working_memory(${JSON.stringify({ changes })})`
    const many = [{ a: 1 }, { b: { c: 1 } }, { b: { d: 2 } }, { e: 5 }].map(use).join(' and ')
    const ask = (input: string) =>
      post('/v1/responses', {
        model: 'chat-model',
        input,
        conversation: id,
        backstory: WORKING_MEMORY_ON,
      })
    await ask(`Use ${many}.`)
    expect(await memory()).toEqual({ a: 1, b: { c: 1, d: 2 }, e: 5 })
    await ask(`Use ${use({ a: 'x'.repeat(4001) })}.`)
    expect(sent()).toContain('Not kept: with this the working memory would have')
    await ask(`Use ${use({ a: null })}.`)
    expect(await memory()).toEqual({ b: { c: 1, d: 2 }, e: 5 })
  })

  test('the working memory tool checks changes against a schema and reports violations (C40)', async () => {
    const { id } = await setup.gateway.openai.conversations.create()
    const schema = {
      type: 'object',
      properties: { goal: { type: 'string' }, steps: { type: 'array', items: { type: 'string' } } },
      additionalProperties: false,
    }
    const backstory = { layers: { working_memory: true, schema } }
    const ask = (changes: JsonObject) => {
      const input = `Use update_working_memory(${JSON.stringify({ changes })}).`
      return post('/v1/responses', { model: 'chat-model', input, conversation: id, backstory })
    }
    await ask({ goal: 'sail', steps: ['buy a boat', 7] })
    expect(sent()).toContain('Not kept: it does not match its JSON Schema. #/steps/1: ')
    expect(sent()).toContain(JSON.stringify(JSON.stringify(schema)).slice(1, -1))
    await ask({ mood: 'good' })
    expect(sent()).toContain('additional properties')
    await ask({ goal: 'sail' })
    const response = await fetch(`${setup.gateway.url}/v1/memory/working?conversation=${id}`)
    expect(await response.json()).toMatchObject({ memory: { goal: 'sail' } })
  })

  test('the working memory tool is not offered with `store: false`', async () => {
    const body = { model: 'chat-model', input: note, backstory: WORKING_MEMORY_ON, store: false }
    await post('/v1/responses', body)
    expect(sent()).not.toContain('update_working_memory"')
  })
})

describe('observations of a conversation (C41)', () => {
  const LONG = 'I moved to Chur last year. '.repeat(400)

  async function observing(writes: (asked: string) => { status: number; body: JsonObject }) {
    const summarizer = await startSummarizingUpstream()
    const account = { name: 'up', wire: 'chat', baseUrl: summarizer.url, apiKey: 'k' }
    const own = await startGateway(upstreams(account))
    summarizer.summaryResponse = writes
    const conversation = (await own.openai.conversations.create()).id
    return {
      summarizer,
      done: (event: string) => own.log.filter((line) => line.event === event).length,
      async ask(input: string) {
        const backstory = { layers: { observations: true } }
        const body = { model: 'm', input, conversation, backstory }
        const response = await own.post('/v1/responses', body)
        expect(response.status).toBe(200)
        await response.text()
      },
      newest: () => JSON.stringify(summarizer.answerPrompts().at(-1)),
      async close() {
        await own.close()
        await summarizer.close()
      },
    }
  }

  test('observations are requested from a model above the threshold, and sent from then on', async () => {
    const { summarizer, done, ask, newest, close } = await observing(() => ({
      status: 200,
      body: chatCompletion('Of course!\n- The user lives in Chur.'),
    }))
    await ask('Hello')
    await ask(LONG)
    await expect.poll(() => done('observed')).toBe(1)
    expect(summarizer.summarizedTexts()).toHaveLength(1)
    expect(summarizer.summarizedTexts()[0]).toContain('Chur')
    expect(summarizer.summarizedTexts()[0]?.length).toBeLessThan(30_000)
    await ask('Where do I live?')
    expect(newest()).toContain('The user lives in Chur.')
    expect(newest()).toContain('<observations_changed>')
    expect(newest()).not.toContain('Of course!')
    expect(summarizer.summarizedTexts()).toHaveLength(1)
    await close()
  })

  test.each([
    ['fails', { status: 500, body: { error: { message: 'no' } } }],
    ['returns an incomplete answer', { status: 200, body: chatCompletion('- The user', 'length') }],
  ])('observations are not stored if the model %s', async (_, mishap) => {
    const { done, ask, newest, close } = await observing(() => mishap)
    await ask(LONG)
    await expect.poll(() => done('layer-not-kept')).toBe(1)
    await ask('Where do I live?')
    expect(newest()).not.toContain('<observations')
    await close()
  })
})
