/**
 * What clients do with a gateway so that its database comes to hold everything that it can. The notes
 * are all that the clients know afterwards: ids and texts, by which everything is asked for again.
 */
import { expect } from 'vitest'
import { inlineOf } from '../media/pictures.ts'
import { readStream } from '../support/sse-reader.ts'
import { LOOK } from '../support/wire-models.ts'
import { clientOf, type Answer, type Client, type Visitor } from './client.ts'
import { REFUSED_QUESTION } from './upstream-services.ts'
import { listIn, objectIn, type JsonObject } from './json.ts'

export interface Notes {
  readonly responses: KnownResponse[]
  readonly chats: KnownChat[]
  readonly completions: Known[]
  readonly conversations: Known[]
  readonly open: KnownResponse[]
}

interface Known {
  readonly name: string
  readonly id: string
  readonly by: Visitor
}

export interface KnownResponse extends Known {
  readonly model: string
  /** With what it was asked beside its input. */
  readonly asked: JsonObject
  /** Whether its events can be read again. */
  readonly isLogged?: boolean
  readonly isDeleted?: boolean
  readonly isConversed?: boolean
}

/** A chat as its client holds it, to be sent with the next question. */
export interface KnownChat {
  readonly name: string
  readonly by: Visitor
  readonly headers: Readonly<Record<string, string>>
  readonly body: JsonObject
}

export function newNotes(): Notes {
  return { responses: [], chats: [], completions: [], conversations: [], open: [] }
}

export const ADA: Visitor = { key: 'ada' }
export const CAROL: Visitor = { key: 'bob', user: 'carol' }
export const DAN: Visitor = { key: 'bob', user: 'dan' }
export const VISITORS: readonly Visitor[] = [ADA, { key: 'bob' }, CAROL, DAN]

export interface Plot {
  readonly name: string
  /** Whose tool loops and chats are told. */
  readonly models: readonly string[]
  /** Whose conversations and memories are told. */
  readonly visitors: readonly Visitor[]
}

const TOOLS = [{ type: 'function', strict: true, ...LOOK }]
const CHAT_TOOLS = [{ type: 'function', function: { ...LOOK } }]

/** Everything that ends. `name` makes the words of one telling differ from those of another. */
export async function tellStories(
  url: string,
  { name, models, visitors }: Plot,
  notes: Notes,
): Promise<void> {
  const telling = { url, name, notes }
  for (const model of models) await tellToolLoop(telling, model)
  for (const model of models) await tellOpenWebUiChat(telling, model)
  await tellPlainChat(telling, 'claude-opus-5-5')
  await tellStoredChats(telling)
  for (const visitor of visitors) {
    await tellConversation(telling, visitor)
    await tellSummaries(telling, visitor)
    await tellMemories(telling, visitor)
  }
  await tellCompaction(telling)
  await tellMedia(telling)
  await tellEndings(telling)
  await tellRuns(telling)
  await tellDeletions(telling)
}

interface Telling {
  readonly url: string
  readonly name: string
  readonly notes: Notes
}

function as({ url }: Telling, visitor: Visitor): Client {
  return clientOf(url, visitor)
}

function done({ status, body }: Answer): JsonObject {
  expect(status, JSON.stringify(body)).toBe(200)
  return objectIn(body)
}

/** Asks for a response, and notes it. */
async function respond(
  telling: Telling,
  visitor: Visitor,
  name: string,
  body: JsonObject,
  more: Partial<KnownResponse> = {},
): Promise<JsonObject> {
  const { tools, instructions } = body
  const response = done(await as(telling, visitor).post('/v1/responses', body))
  telling.notes.responses.push({
    name: `${telling.name}, ${name}`,
    id: String(response['id']),
    by: visitor,
    model: String(body['model']),
    asked: { tools, instructions },
    ...more,
  })
  return response
}

function outputsFor(response: JsonObject, output: string): readonly JsonObject[] {
  const calls = listIn(response['output']).filter(({ type }) => type === 'function_call')
  expect(calls.length).toBeGreaterThan(0)
  return calls.map(({ call_id = '' }, at) => ({
    type: 'function_call_output',
    call_id,
    output: `${output} ${at + 1}`,
  }))
}

