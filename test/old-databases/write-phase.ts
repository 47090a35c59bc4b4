/**
 * Fills the database of a gateway over HTTP. The notes contain the clients' data afterwards: the ids and
 * texts that `read-back.ts` uses.
 */
import { expect } from 'vitest'
import { createDataUrl } from '../media/pictures.ts'
import { readStream } from '../support/sse-reader.ts'
import { LOOK_TOOL } from '../support/wire-models.ts'
import { createClient, type Answer, type Client, type Visitor } from './client.ts'
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
  /** The fields of its request that the next request repeats. */
  readonly asked: JsonObject
  /** True if its events can be read again. */
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

export interface Phase {
  readonly name: string
  readonly storageKeys: string
  /** The time on the clock of the gateway when the phase begins. */
  readonly startsAtMs: number
  /** The models of the tool loops and of the chats. */
  readonly models: readonly string[]
  /** The owners of the conversations and of the memories. */
  readonly visitors: readonly Visitor[]
}

const TOOLS = [{ type: 'function', strict: true, ...LOOK_TOOL }]
const CHAT_TOOLS = [{ type: 'function', function: { ...LOOK_TOOL } }]

/** Runs everything that ends within the phase. */
export async function writePhase(
  { name, models, visitors }: Phase,
  { picture, ...gateway }: Pick<Session, 'url' | 'notes'> & { readonly picture: string },
): Promise<void> {
  const session = { ...gateway, name }
  for (const model of models) await runToolLoop(session, model)
  for (const model of models) await runOpenWebUiChat(session, model)
  await runPlainChat(session, 'claude-opus-5-5')
  await storeChats(session)
  for (const visitor of visitors) {
    await fillConversation(session, visitor)
    await summarizeTwice(session, visitor)
    await writeMemories(session, visitor)
  }
  await compactResponse(session)
  await sendMedia(session)
  await sendPictureByAddress(session, picture)
  await endUnusually(session)
  await logStreams(session)
  await deleteOwn(session)
}

interface Session {
  readonly url: string
  /** The name of the phase, which makes all of its texts different from those of other phases. */
  readonly name: string
  readonly notes: Notes
}

function as({ url }: Session, visitor: Visitor): Client {
  return createClient(url, visitor)
}

function done({ status, body }: Answer): JsonObject {
  expect(status, JSON.stringify(body)).toBe(200)
  return objectIn(body)
}

