/**
 * Reads and continues everything that a gateway has stored. Later versions must return the same answers as
 * the version that wrote the database.
 */
import { createHash } from 'node:crypto'
import { readStream } from '../support/sse-reader.ts'
import { createClient, type Client, type Visitor } from './client.ts'
import { objectIn, type Json, type JsonObject } from './json.ts'
import { ADA, CAROL, SUMMARIZED, VISITORS, type KnownResponse, type Notes } from './write-phase.ts'
import type { UpstreamServices } from './upstream-services.ts'

/** Answers by the name of the object that was read. */
export type Answers = Record<string, Json>

export interface Target {
  readonly url: string
  readonly notes: Notes
  readonly upstreams: UpstreamServices
}

export type Check = readonly [name: string, read: (target: Target) => Promise<Answers>]

/** The checks in their order: the last four write to the database. */
export const CHECKS: readonly Check[] = [
  ['open runs are ended, and their events are read again', readOpenRuns],
  ['responses are read again', readResponses],
  ['streams are read again', readStreams],
  ['chat completions are read again', readCompletions],
  ['conversations list their items', readConversations],
  ['memories are read again', readMemories],
  ['kept requests explain what was sent', readExplanations],
  ['what belongs to others is not there', readAsOthers],
  ['responses are continued with their own history', continueResponses],
  ['chats are continued with what they have forgotten', continueChats],
  ['conversations are continued', continueConversations],
  ['what is deleted is gone, and nothing else is', deleteSome],
]

/** The checks that write nothing. */
export const READING_CHECKS = CHECKS.slice(0, -4)

/** A longer text is replaced by its beginning, its length and its digest. */
const MAX_CHARS = 600

/** Shortens long texts, and replaces the address of the upstream, which has a new port in each run. */
function shorten(value: Json | undefined, { upstreams }: Target): Json {
  const shortened = (_: string, inner: unknown): unknown => {
    if (typeof inner !== 'string') return inner
    const text = inner.replaceAll(upstreams.services.url, 'http://upstream/v1')
    if (text.length <= MAX_CHARS) return text
    const digest = createHash('sha256').update(text).digest('base64url')
    return `${text.slice(0, 60)} … ${text.length} characters, ${digest}`
  }
  return JSON.parse(JSON.stringify(value ?? null, shortened)) as Json
}

/** Reads several entries of the notes at a time. */
async function readEach<Known extends { readonly name: string; readonly by: Visitor }>(
  list: readonly Known[],
  target: Target,
  readOne: (client: Client, known: Known) => Promise<Json>,
): Promise<Answers> {
  const answers: Answers = {}
  const left = [...list]
  const readNext = async (): Promise<void> => {
    for (let known = left.shift(); known !== undefined; known = left.shift()) {
      const label = `${known.name} (${nameOf(known.by)})`
      if (label in answers) throw new Error(`Two are called ${label}.`)
      // Adds the key now, so that the object has the order of the list.
      answers[label] = null
      answers[label] = shorten(await readOne(createClient(target.url, known.by), known), target)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, readNext))
  return answers
}

const AT_ONCE = 6

/** Reads several paths that begin with the same one. */
async function read(client: Client, path: string, more: readonly string[] = ['']): Promise<Json> {
  const answers: Record<string, Json> = {}
  for (const rest of more) answers[rest] = { ...(await client.get(path + rest)) }
  return answers
}

function nameOf({ key, user }: Visitor): string {
  return user === undefined ? key : `${user} of ${key}`
}

async function readOpenRuns(target: Target): Promise<Answers> {
  const { open } = target.notes
  const answers = await readEach(open, target, async ({ get }, { id }) => {
    const deadline = Date.now() + MAX_RESCUE_MS
    let answer = await get(`/v1/responses/${id}`)
    while (isOpen(answer.body) && Date.now() < deadline) {
      await new Promise((resolve) => setTimeout(resolve, 50))
      answer = await get(`/v1/responses/${id}`)
    }
    return { ...answer }
  })
  const events = await readEvents(open, target)
  return { ...answers, events }
}