/** Parallel calls, reasoning, and after the answer three branches: two questions and an edited one. */
async function tellToolLoop(telling: Telling, model: string): Promise<void> {
  const { name } = telling
  const visitor = model === 'chat-model' ? CAROL : ADA
  const ask = (step: string, body: JsonObject) =>
    respond(telling, visitor, `${model}: ${step}`, {
      model,
      tools: TOOLS,
      instructions: `Be brief in ${name}.`,
      metadata: { telling: name, step },
      ...body,
    })
  const question = `${name}: look at Rome and Oslo, then at Graz.`
  const called = await ask('parallel calls', { input: question })
  const first = { previous_response_id: String(called['id']), input: outputsFor(called, 'fog') }
  const again = await ask('one more call', first)
  const second = { previous_response_id: String(again['id']), input: outputsFor(again, 'sun') }
  const answered = await ask('answer', second)
  const previous_response_id = String(answered['id'])
  await ask('one branch', { previous_response_id, input: `Briefly, ${name}?` })
  await ask('another branch', { previous_response_id, input: `At length, ${name}?` })
  await ask('regenerated', second)
  await ask('edited', { ...first, input: outputsFor(called, 'a storm') })
}

/** Tools run by the client, markers in the text, and a regenerated answer. */
async function tellOpenWebUiChat(telling: Telling, model: string): Promise<void> {
  const { name, notes } = telling
  const visitor = model === 'gpt-5' ? DAN : ADA
  const headers = { 'x-backstory-chat': `chat-of-${name}`, 'x-backstory-message': 'm' }
  const ask = async (messages: readonly JsonObject[]): Promise<JsonObject> => {
    const body = { model, messages, tools: CHAT_TOOLS }
    const answer = done(await as(telling, visitor).post('/v1/chat/completions', body, headers))
    return objectIn(objectIn(listIn(answer['choices'])[0])['message'])
  }
  const user = (content: string) => ({ role: 'user', content })
  const question = user(`${name} with ${model} over Open WebUI: look at Bern and Chur.`)
  const called = await ask([question])
  const calls = listIn(called['tool_calls'])
  expect(calls.length).toBeGreaterThan(0)
  const outputs = calls.map(({ id = '' }) => ({ role: 'tool', tool_call_id: id, content: 'rain' }))
  const withTools = [question, { role: 'assistant', ...called }, ...outputs]
  const answered = await ask(withTools)
  const regenerated = await ask(withTools)
  const note = (how: string, messages: readonly JsonObject[]) => {
    const label = `${name}, ${model} over Open WebUI: ${how}`
    notes.chats.push({
      name: label,
      by: visitor,
      headers,
      body: { model, messages, tools: CHAT_TOOLS },
    })
  }
  note('found by call ids', [...withTools, answered, user('Thanks.')])
  const words = (message: JsonObject) => ({
    role: 'assistant',
    content: String(message['content']),
  })
  note('found by marker', [question, words(answered), user('Thanks, and now?')])
  note('found by marker, regenerated', [question, words(regenerated), user('Thanks, and now?')])
  const next = await ask([question, words(answered), user(`Now look at Thun, ${name}.`)])
  expect(listIn(next['tool_calls'])).toHaveLength(1)
  const simple = user(`${name} asks ${model} over Open WebUI.`)
  const said = words(await ask([simple]))
  note('found by marker, without calls', [simple, said, user('And then?')])
}

/** No headers and no markers: its words are all by which it is found. */
async function tellPlainChat(telling: Telling, model: string): Promise<void> {
  const { name, notes } = telling
  const messages: JsonObject[] = []
  for (const question of ['Good morning', 'How are you', 'What is new']) {
    messages.push({ role: 'user', content: `${question}, asks ${name} of ${model}?` })
    const answer = done(await as(telling, DAN).post('/v1/chat/completions', { model, messages }))
    const { content = '' } = objectIn(objectIn(listIn(answer['choices'])[0])['message'])
    messages.push({ role: 'assistant', content })
  }
  messages.push({ role: 'user', content: 'Go on.' })
  const label = `${name}, ${model}: found by its words`
  notes.chats.push({ name: label, by: DAN, headers: {}, body: { model, messages } })
  const local = { 'x-backstory-chat': 'local:tab' }
  const temporary = { model, messages: [{ role: 'user', content: `For now, ${name}.` }] }
  done(await as(telling, DAN).post('/v1/chat/completions', temporary, local))
}