/** Creates a response, and adds it to the notes. */
async function respond(
  session: Session,
  visitor: Visitor,
  name: string,
  body: JsonObject,
  more: Partial<KnownResponse> = {},
): Promise<JsonObject> {
  const { tools, instructions } = body
  const response = done(await as(session, visitor).post('/v1/responses', body))
  session.notes.responses.push({
    name: `${session.name}, ${name}`,
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

/** Parallel calls with reasoning, two questions after the answer, a regenerated and an edited answer. */
async function runToolLoop(session: Session, model: string): Promise<void> {
  const { name } = session
  const visitor = model === 'chat-model' ? CAROL : ADA
  const ask = (step: string, body: JsonObject) =>
    respond(session, visitor, `${model}: ${step}`, {
      model,
      tools: TOOLS,
      instructions: `Be brief in ${name}.`,
      metadata: { session: name, step },
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

/** A client that runs the tools and sends texts with markers. One answer is regenerated. */
async function runOpenWebUiChat(session: Session, model: string): Promise<void> {
  const { name, notes } = session
  const visitor = model === 'gpt-5' ? DAN : ADA
  const headers = { 'x-backstory-chat': `chat-of-${name}`, 'x-backstory-message': 'm' }
  const ask = async (messages: readonly JsonObject[]): Promise<JsonObject> => {
    const body = { model, messages, tools: CHAT_TOOLS }
    const answer = done(await as(session, visitor).post('/v1/chat/completions', body, headers))
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

/** A client without Open WebUI headers gets no markers: the gateway finds its turns by their texts. */
async function runPlainChat(session: Session, model: string): Promise<void> {
  const { name, notes } = session
  const messages: JsonObject[] = []
  for (const question of ['Good morning', 'How are you', 'What is new']) {
    messages.push({ role: 'user', content: `${question}, asks ${name} of ${model}?` })
    const answer = done(await as(session, DAN).post('/v1/chat/completions', { model, messages }))
    const { content = '' } = objectIn(objectIn(listIn(answer['choices'])[0])['message'])
    messages.push({ role: 'assistant', content })
  }
  messages.push({ role: 'user', content: 'Go on.' })
  const label = `${name}, ${model}: found by its words`
  notes.chats.push({ name: label, by: DAN, headers: {}, body: { model, messages } })
  const local = { 'x-backstory-chat': 'local:tab' }
  const temporary = { model, messages: [{ role: 'user', content: `For now, ${name}.` }] }
  done(await as(session, DAN).post('/v1/chat/completions', temporary, local))
}

async function storeChats(session: Session): Promise<void> {
  const { name, notes } = session
  for (const [by, model] of [
    [ADA, 'chat-model'],
    [CAROL, 'gemini-3.8-flash'],
  ] as const) {
    const messages: JsonObject[] = [
      { role: 'user', content: `A stored chat of ${name}: look at Rome.` },
    ]
    const body = { model, messages, store: true, metadata: { session: name }, tools: CHAT_TOOLS }
    const answer = done(await as(session, by).post('/v1/chat/completions', body))
    const id = String(answer['id'])
    notes.completions.push({ name: `${name}, ${model}`, id, by })
    done(await as(session, by).post(`/v1/chat/completions/${id}`, { metadata: { label: 'new' } }))
  }
}

async function conversationOf(
  session: Session,
  by: Visitor,
  name: string,
  body: JsonObject,
): Promise<string> {
  const { id } = done(await as(session, by).post('/v1/conversations', body))
  session.notes.conversations.push({ name: `${session.name}, ${name}`, id: String(id), by })
  return String(id)
}

/** Adds and deletes items, sets context rules and working memory, and resets a conversation. */
async function fillConversation(session: Session, by: Visitor): Promise<void> {
  const { name } = session
  const message = (content: string) => ({ type: 'message', role: 'user', content })
  const items = [message(`${name} begins.`), message('This one goes.')]
  const metadata = { session: name }
  const client = as(session, by)
  const id = await conversationOf(session, by, 'a conversation', { items, metadata })
  const path = `/v1/conversations/${id}`
  const listed = listIn(done(await client.get(`${path}/items?order=asc`))['data'])
  done(await client.delete(`${path}/items/${String(listed[1]?.['id'])}`))
  const body = { model: 'gpt-5', conversation: id, tools: TOOLS }
  const isConversed = true
  const ask = (step: string, input: JsonObject['input']) =>
    respond(session, by, `a conversation: ${step}`, { ...body, input }, { isConversed })
  const called = await ask('calls', `Look at Rome and Oslo, ${name}.`)
  await ask('answer', outputsFor(called, 'snow'))
  done(await client.post(`${path}/items`, { items: [message('Added by hand.')] }))
  done(await client.post(`${path}/context`, { policy: 'lean', window: { turns: 30 } }))
  done(await client.put(`/v1/memory/working?conversation=${id}`, { memory: { city: 'Chur' } }))
  const reset = await conversationOf(session, by, 'one that was reset', { items, metadata })
  done(await client.post(`/v1/conversations/${reset}/reset`, {}))
  await respond(
    session,
    by,
    'after a reset',
    { ...body, conversation: reset, input: 'Anew.' },
    { isConversed },
  )
}

/** The name of the conversation that has summaries. */
export const SUMMARIZED = 'one with summaries'

const SUMMARIES = { summaries: { trigger: 'manual', keep_turns: 1, keep_tokens: 0 } }

/** The second summary of the conversation is made from the first. */
async function summarizeTwice(session: Session, by: Visitor): Promise<void> {
  const { name } = session
  const id = await conversationOf(session, by, SUMMARIZED, {})
  const { post } = as(session, by)
  const layers = { observations: true, working_memory: true, facts: true }
  const ask = async (step: string, input: string) => {
    const backstory = { ...SUMMARIES, layers }
    const body = { model: 'chat-model', conversation: id, backstory, input }
    await respond(session, by, `summaries: ${step}`, body, { isConversed: true })
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

async function compactResponse(session: Session): Promise<void> {
  const input = `${session.name}: to be compacted.`
  const long = await respond(session, ADA, 'before compaction', { model: 'gpt-5', input })
  const compacting = { model: 'chat-model', previous_response_id: String(long['id']) }
  const compacted = done(await as(session, ADA).post('/v1/responses/compact', compacting))
  const all = [...listIn(compacted['output']), { role: 'user', content: 'Go on.' }]
  await respond(session, ADA, 'after compaction', { model: 'gpt-5', input: all })
}

/** A picture of two pieces, a small picture, and a text that is long enough to be compressed. */
async function sendMedia(session: Session): Promise<void> {
  const { name } = session
  const picture = (image_url: string, text: string) => [
    {
      role: 'user',
      content: [
        { type: 'input_text', text },
        { type: 'input_image', image_url },
      ],
    },
  ]
  const large = createDataUrl('image/png', 'image/png', 800_000 + name.length)
  const shown = await respond(session, ADA, 'a large picture', {
    model: 'gpt-5',
    input: picture(large, `What is that, ${name}?`),
  })
  const previous_response_id = String(shown['id'])
  await respond(session, ADA, 'behind a large picture', {
    model: 'gpt-5',
    previous_response_id,
    input: 'Sure?',
  })
  const small = createDataUrl('image/png', 'image/png', 2000 + name.length)
  await respond(session, CAROL, 'a small picture', {
    model: 'claude-opus-5-5',
    input: picture(small, 'And that?'),
  })
  const input = `${name} has much to say. `.repeat(1500)
  await respond(session, ADA, 'a long text', { model: 'claude-opus-5-5', input })
}

/** The gateway loads the picture and keeps it under its address. */
async function sendPictureByAddress(session: Session, address: string): Promise<void> {
  const { name } = session
  for (const by of [ADA, DAN]) {
    await respond(session, by, 'a picture by its address', {
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

/** Facts of users and of a conversation, and working memory that the model writes with a tool. */
async function writeMemories(session: Session, by: Visitor): Promise<void> {
  const { name, notes } = session
  const client = as(session, by)
  const add = async (body: JsonObject) => done(await client.post('/v1/memory/facts', body))
  await add({ text: `The boat of ${name} is called Möwe.`, area: 'core', importance: 0.95 })
  await add({ text: `The harbour of ${name} is in Genoa.`, importance: 0.4 })
  await add({ text: `The berth of ${name} ends late.`, valid_until: 32_503_680_000 })
  const own = notes.conversations.find((known) => known.by === by && known.name.startsWith(name))
  if (own !== undefined) await add({ text: `The crew of ${name} is small.`, conversation: own.id })
  const layers = { working_memory: true, facts: true, scope: 'user' }
  await respond(session, by, 'a note of the model', {
    model: 'claude-opus-5-5',
    backstory: { layers },
    input: `For ${name}: Use update_working_memory({"changes":{"session":"${name}"}}).`,
  })
}

/** A failed, a truncated and a refused answer, one by an alias, and one without refused reasoning. */
async function endUnusually(session: Session): Promise<void> {
  const { name, notes } = session
  const { url, headers } = as(session, ADA)
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
  await respond(session, ADA, 'cut off', { model: 'gpt-5', input: `Go on for ever, ${name}.` })
  const earlier = await respond(session, ADA, 'before its reasoning was refused', {
    model: 'gpt-5',
    input: `Think, ${name}.`,
  })
  await respond(session, ADA, 'its reasoning was refused', {
    model: 'gpt-5',
    previous_response_id: String(earlier['id']),
    input: REFUSED_QUESTION,
  })
  await respond(session, ADA, 'by an alias', { model: 'fast', input: `Be fast, ${name}.` })
  await respond(session, CAROL, 'refused', { model: 'gpt-5', input: `Refuse this, ${name}.` })
}

function idIn(text: string): string {
  const [id] = /resp_[0-9A-Z]{20}/.exec(text) ?? []
  expect(id).toBeDefined()
  return id ?? ''
}

/** Streams that can be read again: a background, a resumable and a cancelled one. */
async function logStreams(session: Session): Promise<void> {
  const { name, notes } = session
  for (const [kind, by, model] of [
    ['background', ADA, 'gpt-5'],
    ['resumable', CAROL, 'chat-model'],
  ] as const) {
    const { id } = await startStream(session, by, {
      model,
      input: `In the ${kind}, ${name}.`,
      background: kind === 'background',
    })
    notes.responses.push({ name: `${name}, ${kind}`, id, by, model, asked: {}, isLogged: true })
  }
  const client = as(session, ADA)
  const body = { model: 'demo', background: true, input: `/think Hm.\n/say ${name}\n/hang` }
  const cancelled = await startStream(session, ADA, body, 8)
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

/** Reads the first `take` events of a stream that can be read again. */
async function startStream(session: Session, by: Visitor, body: JsonObject, take?: number) {
  const { url, headers } = as(session, by)
  const own = { 'content-type': 'application/json', 'x-backstory-resumable': 'true', ...headers }
  const init = { method: 'POST', headers: own, body: JSON.stringify({ stream: true, ...body }) }
  const { text } = await readStream(`${url}/v1/responses`, init, take)
  return { id: idIn(text) }
}

/** Deletes a response that has a follow-up, a conversation, a thread and a user. */
async function deleteOwn(session: Session): Promise<void> {
  const { name } = session
  const client = as(session, ADA)
  const model = 'gpt-5'
  const first = await respond(
    session,
    ADA,
    'deleted',
    { model, input: `${name} is to go.` },
    { isDeleted: true },
  )
  const previous_response_id = String(first['id'])
  await respond(session, ADA, 'on a deleted one', {
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
  done(await as(session, erin).post('/v1/responses', { model, input: `${name} of Erin.` }))
  done(await as(session, erin).delete('/v1/memory/users/erin'))
}

/** Begins responses that never end. The returned function closes the connections of their clients. */
export async function beginOpenRuns(url: string, notes: Notes): Promise<() => void> {
  const session = { url, name: 'open runs', notes }
  const model = 'demo'
  const input = `/think Hm.\n/say Thus far.\n/hang`
  const begin = async (what: string, by: Visitor, body: JsonObject, take: number) => {
    const asked = { model, input, background: true, ...body }
    const { id } = await startStream(session, by, asked, take)
    notes.open.push({ name: what, id, by, model, asked: {}, isLogged: true })
  }
  await begin('a run with events', ADA, {}, 12)
  await begin('a run without output', CAROL, { input: '/hang' }, 2)
  const conversation = await conversationOf(session, ADA, 'one with an open run', {})
  await begin('a run in a conversation', ADA, { conversation }, 12)
  const listeners = [await listen(session, ADA, { model, input, stream: true }, false)]
  listeners.push(await listen(session, DAN, { model, input, stream: true }, true))
  // The gateway writes events and items a moment after it sends them.
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

/** Stays connected, because the gateway cancels an answer that is no run when its client leaves. */
async function listen(session: Session, by: Visitor, body: JsonObject, isLogged: boolean) {
  const { url, headers } = as(session, by)
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