const MAX_RESCUE_MS = 10_000

function isOpen(body: Json): boolean {
  return ['queued', 'in_progress'].includes(String(objectIn(body)['status']))
}

function readResponses(target: Target): Promise<Answers> {
  const include = 'include[]=reasoning.encrypted_content'
  const paths = [`?${include}`, `/input_items?limit=100&order=asc&${include}`]
  return readEach(target.notes.responses, target, (client, { id }) =>
    read(client, `/v1/responses/${id}`, paths),
  )
}

function readStreams(target: Target): Promise<Answers> {
  return readEvents(target.notes.responses, target)
}

function readEvents(known: readonly KnownResponse[], target: Target): Promise<Answers> {
  const logged = known.filter(({ isLogged }) => isLogged === true)
  return readEach(logged, target, async ({ url, headers }, { id }) => {
    const { status, text } = await readStream(`${url}/v1/responses/${id}?stream=true`, { headers })
    return { status, text: text.split('\n\n') }
  })
}

async function readCompletions(target: Target): Promise<Answers> {
  const all = VISITORS.map((by) => ({ name: 'all', by }))
  const paths = ['', '/messages']
  return {
    ...(await readEach(all, target, (client) => read(client, '/v1/chat/completions?limit=100'))),
    ...(await readEach(target.notes.completions, target, (client, { id }) =>
      read(client, `/v1/chat/completions/${id}`, paths),
    )),
  }
}

function readConversations(target: Target): Promise<Answers> {
  const paths = ['', '/items?limit=100&order=asc', '/context']
  return readEach(target.notes.conversations, target, (client, { name, id }) => {
    const more = name.endsWith(SUMMARIZED) ? ['/summaries'] : []
    return read(client, `/v1/conversations/${id}`, [...paths, ...more])
  })
}

async function readMemories(target: Target): Promise<Answers> {
  const all = VISITORS.map((by) => ({ name: 'all', by }))
  const paths = ['facts?limit=100', 'facts?query=harbour%20of%20the%20boat', 'working']
  return {
    ...(await readEach(all, target, (client) => read(client, '/v1/memory/', paths))),
    ...(await readEach(target.notes.conversations, target, (client, { id }) =>
      read(client, `/v1/memory/working?conversation=${id}`),
    )),
  }
}

function readExplanations(target: Target): Promise<Answers> {
  const { responses, completions } = target.notes
  const stored = completions.map((known) => ({ ...known, name: `chat: ${known.name}` }))
  return readEach([...responses, ...stored], target, async ({ url, headers, get }, { id }) => {
    const path = `/v1/context/explain/${id}`
    const explanation = await get(path)
    const rounds = Number(objectIn(explanation.body)['rounds'] ?? 1)
    const bodies: Json[] = []
    for (let round = 0; round < rounds; round += 1) {
      const body = await fetch(`${url}${path}?format=body&round=${round}`, { headers })
      bodies.push(await body.text())
    }
    return { explanation: { ...explanation }, bodies }
  })
}

/** Counts the statuses that a visitor gets for objects of others. */
function readAsOthers(target: Target): Promise<Answers> {
  const { responses, conversations, completions } = target.notes
  const paths = [
    // Every sixth response is enough.
    ...responses
      .filter((_, at) => at % 6 === 0)
      .map(({ id, by }) => [by, `responses/${id}`] as const),
    ...conversations.map(({ id, by }) => [by, `conversations/${id}`] as const),
    ...completions.map(({ id, by }) => [by, `chat/completions/${id}`] as const),
  ]
  const all = VISITORS.map((by) => ({ name: 'as', by }))
  return readEach(all, target, async ({ get }, { by: visitor }) => {
    const statuses: Record<string, number> = {}
    for (const [by, path] of paths) {
      if (nameOf(by) === nameOf(visitor)) continue
      const { status } = await get(`/v1/${path}`)
      statuses[status] = (statuses[status] ?? 0) + 1
    }
    return statuses
  })
}

