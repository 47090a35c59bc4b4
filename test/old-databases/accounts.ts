/**
 * Asks a gateway for everything that its database holds, each question under a name of its own. What
 * it answered when the database was written is what it must answer to the end of days.
 */
import { createHash } from 'node:crypto'
import { readStream } from '../support/sse-reader.ts'
import { clientOf, type Client, type Visitor } from './client.ts'
import { objectIn, type Json, type JsonObject } from './json.ts'
import { ADA, CAROL, VISITORS, type KnownResponse, type Notes } from './stories.ts'
import type { UpstreamServices } from './upstream-services.ts'

/** What was answered, by what was asked. */
export type Answers = Record<string, Json>

export interface Asking {
  readonly url: string
  readonly notes: Notes
  readonly upstreams: UpstreamServices
}

export type Question = readonly [name: string, ask: (asking: Asking) => Promise<Answers>]

/** In this order: what is asked later changes the database. */
export const QUESTIONS: readonly Question[] = [
  ['open runs are ended, and their events are read again', askOpenRuns],
  ['responses are read again', askResponses],
  ['streams are read again', askStreams],
  ['chat completions are read again', askCompletions],
  ['conversations list their items', askConversations],
  ['memories are read again', askMemories],
  ['kept requests explain what was sent', askExplanations],
  ['what belongs to others is not there', askForOthers],
  ['responses are continued with their own history', continueResponses],
  ['chats are continued with what they have forgotten', continueChats],
  ['conversations are continued', continueConversations],
  ['what is deleted is gone, and nothing else is', deleteSome],
]

/** Those that change nothing, to be asked as often as one likes. */
export const READINGS = QUESTIONS.slice(0, 8)

/** A longer text is told by its beginning, its length and its digest. */
const MAX_CHARS = 600

/** Long texts by their digests, and without the ports of servers that are others each time. */
function shorten(value: Json | undefined, { upstreams }: Asking): Json {
  const shortened = (_: string, inner: unknown): unknown => {
    if (typeof inner !== 'string') return inner
    const text = inner.replaceAll(upstreams.services.url, 'http://upstream/v1')
    if (text.length <= MAX_CHARS) return text
    const digest = createHash('sha256').update(text).digest('base64url')
    return `${text.slice(0, 60)} … ${text.length} characters, ${digest}`
  }
  return JSON.parse(JSON.stringify(value ?? null, shortened)) as Json
}

/** What is known of, each under a label of its own, several at a time. */
async function askEach<Known extends { readonly name: string; readonly by: Visitor }>(
  list: readonly Known[],
  asking: Asking,
  ask: (client: Client, known: Known) => Promise<Json>,
): Promise<Answers> {
  const answers: Answers = {}
  const left = [...list]
  const askNext = async (): Promise<void> => {
    for (let known = left.shift(); known !== undefined; known = left.shift()) {
      const label = `${known.name} (${nameOf(known.by)})`
      if (label in answers) throw new Error(`Two are called ${label}.`)
      // Keeps its place, whoever is answered first.
      answers[label] = null
      answers[label] = shorten(await ask(clientOf(asking.url, known.by), known), asking)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, askNext))
  return answers
}

const AT_ONCE = 6

/** What was answered to each path below a common one. */
async function read(client: Client, path: string, more: readonly string[] = ['']): Promise<Json> {
  const answers: Record<string, Json> = {}
  for (const rest of more) answers[rest] = { ...(await client.get(path + rest)) }
  return answers
}

function nameOf({ key, user }: Visitor): string {
  return user === undefined ? key : `${user} of ${key}`
}

async function askOpenRuns(asking: Asking): Promise<Answers> {
  const { open } = asking.notes
  const answers = await askEach(open, asking, async ({ get }, { id }) => {
    const deadline = Date.now() + MAX_RESCUE_MS
    let answer = await get(`/v1/responses/${id}`)
    while (isOpen(answer.body) && Date.now() < deadline) {
      await new Promise((resolve) => setTimeout(resolve, 50))
      answer = await get(`/v1/responses/${id}`)
    }
    return { ...answer }
  })
  const events = await askForEvents(open, asking)
  return { ...answers, events }
}

const MAX_RESCUE_MS = 10_000

function isOpen(body: Json): boolean {
  return ['queued', 'in_progress'].includes(String(objectIn(body)['status']))
}

function askResponses(asking: Asking): Promise<Answers> {
  const include = 'include[]=reasoning.encrypted_content'
  const paths = [`?${include}`, `/input_items?limit=100&order=asc&${include}`]
  return askEach(asking.notes.responses, asking, (client, { id }) =>
    read(client, `/v1/responses/${id}`, paths),
  )
}

function askStreams(asking: Asking): Promise<Answers> {
  return askForEvents(asking.notes.responses, asking)
}

function askForEvents(known: readonly KnownResponse[], asking: Asking): Promise<Answers> {
  const logged = known.filter(({ isLogged }) => isLogged === true)
  return askEach(logged, asking, async ({ url, headers }, { id }) => {
    const { status, text } = await readStream(`${url}/v1/responses/${id}?stream=true`, { headers })
    return { status, text: text.split('\n\n') }
  })
}

async function askCompletions(asking: Asking): Promise<Answers> {
  const all = VISITORS.map((by) => ({ name: 'all', by }))
  const paths = ['', '/messages']
  return {
    ...(await askEach(all, asking, (client) => read(client, '/v1/chat/completions?limit=100'))),
    ...(await askEach(asking.notes.completions, asking, (client, { id }) =>
      read(client, `/v1/chat/completions/${id}`, paths),
    )),
  }
}

