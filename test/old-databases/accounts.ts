/**
 * Asks a gateway for everything that its database holds, each question under a name of its own. What
 * it answered when the database was written is what it must answer to the end of days.
 */
import { createHash } from 'node:crypto'
import { readStream } from '../support/sse-reader.ts'
import { clientOf, type Visitor } from './client.ts'
import { listIn, objectIn, type Json, type JsonObject } from './json.ts'
import { VISITORS, type KnownResponse, type Notes } from './stories.ts'
import type { UpstreamServices } from './upstream-services.ts'

/** What was answered, by what was asked. */
export type Answers = Record<string, Json>

export interface Asking {
  readonly url: string
  readonly notes: Notes
  readonly upstreams: UpstreamServices
}

/** In this order: what is asked later changes the database. */
export const QUESTIONS: readonly (readonly [
  name: string,
  ask: (asking: Asking) => Promise<Answers>,
])[] = [
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

/** A text of any length in a line of its own. */
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

async function askOpenRuns(asking: Asking): Promise<Answers> {
  const answers: Answers = {}
  for (const { name, id, by } of asking.notes.open) {
    const { get } = clientOf(asking.url, by)
    const deadline = Date.now() + 10_000
    let read = await get(`/v1/responses/${id}`)
    while (isOpen(read.body) && Date.now() < deadline) {
      await new Promise((resolve) => setTimeout(resolve, 50))
      read = await get(`/v1/responses/${id}`)
    }
    answers[name] = shorten({ ...read }, asking)
  }
  return { ...answers, ...(await eventsOf(asking.notes.open, asking)) }
}

function isOpen(body: Json): boolean {
  return ['queued', 'in_progress'].includes(String(objectIn(body)['status']))
}

async function askResponses(asking: Asking): Promise<Answers> {
  const answers: Answers = {}
  for (const { name, id, by } of asking.notes.responses) {
    const { get } = clientOf(asking.url, by)
    const include = 'include[]=reasoning.encrypted_content'
    const read = await get(`/v1/responses/${id}?${include}`)
    const items = await get(`/v1/responses/${id}/input_items?limit=100&order=asc&${include}`)
    answers[name] = shorten({ read: { ...read }, items: { ...items } }, asking)
  }
  return answers
}

function askStreams(asking: Asking): Promise<Answers> {
  return eventsOf(asking.notes.responses, asking)
}

async function eventsOf(known: readonly KnownResponse[], asking: Asking): Promise<Answers> {
  const answers: Answers = {}
  for (const { name, id, by, isLogged } of known) {
    if (isLogged !== true) continue
    const { url, headers } = clientOf(asking.url, by)
    const { status, text } = await readStream(`${url}/v1/responses/${id}?stream=true`, { headers })
    answers[`events of ${name}`] = shorten({ status, text: text.split('\n\n') }, asking)
  }
  return answers
}

async function askCompletions(asking: Asking): Promise<Answers> {
  const answers: Answers = {}
  for (const by of VISITORS) {
    const { get } = clientOf(asking.url, by)
    const listed = await get('/v1/chat/completions?limit=100')
    answers[`all of ${nameOf(by)}`] = shorten({ ...listed }, asking)
  }
  for (const { name, id, by } of asking.notes.completions) {
    const { get } = clientOf(asking.url, by)
    const read = await get(`/v1/chat/completions/${id}`)
    const messages = await get(`/v1/chat/completions/${id}/messages`)
    answers[name] = shorten({ read: { ...read }, messages: { ...messages } }, asking)
  }
  return answers
}

function nameOf({ key, user }: Visitor): string {
  return user === undefined ? key : `${user} of ${key}`
}

async function askConversations(asking: Asking): Promise<Answers> {
  const answers: Answers = {}
  for (const { name, id, by } of asking.notes.conversations) {
    const { get } = clientOf(asking.url, by)
    const path = `/v1/conversations/${id}`
    const paths = ['', '/items?limit=100&order=asc', '/context', '/summaries']
    const read: JsonObject[] = []
    for (const more of paths) read.push({ ...(await get(path + more)) })
    answers[`${nameOf(by)}: ${name}`] = shorten(read, asking)
  }
  return answers
}

async function askMemories(asking: Asking): Promise<Answers> {
  const answers: Answers = {}
  for (const by of asking.notes.memories) {
    const { get } = clientOf(asking.url, by)
    for (const path of ['facts?limit=100', 'facts?query=harbour%20of%20the%20boat', 'working']) {
      answers[`${path} of ${nameOf(by)}`] = shorten(
        { ...(await get(`/v1/memory/${path}`)) },
        asking,
      )
    }
  }
  for (const { name, id, by } of asking.notes.conversations) {
    const { get } = clientOf(asking.url, by)
    const noted = await get(`/v1/memory/working?conversation=${id}`)
    answers[`${nameOf(by)}: ${name}`] = shorten({ ...noted }, asking)
  }
  return answers
}

async function askExplanations(asking: Asking): Promise<Answers> {
  const answers: Answers = {}
  const { responses, completions } = asking.notes
  for (const { name, id, by } of [...responses, ...completions]) {
    const { get } = clientOf(asking.url, by)
    const path = `/v1/context/explain/${id}`
    const told = await get(path)
    const rounds = Number(objectIn(told.body)['rounds'] ?? 1)
    const bodies: Json[] = []
    for (let round = 0; round < rounds; round += 1) {
      bodies.push((await get(`${path}?format=body&round=${round}`)).body)
    }
    answers[`${name} (${id.slice(0, 4)})`] = shorten({ told: { ...told }, bodies }, asking)
  }
  return answers
}

/** Whoever else asks for something is told what somebody is told who asks for nothing that ever was. */
async function askForOthers(asking: Asking): Promise<Answers> {
  const answers: Answers = {}
  const { responses, conversations, completions } = asking.notes
  const paths = [
    ...responses.map(({ id, by }) => ({ by, path: `/v1/responses/${id}` })),
    ...conversations.map(({ id, by }) => ({ by, path: `/v1/conversations/${id}` })),
    ...completions.map(({ id, by }) => ({ by, path: `/v1/chat/completions/${id}` })),
  ]
  for (const visitor of VISITORS) {
    const { get } = clientOf(asking.url, visitor)
    const statuses: Record<string, number> = {}
    for (const { by, path } of paths) {
      if (nameOf(by) === nameOf(visitor)) continue
      const { status } = await get(path)
      statuses[status] = (statuses[status] ?? 0) + 1
    }
    answers[nameOf(visitor)] = statuses
  }
  return answers
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
    answers[name] = await sentFor(asking, by, '/v1/responses', body)
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
    answers[`${nameOf(by)}: ${name}`] = await sentFor(asking, by, '/v1/responses', body)
  }
  return answers
}