/** Resolves to the status and to all requests that the upstream received. */
async function sentFor(
  target: Target,
  by: Visitor,
  path: string,
  body: JsonObject,
  headers: object = {},
): Promise<Json> {
  const { received } = target.upstreams.services
  const before = received.length
  const { status, body: answer } = await createClient(target.url, by).post(path, body, headers)
  const sent = received.slice(before).map(({ path, json }) => ({ path, json: json as JsonObject }))
  return shorten({ status, ...(status === 200 ? {} : { answer }), sent }, target)
}

async function continueResponses(target: Target): Promise<Answers> {
  const answers: Answers = {}
  for (const { name, id, by, model, asked, isDeleted, isConversed } of target.notes.responses) {
    if (model === 'demo' || isDeleted === true || isConversed === true) continue
    const body = { ...asked, model, previous_response_id: id, input: 'And now?', store: false }
    answers[`${name} (${nameOf(by)})`] = await sentFor(target, by, '/v1/responses', body)
  }
  return answers
}

async function continueChats(target: Target): Promise<Answers> {
  const answers: Answers = {}
  for (const { name, by, headers, body } of target.notes.chats) {
    answers[name] = await sentFor(target, by, '/v1/chat/completions', body, headers)
  }
  return answers
}

async function continueConversations(target: Target): Promise<Answers> {
  const answers: Answers = {}
  for (const { name, id, by } of target.notes.conversations) {
    const body = { model: 'chat-model', conversation: id, input: 'And now?' }
    answers[`${name} (${nameOf(by)})`] = await sentFor(target, by, '/v1/responses', body)
  }
  return answers
}

/** Deletes one object of each kind, a thread and a user, and reads the remaining ones. */
async function deleteSome(target: Target): Promise<Answers> {
  const answers: Answers = {}
  const { responses, conversations, completions } = target.notes
  const ada = createClient(target.url, ADA)
  const carol = createClient(target.url, CAROL)
  const response = `/v1/responses/${idOf(responses, `${CLAUDE}: one more call`)}`
  const conversation = `/v1/conversations/${idOf(conversations, 'a conversation')}`
  const completion = `/v1/chat/completions/${idOf(completions, 'chat-model')}`
  const thread = idOf(responses, 'gemini-3.8-flash: answer')
  const gone = [
    [ada, response, response],
    [ada, conversation, `${conversation}/items`],
    [ada, completion, completion],
    [ada, `/v1/memory/turns/${thread}`, `/v1/responses/${thread}`],
    [ada, '/v1/memory/facts', '/v1/memory/facts'],
    [carol, '/v1/memory/users/carol', '/v1/memory/facts'],
  ] as const
  for (const [client, path, readAfter] of gone) {
    const deleted = await client.delete(path)
    const after = await client.get(readAfter)
    answers[path] = shorten({ deleted: { ...deleted }, after: { ...after } }, target)
  }
  answers['what is left'] = await readEach(responses, target, async ({ get }, { id }) => {
    return (await get(`/v1/responses/${id}`)).status
  })
  const previous_response_id = idOf(responses, `${CLAUDE}: another branch`)
  const body = { model: CLAUDE, previous_response_id, input: 'Still there?', store: false }
  answers['behind a deleted response'] = await sentFor(target, ADA, '/v1/responses', body)
  return answers
}

const CLAUDE = 'claude-opus-5-5'

/** The id of the first entry whose name contains the words. */
function idOf(
  list: readonly { readonly name: string; readonly id: string }[],
  words: string,
): string {
  const found = list.find(({ name }) => name.includes(words))
  if (found === undefined) throw new Error(`Nothing is called ${words}.`)
  return found.id
}