function askConversations(asking: Asking): Promise<Answers> {
  const paths = ['', '/items?limit=100&order=asc', '/context', '/summaries']
  return askEach(asking.notes.conversations, asking, (client, { id }) =>
    read(client, `/v1/conversations/${id}`, paths),
  )
}

async function askMemories(asking: Asking): Promise<Answers> {
  const all = VISITORS.map((by) => ({ name: 'all', by }))
  const paths = ['facts?limit=100', 'facts?query=harbour%20of%20the%20boat', 'working']
  return {
    ...(await askEach(all, asking, (client) => read(client, '/v1/memory/', paths))),
    ...(await askEach(asking.notes.conversations, asking, (client, { id }) =>
      read(client, `/v1/memory/working?conversation=${id}`),
    )),
  }
}

function askExplanations(asking: Asking): Promise<Answers> {
  const { responses, completions } = asking.notes
  const stored = completions.map((known) => ({ ...known, name: `chat: ${known.name}` }))
  return askEach([...responses, ...stored], asking, async ({ get }, { id }) => {
    const path = `/v1/context/explain/${id}`
    const told = await get(path)
    const rounds = Number(objectIn(told.body)['rounds'] ?? 1)
    const bodies: Json[] = []
    for (let round = 0; round < rounds; round += 1) {
      bodies.push((await get(`${path}?format=body&round=${round}`)).body)
    }
    return { told: { ...told }, bodies }
  })
}

/** Whoever asks for something of somebody else is told the same as of what never was. */
function askForOthers(asking: Asking): Promise<Answers> {
  const { responses, conversations, completions } = asking.notes
  const paths = [
    // Of so many, some stand for all.
    ...responses
      .filter((_, at) => at % 6 === 0)
      .map(({ id, by }) => [by, `responses/${id}`] as const),
    ...conversations.map(({ id, by }) => [by, `conversations/${id}`] as const),
    ...completions.map(({ id, by }) => [by, `chat/completions/${id}`] as const),
  ]
  const all = VISITORS.map((by) => ({ name: 'as', by }))
  return askEach(all, asking, async ({ get }, { by: visitor }) => {
    const statuses: Record<string, number> = {}
    for (const [by, path] of paths) {
      if (nameOf(by) === nameOf(visitor)) continue
      const { status } = await get(`/v1/${path}`)
      statuses[status] = (statuses[status] ?? 0) + 1
    }
    return statuses
  })
}

/** What the upstream receives, and how its answer ends. */
async function sentFor(
  asking: Asking,
  by: Visitor,
  path: string,
  body: JsonObject,
  headers: object = {},
): Promise<Json> {
  const { received } = asking.upstreams.services
  const before = received.length
  const { status, body: answer } = await clientOf(asking.url, by).post(path, body, headers)
  const sent = received.slice(before).map(({ path, json }) => ({ path, json: json as JsonObject }))
  return shorten({ status, ...(status === 200 ? {} : { answer }), sent }, asking)
}

async function continueResponses(asking: Asking): Promise<Answers> {
  const answers: Answers = {}
  for (const { name, id, by, model, asked, isDeleted, isConversed } of asking.notes.responses) {
    if (model === 'demo' || isDeleted === true || isConversed === true) continue
    const body = { ...asked, model, previous_response_id: id, input: 'And now?', store: false }
    answers[`${name} (${nameOf(by)})`] = await sentFor(asking, by, '/v1/responses', body)
  }
  return answers
}

async function continueChats(asking: Asking): Promise<Answers> {
  const answers: Answers = {}
  for (const { name, by, headers, body } of asking.notes.chats) {
    answers[name] = await sentFor(asking, by, '/v1/chat/completions', body, headers)
  }
  return answers
}

async function continueConversations(asking: Asking): Promise<Answers> {
  const answers: Answers = {}
  for (const { name, id, by } of asking.notes.conversations) {
    const body = { model: 'chat-model', conversation: id, input: 'And now?' }
    answers[`${name} (${nameOf(by)})`] = await sentFor(asking, by, '/v1/responses', body)
  }
  return answers
}

/** One of each kind goes: a response on which others stand, and everything of a thread and of a user. */
async function deleteSome(asking: Asking): Promise<Answers> {
  const answers: Answers = {}
  const { responses, conversations, completions } = asking.notes
  const ada = clientOf(asking.url, ADA)
  const carol = clientOf(asking.url, CAROL)
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
    answers[path] = shorten({ deleted: { ...deleted }, after: { ...after } }, asking)
  }
  answers['what is left'] = await askEach(responses, asking, async ({ get }, { id }) => {
    return (await get(`/v1/responses/${id}`)).status
  })
  const previous_response_id = idOf(responses, `${CLAUDE}: another branch`)
  const body = { model: CLAUDE, previous_response_id, input: 'Still there?', store: false }
  answers['behind a deleted response'] = await sentFor(asking, ADA, '/v1/responses', body)
  return answers
}

const CLAUDE = 'claude-opus-5-5'

/** Of the first whose name has these words. */
function idOf(
  list: readonly { readonly name: string; readonly id: string }[],
  words: string,
): string {
  const found = list.find(({ name }) => name.includes(words))
  if (found === undefined) throw new Error(`Nothing is called ${words}.`)
  return found.id
}