async function tellStoredChats(telling: Telling): Promise<void> {
  const { name, notes } = telling
  for (const [by, model] of [
    [ADA, 'chat-model'],
    [CAROL, 'gemini-3.8-flash'],
  ] as const) {
    const messages: JsonObject[] = [
      { role: 'user', content: `A stored chat of ${name}: look at Rome.` },
    ]
    const body = { model, messages, store: true, metadata: { telling: name }, tools: CHAT_TOOLS }
    const answer = done(await as(telling, by).post('/v1/chat/completions', body))
    const id = String(answer['id'])
    notes.completions.push({ name: `${name}, ${model}`, id, by })
    done(await as(telling, by).post(`/v1/chat/completions/${id}`, { metadata: { label: 'new' } }))
  }
}

async function conversationOf(
  telling: Telling,
  by: Visitor,
  name: string,
  body: JsonObject,
): Promise<string> {
  const { id } = done(await as(telling, by).post('/v1/conversations', body))
  telling.notes.conversations.push({ name: `${telling.name}, ${name}`, id: String(id), by })
  return String(id)
}

/** Items given, said, added and taken out; rules, notes, and a new beginning. */
async function tellConversation(telling: Telling, by: Visitor): Promise<void> {
  const { name } = telling
  const message = (content: string) => ({ type: 'message', role: 'user', content })
  const items = [message(`${name} begins.`), message('This one goes.')]
  const metadata = { telling: name }
  const client = as(telling, by)
  const id = await conversationOf(telling, by, 'a conversation', { items, metadata })
  const path = `/v1/conversations/${id}`
  const listed = listIn(done(await client.get(`${path}/items?order=asc`))['data'])
  done(await client.delete(`${path}/items/${String(listed[1]?.['id'])}`))
  const body = { model: 'gpt-5', conversation: id, tools: TOOLS }
  const isConversed = true
  const ask = (step: string, input: JsonObject['input']) =>
    respond(telling, by, `a conversation: ${step}`, { ...body, input }, { isConversed })
  const called = await ask('calls', `Look at Rome and Oslo, ${name}.`)
  await ask('answer', outputsFor(called, 'snow'))
  done(await client.post(`${path}/items`, { items: [message('Added by hand.')] }))
  done(await client.post(`${path}/context`, { policy: 'lean', window: { turns: 30 } }))
  done(await client.put(`/v1/memory/working?conversation=${id}`, { memory: { city: 'Chur' } }))
  const reset = await conversationOf(telling, by, 'one that was reset', { items, metadata })
  done(await client.post(`/v1/conversations/${reset}/reset`, {}))
  await respond(
    telling,
    by,
    'after a reset',
    { ...body, conversation: reset, input: 'Anew.' },
    { isConversed },
  )
}

const SUMMARIES = { summaries: { trigger: 'manual', keep_turns: 1, keep_tokens: 0 } }

/** A conversation that was summed up twice. */
async function tellSummaries(telling: Telling, by: Visitor): Promise<void> {
  const { name } = telling
  const id = await conversationOf(telling, by, 'one with summaries', {})
  const { post } = as(telling, by)
  const layers = { observations: true, working_memory: true, facts: true }
  const ask = async (step: string, input: string) => {
    const backstory = { ...SUMMARIES, layers }
    const body = { model: 'chat-model', conversation: id, backstory, input }
    await respond(telling, by, `summaries: ${step}`, body, { isConversed: true })
  }
  const summarize = async () => {
    const path = `/v1/conversations/${id}/summarize`
    expect(done(await post(path, { keep_turns: 1 }))).toMatchObject({ created: true })
  }
  await ask('first', `I live in Chur and want to sail, says ${name}.`)
  await ask('second', `${name}. ${'It is far. '.repeat(1500)}`)
  await summarize()
  done(await post(`/v1/conversations/${id}/context`, SUMMARIES))
  await ask('third', 'And now?')
  await ask('fourth', 'And then?')
  await summarize()
  await ask('fifth', 'At last?')
}

async function tellCompaction(telling: Telling): Promise<void> {
  const input = `${telling.name}: to be compacted.`
  const long = await respond(telling, ADA, 'before compaction', { model: 'gpt-5', input })
  const compacting = { model: 'chat-model', previous_response_id: String(long['id']) }
  const compacted = done(await as(telling, ADA).post('/v1/responses/compact', compacting))
  const all = [...listIn(compacted['output']), { role: 'user', content: 'Go on.' }]
  await respond(telling, ADA, 'after compaction', { model: 'gpt-5', input: all })
}