async function deleteSome(asking: Asking): Promise<Answers> {
  const answers: Answers = {}
  const { responses, conversations, completions } = asking.notes
  const [ada, carol] = [
    clientOf(asking.url, { key: 'ada' }),
    clientOf(asking.url, { key: 'bob', user: 'carol' }),
  ]
  const isCalled =
    (words: string) =>
    ({ name }: { readonly name: string }) =>
      name.includes(words)
  const called = responses.find(isCalled('claude-opus-5-5: one more call'))
  const branch = responses.find(isCalled('claude-opus-5-5: another branch'))
  const conversation = conversations.find(isCalled('a conversation'))
  const completion = completions.find(isCalled('chat-model'))
  const forgotten = responses.find(isCalled('gemini-3.8-flash: answer'))
  const gone = [
    ['a response', `/v1/responses/${called?.id}`, `/v1/responses/${called?.id}`],
    [
      'a conversation',
      `/v1/conversations/${conversation?.id}`,
      `/v1/conversations/${conversation?.id}/items`,
    ],
    [
      'a completion',
      `/v1/chat/completions/${completion?.id}`,
      `/v1/chat/completions/${completion?.id}`,
    ],
    ['a whole thread', `/v1/memory/turns/${forgotten?.id}`, `/v1/responses/${forgotten?.id}`],
    ['all facts', '/v1/memory/facts', '/v1/memory/facts'],
  ] as const
  for (const [what, path, read] of gone) {
    const deleted = await ada.delete(path)
    const after = await ada.get(read)
    answers[what] = shorten({ deleted: { ...deleted }, after: { ...after } }, asking)
  }
  const forgot = await carol.delete('/v1/memory/users/carol')
  answers['a user'] = shorten(
    { forgot: { ...forgot }, facts: { ...(await carol.get('/v1/memory/facts')) } },
    asking,
  )
  const left: Record<string, number> = {}
  for (const { id, by } of responses) {
    const { status } = await clientOf(asking.url, by).get(`/v1/responses/${id}`)
    const key = `${nameOf(by)}: ${status}`
    left[key] = (left[key] ?? 0) + 1
  }
  answers['what is left'] = left
  const body = {
    model: 'claude-opus-5-5',
    previous_response_id: branch?.id ?? '',
    input: 'Still there?',
    store: false,
  }
  answers['a branch behind a deleted response'] = await sentFor(
    asking,
    { key: 'ada' },
    '/v1/responses',
    body,
  )
  expectSome(listIn(objectIn(answers['a branch behind a deleted response'])['sent']))
  return answers
}

function expectSome(list: readonly JsonObject[]): void {
  if (list.length === 0) throw new Error('Nothing was sent.')
}
