/**
 * Layers, end to end: what a model notes for itself, and what was observed, is told in its next
 * answers, over every wire, in both dialects, streamed and whole, and costs no answer when it fails.
 */
import { beforeEach, describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/core/json/json.ts'
import type { MemoryLayer } from '../../src/memory/memory-layer-interface.ts'
import { startGateway, upstreams } from '../support/gateway.ts'
import { said, startScribe } from '../support/scribe.ts'
import { serviceTown } from '../support/services/service-town.ts'
import { WIRE_MODELS } from '../support/wire-models.ts'

const NOTED = { layers: { working_memory: true } }
/** In other words each time: of two chats that are the same, nobody can tell which is meant. */
let note: string
let count = 0
const TOLD = 'These fields have changed since; null means removed:'

// One layer never ends, and is not waited for.
const town = serviceTown({ TRUST_USER_HEADERS: 'on', DRAIN_SECONDS: '1' })
beforeEach(() => {
  note = `${(count += 1)}. Use update_working_memory({"changes":{"name":"Ada"}}).`
  town.services.behaveWell()
  town.services.refusals.length = 0
  town.services.received.length = 0
  withLayers(undefined)
})

function withLayers(memoryLayers: readonly MemoryLayer[] | undefined): void {
  Object.assign(town.gateway.dependencies, { memoryLayers })
}

const sent = (): string => town.services.received.at(-1)?.text ?? ''

async function post(path: string, body: object, headers = {}): Promise<string> {
  const response = await town.gateway.post(path, body, headers)
  const text = await response.text()
  expect(response.status, text).toBe(200)
  return text
}

/** One more question of a conversation, as the client of a dialect asks it. */
type Conversing = (question: string) => Promise<string>
type Converse = (model: string, more?: object) => Conversing

function overResponses(stream: boolean): Converse {
  return (model, more = { backstory: NOTED }) => {
    let previous: object = {}
    return async (input) => {
      const text = await post('/v1/responses', { model, input, stream, ...previous, ...more })
      previous = { previous_response_id: /"id":"(resp_[^"]+)"/.exec(text)?.[1] }
      return text
    }
  }
}

/** It sends all that was said, as it was told it. */
function overChat(stream: boolean): Converse {
  return (model, more = { backstory: NOTED }) => {
    const messages: object[] = []
    return async (content) => {
      messages.push({ role: 'user', content })
      const text = await post('/v1/chat/completions', { model, messages, stream, ...more })
      messages.push({ role: 'assistant', content: wordsIn(text, stream) })
      return text
    }
  }
}

interface Choice {
  readonly delta?: { readonly content?: string | null }
  readonly message?: { readonly content?: string | null }
}

function wordsIn(text: string, stream: boolean): string {
  const bodies = stream
    ? text.split('\n').flatMap((line) => (line.startsWith('data: {') ? [line.slice(6)] : []))
    : [text]
  return bodies
    .flatMap((body) => (JSON.parse(body) as { readonly choices: readonly Choice[] }).choices)
    .map(({ delta, message }) => delta?.content ?? message?.content ?? '')
    .join('')
}

const WAYS: readonly (readonly [string, Converse])[] = [
  ['responses, whole', overResponses(false)],
  ['responses, streamed', overResponses(true)],
  ['chat, whole', overChat(false)],
  ['chat, streamed', overChat(true)],
]

const WIRES = WIRE_MODELS.filter(
  ({ wire }, at) => WIRE_MODELS.findIndex((other) => other.wire === wire) === at,
)