/** One that comes in pieces, a small one, one by its address, and a text that is worth compressing. */
async function tellMedia(telling: Telling): Promise<void> {
  const { name } = telling
  const picture = (image_url: string, text: string) => [
    {
      role: 'user',
      content: [
        { type: 'input_text', text },
        { type: 'input_image', image_url },
      ],
    },
  ]
  const large = inlineOf('image/png', 'image/png', 800_000 + name.length)
  const shown = await respond(telling, ADA, 'a large picture', {
    model: 'gpt-5',
    input: picture(large, `What is that, ${name}?`),
  })
  const previous_response_id = String(shown['id'])
  await respond(telling, ADA, 'behind a large picture', {
    model: 'gpt-5',
    previous_response_id,
    input: 'Sure?',
  })
  const small = inlineOf('image/png', 'image/png', 2000 + name.length)
  await respond(telling, CAROL, 'a small picture', {
    model: 'claude-opus-5-5',
    input: picture(small, 'And that?'),
  })
  const input = `${name} has much to say. `.repeat(1500)
  await respond(telling, ADA, 'a long text', { model: 'claude-opus-5-5', input })
}

/** Apart, because the address of the picture is nobody's afterwards. */
export async function tellLoadedPicture(
  url: string,
  name: string,
  notes: Notes,
  address: string,
): Promise<void> {
  const telling = { url, name, notes }
  for (const by of [ADA, DAN]) {
    await respond(telling, by, 'a picture by its address', {
      model: 'gemini-3.8-flash',
      input: [
        {
          role: 'user',
          content: [
            { type: 'input_text', text: 'What is there?' },
            { type: 'input_image', image_url: `${address}?of=${encodeURIComponent(name)}` },
          ],
        },
      ],
    })
  }
}

/** Facts of users and of a conversation, and what a model has noted for itself. */
async function tellMemories(telling: Telling, by: Visitor): Promise<void> {
  const { name, notes } = telling
  const client = as(telling, by)
  const add = async (body: JsonObject) => done(await client.post('/v1/memory/facts', body))
  await add({ text: `The boat of ${name} is called Möwe.`, area: 'core', importance: 0.95 })
  await add({ text: `The harbour of ${name} is in Genoa.`, importance: 0.4 })
  await add({ text: `The berth of ${name} ends late.`, valid_until: 32_503_680_000 })
  const own = notes.conversations.find((known) => known.by === by && known.name.startsWith(name))
  if (own !== undefined) await add({ text: `The crew of ${name} is small.`, conversation: own.id })
  const layers = { working_memory: true, facts: true, scope: 'user' }
  await respond(telling, by, 'a note of the model', {
    model: 'claude-opus-5-5',
    backstory: { layers },
    input: `For ${name}: Use update_working_memory({"changes":{"telling":"${name}"}}).`,
  })
}

/** Answers that failed, were cut off or were refused. */
async function tellEndings(telling: Telling): Promise<void> {
  const { name, notes } = telling
  const { url, headers } = as(telling, ADA)
  const body = JSON.stringify({
    model: 'demo',
    stream: true,
    input: `/think Hm.\n/say ${name}\n/error No more`,
  })
  const init = { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body }
  const { text } = await readStream(`${url}/v1/responses`, init)
  notes.responses.push({
    name: `${name}, failed`,
    id: idIn(text),
    by: ADA,
    model: 'demo',
    asked: {},
  })
  await respond(telling, ADA, 'cut off', { model: 'gpt-5', input: `Go on for ever, ${name}.` })
  const earlier = await respond(telling, ADA, 'before its reasoning was refused', {
    model: 'gpt-5',
    input: `Think, ${name}.`,
  })
  await respond(telling, ADA, 'its reasoning was refused', {
    model: 'gpt-5',
    previous_response_id: String(earlier['id']),
    input: REFUSED_QUESTION,
  })
  await respond(telling, CAROL, 'refused', { model: 'gpt-5', input: `Refuse this, ${name}.` })
}

function idIn(text: string): string {
  const [id] = /resp_[0-9A-Z]{20}/.exec(text) ?? []
  expect(id).toBeDefined()
  return id ?? ''
}

/** Streams that can be read again: of the background, resumable, and cancelled. */
async function tellRuns(telling: Telling): Promise<void> {
  const { name, notes } = telling
  for (const [kind, by, model] of [
    ['background', ADA, 'gpt-5'],
    ['resumable', CAROL, 'chat-model'],
  ] as const) {
    const { id } = await startStream(telling, by, {
      model,
      input: `In the ${kind}, ${name}.`,
      background: kind === 'background',
    })
    notes.responses.push({ name: `${name}, ${kind}`, id, by, model, asked: {}, isLogged: true })
  }
  const client = as(telling, ADA)
  const body = { model: 'demo', background: true, input: `/think Hm.\n/say ${name}\n/hang` }
  const cancelled = await startStream(telling, ADA, body, 8)
  done(await client.post(`/v1/responses/${cancelled.id}/cancel`, {}))
  notes.responses.push({
    name: `${name}, cancelled`,
    id: cancelled.id,
    by: ADA,
    model: 'demo',
    asked: {},
    isLogged: true,
  })
}