describe.each(WAYS)('%s', (_, converse) => {
  test.each(WIRES)('C40: what a model notes it is told later: $model', async ({ model }) => {
    const ask = converse(model)
    const answer = await ask(note)
    expect(answer).not.toContain('update_working_memory')
    expect(sent()).toContain('The working memory has 14 of 4000 characters now.')
    expect(sent()).not.toContain(TOLD)
    await ask('Who am I?')
    expect(sent()).toContain(TOLD)
    expect(sent()).toContain('<working_memory_changed>')
    await ask('Are you sure?')
    // The model behind the services repeats what it was told by instructions.
    expect(sent().match(/(?<!I was told: )<working_memory_changed>/g)).toHaveLength(1)
    expect(town.services.refusals).toEqual([])
  })

  test('C43: what was told stays where it was told', async () => {
    const ask = converse('chat-model')
    await ask(note)
    await ask('Who am I?')
    const before = messagesSent()
    await ask('Are you sure?')
    expect(messagesSent().slice(0, before.length)).toEqual(before)
  })

  test('C43: so that reasoning bound to what stands before it stays valid', async () => {
    const ask = converse('claude-opus-5-5')
    await ask(note)
    await ask('Who am I?')
    await ask('Are you sure?')
    expect(sent()).toContain(TOLD)
    // Two of the first answer, which came in two rounds, and one of the second.
    expect(sent().match(/"signature":/g)).toHaveLength(3)
    expect(town.services.refusals).toEqual([])
  })

  test('C38: it is told as a message of the developer, and is no part of what is kept', async () => {
    const ask = converse('gpt-5')
    await ask(note)
    await ask('Who am I?')
    await ask('Are you sure?')
    const input = town.services.received.at(-1)?.json['input'] as readonly JsonObject[]
    const told = input.filter(({ role }) => role === 'developer')
    expect(told).toMatchObject([{ type: 'message', role: 'developer' }])
    expect(JSON.stringify(told)).toContain(TOLD)
  })

  test('C37: one that fails and one that hangs cost the answer nothing', async () => {
    const never = () => new Promise<null>(() => undefined)
    withLayers([
      made('broken', { recall: async () => Promise.reject(new Error('no such table')) }),
      made('hanging', { recall: never, update: never as never, timeoutMs: 60 }),
      made('fine', { recall: async () => Promise.resolve({ text: 'All is well.' }) }),
    ])
    const answer = await converse('chat-model')('Hello?')
    expect(answer).toContain('You said')
    expect(sent()).toContain('<fine>\\nAll is well.\\n</fine>')
    expect(sent()).not.toMatch(/broken|hanging/)
    const events = town.gateway.log.map(
      ({ event, fields }) => `${event} ${fields?.['layer'] as string}`,
    )
    expect(events).toContain('layer-failed broken')
    expect(events).toContain('layer-late hanging')
  })

  test('where none is wanted none is asked, nothing is offered and nothing told', async () => {
    const asked: string[] = []
    withLayers([made('off', { recall: async () => Promise.resolve((asked.push('off'), null)) })])
    await converse('chat-model', {})(note)
    expect(sent()).not.toMatch(/working_memory"|<working_memory/)
    expect(asked).toEqual([])
  })
})

function messagesSent(): readonly unknown[] {
  return town.services.received.at(-1)?.json['messages'] as readonly unknown[]
}

function made(
  name: string,
  fields: Pick<MemoryLayer, 'recall'> & Partial<MemoryLayer>,
): MemoryLayer {
  return {
    name,
    slot: 100,
    isEnabled: ({ workingMemory }) => workingMemory,
    band: () => 'volatile',
    minTokens: 0,
    maxTokens: 500,
    timeoutMs: 500,
    ...fields,
  }
}

describe('explain (C45)', () => {
  test('says what of a request each layer is', async () => {
    withLayers([
      made('one', { recall: async () => Promise.resolve({ text: 'x'.repeat(400) }) }),
      made('two', { slot: 5, recall: async () => Promise.resolve({ text: 'y' }) }),
      made('late', { timeoutMs: 10, recall: () => new Promise(() => undefined) }),
    ])
    const body = { model: 'chat-model', input: 'Hello?', backstory: NOTED }
    const told = JSON.parse(await post('/v1/context/explain', body)) as {
      readonly layers: Readonly<Record<string, { readonly tokens: number }>>
      readonly parts: { readonly added: { readonly tokens: number } }
      readonly items: {
        readonly list: readonly { readonly fate: string; readonly reasons?: object }[]
      }
      readonly notes: readonly { readonly why: string; readonly detail: string }[]
    }
    expect(Object.keys(told.layers)).toEqual(['two', 'one'])
    expect(told.layers['one']?.tokens).toBeGreaterThan(100)
    const all = Object.values(told.layers).reduce((sum, { tokens }) => sum + tokens, 0)
    expect(told.parts.added.tokens).toBe(all)
    expect(told.items.list.map(({ fate }) => fate)).toEqual(['added', 'added', 'sent'])
    expect(told.items.list[1]?.reasons).toMatchObject([{ why: 'layer-told', by: 'place-layers' }])
    expect(told.notes.find(({ why }) => why === 'layer-late')?.detail).toContain('(late)')
  })
})

describe('working memory by hand (C40)', () => {
  const at = (query: string) => `/v1/memory/working${query}`
  async function call(method: string, query: string, body?: object, headers = {}) {
    const response = await fetch(town.gateway.url + at(query), {
      method,
      headers: { 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    return { status: response.status, body: (await response.json()) as JsonObject }
  }

  test('of a conversation it is read, put and deleted, and goes with it', async () => {
    const { id } = await town.gateway.openai.conversations.create()
    const query = `?conversation=${id}`
    expect((await call('GET', query)).body).toEqual({
      object: 'memory.working',
      conversation: id,
      memory: {},
    })
    const put = await call('PUT', query, { memory: { city: 'Chur', ['__proto__']: { a: 1 } } })
    expect(put.body['memory']).toEqual({ city: 'Chur' })
    const body = { model: 'chat-model', input: 'Hello?', conversation: id, backstory: NOTED }
    await post('/v1/responses', body)
    expect(sent()).toContain('<working_memory>')
    expect(sent()).toContain('Chur')
    await post('/v1/responses', { ...body, input: note })
    expect((await call('GET', query)).body['memory']).toEqual({ city: 'Chur', name: 'Ada' })
    expect((await call('DELETE', query)).body).toMatchObject({ deleted: true })
    expect((await call('DELETE', query)).body).toMatchObject({ deleted: false })
    await call('PUT', query, { memory: { city: 'Chur' } })
    await town.gateway.openai.conversations.delete(id)
    expect((await call('GET', query)).status).toBe(404)
  })

  test('of a response it is that of its thread', async () => {
    const text = await post('/v1/responses', { model: 'chat-model', input: note, backstory: NOTED })
    const { id } = JSON.parse(text) as { readonly id: string }
    expect((await call('GET', `?response=${id}`)).body['memory']).toEqual({ name: 'Ada' })
  })

  test('of a user it is told in all of their conversations, and in nobody else’s', async () => {
    const [ada, bob] = ['ada', 'bob'].map((user) => ({ 'x-backstory-user': user }))
    const backstory = { layers: { working_memory: true, scope: 'user' } }
    await post('/v1/responses', { model: 'chat-model', input: note, backstory }, ada)
    const question = { model: 'chat-model', input: 'Who am I?', backstory }
    await post('/v1/responses', question, ada)
    expect(sent()).toContain('<working_memory>')
    await post('/v1/responses', question, bob)
    expect(sent()).not.toContain('<working_memory>')
    expect((await call('GET', '', undefined, ada)).body).toMatchObject({ user: 'ada' })
    await fetch(`${town.gateway.url}/v1/memory/users/ada`, { method: 'DELETE', headers: ada ?? {} })
    expect((await call('GET', '', undefined, ada)).body['memory']).toEqual({})
  })

  test.each([
    ['PUT', '', { memory: {} }, 400, 'conversation'],
    ['GET', '?conversation=resp_1', undefined, 400, 'conversation'],
    ['GET', '?conversation=conv_nothing', undefined, 404, 'conversation'],
    ['GET', '?response=nonsense', undefined, 400, 'response'],
    ['GET', `?response=resp_${'0'.repeat(20)}`, undefined, 404, 'response'],
  ])('%s %s with %j is refused with a reason', async (method, query, body, status, param) => {
    const refused = await call(method, query, body)
    expect(refused.status).toBe(status)
    expect(refused.body['error']).toMatchObject({ param })
  })

  test.each([
    [{}, 'must be a JSON object'],
    [{ memory: [1] }, 'must be a JSON object'],
    [{ memory: { a: 'x'.repeat(5000) } }, 'is the most'],
    [{ memory: JSON.parse(`${'{"a":'.repeat(40)}1${'}'.repeat(40)}`) as object }, 'levels deep'],
  ])('a memory that cannot be kept is refused (%#)', async (body, message) => {
    const { id } = await town.gateway.openai.conversations.create()
    const refused = await call('PUT', `?conversation=${id}`, body)
    expect(refused.status).toBe(400)
    expect(refused.body['error']).toMatchObject({ param: 'memory' })
    expect(JSON.stringify(refused.body)).toContain(message)
  })
})

describe('a model that writes', () => {
  test('is told what cannot be kept, and loses nothing to one that writes at the same moment', async () => {
    const { id } = await town.gateway.openai.conversations.create()
    const memory = async () => {
      const response = await fetch(`${town.gateway.url}/v1/memory/working?conversation=${id}`)
      return ((await response.json()) as { readonly memory: JsonObject }).memory
    }
    const use = (changes: JsonObject) => `update_working_memory(${JSON.stringify({ changes })})`
    const many = [{ a: 1 }, { b: { c: 1 } }, { b: { d: 2 } }, { e: 5 }].map(use).join(' and ')
    const ask = (input: string) =>
      post('/v1/responses', { model: 'chat-model', input, conversation: id, backstory: NOTED })
    await ask(`Use ${many}.`)
    expect(await memory()).toEqual({ a: 1, b: { c: 1, d: 2 }, e: 5 })
    await ask(`Use ${use({ a: 'x'.repeat(4001) })}.`)
    expect(sent()).toContain('Not kept: with this the working memory would have')
    await ask(`Use ${use({ a: null })}.`)
    expect(await memory()).toEqual({ b: { c: 1, d: 2 }, e: 5 })
  })

  test('C40: is held to a schema, and told what does not fit', async () => {
    const { id } = await town.gateway.openai.conversations.create()
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
    const response = await fetch(`${town.gateway.url}/v1/memory/working?conversation=${id}`)
    expect(await response.json()).toMatchObject({ memory: { goal: 'sail' } })
  })

  test('is not offered the tool where nothing may be kept', async () => {
    const body = { model: 'chat-model', input: note, backstory: NOTED, store: false }
    await post('/v1/responses', body)
    expect(sent()).not.toContain('update_working_memory"')
  })
})

describe('observations (C41)', () => {
  const LONG = 'I moved to Chur last year. '.repeat(400)

  async function observing(writes: (asked: string) => { status: number; body: JsonObject }) {
    const scribe = await startScribe()
    const account = { name: 'up', wire: 'chat', baseUrl: scribe.url, apiKey: 'k' }
    const own = await startGateway(upstreams(account))
    scribe.mishap = writes
    const conversation = (await own.openai.conversations.create()).id
    return {
      scribe,
      done: (event: string) => own.log.filter((line) => line.event === event).length,
      async ask(input: string) {
        const backstory = { layers: { observations: true } }
        const body = { model: 'm', input, conversation, backstory }
        const response = await own.post('/v1/responses', body)
        expect(response.status).toBe(200)
        await response.text()
      },
      newest: () => JSON.stringify(scribe.asked().at(-1)),
      async close() {
        await own.close()
        await scribe.close()
      },
    }
  }

  test('are asked of a model once there is enough, and told from then on', async () => {
    const { scribe, done, ask, newest, close } = await observing(() => ({
      status: 200,
      body: said('Of course!\n- The user lives in Chur.'),
    }))
    await ask('Hello')
    await ask(LONG)
    await expect.poll(() => done('observed')).toBe(1)
    expect(scribe.summed()).toHaveLength(1)
    expect(scribe.summed()[0]).toContain('Chur')
    expect(scribe.summed()[0]?.length).toBeLessThan(30_000)
    await ask('Where do I live?')
    expect(newest()).toContain('The user lives in Chur.')
    expect(newest()).toContain('<observations_changed>')
    expect(newest()).not.toContain('Of course!')
    expect(scribe.summed()).toHaveLength(1)
    await close()
  })

  test.each([
    ['fails', { status: 500, body: { error: { message: 'no' } } }],
    ['gives no whole answer', { status: 200, body: said('- The user', 'length') }],
  ])('are not made up where the model %s', async (_, mishap) => {
    const { done, ask, newest, close } = await observing(() => mishap)
    await ask(LONG)
    await expect.poll(() => done('layer-not-kept')).toBe(1)
    await ask('Where do I live?')
    expect(newest()).not.toContain('<observations')
    await close()
  })
})