/** Reads so many events of a stream that can be read again. */
async function startStream(telling: Telling, by: Visitor, body: JsonObject, take?: number) {
  const { url, headers } = as(telling, by)
  const own = { 'content-type': 'application/json', 'x-backstory-resumable': 'true', ...headers }
  const init = { method: 'POST', headers: own, body: JSON.stringify({ stream: true, ...body }) }
  const { text } = await readStream(`${url}/v1/responses`, init, take)
  return { id: idIn(text) }
}

/** One on which another stands, and whole conversations, chats and users. */
async function tellDeletions(telling: Telling): Promise<void> {
  const { name } = telling
  const client = as(telling, ADA)
  const model = 'gpt-5'
  const first = await respond(
    telling,
    ADA,
    'deleted',
    { model, input: `${name} is to go.` },
    { isDeleted: true },
  )
  const previous_response_id = String(first['id'])
  await respond(telling, ADA, 'on a deleted one', {
    model,
    previous_response_id,
    input: 'And that?',
  })
  done(await client.delete(`/v1/responses/${previous_response_id}`))
  const conversation = done(await client.post('/v1/conversations', {}))
  const id = String(conversation['id'])
  done(await client.post('/v1/responses', { model, conversation: id, input: `${name}, no more.` }))
  done(await client.delete(`/v1/conversations/${id}`))
  const forgotten = done(
    await client.post('/v1/responses', { model, input: `Forget that, ${name}.` }),
  )
  done(await client.delete(`/v1/memory/turns/${String(forgotten['id'])}`))
  const erin: Visitor = { key: 'bob', user: 'erin' }
  done(await as(telling, erin).post('/v1/responses', { model, input: `${name} of Erin.` }))
  done(await as(telling, erin).delete('/v1/memory/users/erin'))
}

/** Everything that is not over when the gateway dies. Returns what lets go of those who still listen. */
export async function beginOpenRuns(url: string, name: string, notes: Notes): Promise<() => void> {
  const telling = { url, name, notes }
  const model = 'demo'
  const input = `/think Hm, ${name}.\n/say Thus far.\n/hang`
  const begin = async (what: string, by: Visitor, body: JsonObject, take: number) => {
    const asked = { model, input, background: true, ...body }
    const { id } = await startStream(telling, by, asked, take)
    notes.open.push({ name: what, id, by, model, asked: {}, isLogged: true })
  }
  await begin('a run with events', ADA, {}, 12)
  await begin('a run of which nothing was told', CAROL, { input: '/hang' }, 2)
  const conversation = await conversationOf(telling, ADA, 'one with an open run', {})
  await begin('a run in a conversation', ADA, { conversation }, 12)
  const listeners = [await listen(telling, ADA, { model, input, stream: true }, false)]
  listeners.push(await listen(telling, DAN, { model, input, stream: true }, true))
  // What has been said by then is written.
  await new Promise((resolve) => setTimeout(resolve, 500))
  for (const { id, by, isLogged } of listeners) {
    notes.open.push({
      name: isLogged ? 'a resumable stream' : 'a stream',
      id,
      by,
      model,
      asked: {},
      isLogged,
    })
  }
  return () => listeners.forEach(({ leave }) => leave())
}

/** Stays until it leaves, because an answer that is no run ends with its client. */
async function listen(telling: Telling, by: Visitor, body: JsonObject, isLogged: boolean) {
  const { url, headers } = as(telling, by)
  const resumable = isLogged ? { 'x-backstory-resumable': 'true' } : {}
  const leaving = new AbortController()
  const { body: stream } = await fetch(`${url}/v1/responses`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...resumable, ...headers },
    body: JSON.stringify(body),
    signal: leaving.signal,
  })
  const reader = stream?.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  while (!text.includes('Thus far.')) {
    const { done: isOver, value } = (await reader?.read()) ?? {}
    if (isOver !== false) throw new Error(`It ended too soon: ${text}`)
    text += value ?? ''
  }
  return { id: idIn(text), by, isLogged, leave: () => leaving.abort() }
}
