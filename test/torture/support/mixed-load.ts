/**
 * Clients that send a mixture of requests until they are stopped or the gateway dies: chats, stored responses,
 * streams, background responses, conversations, their items, and deletions. All answers are from the demo
 * model, whose text the request contains.
 */
import type { Faults } from './fault-list.ts'
import type { Ledger, LedgerEntry } from './ledger.ts'
import { pause } from './pause.ts'
import type { Random } from './random.ts'
import { readSseEvents } from './sse-events.ts'

export interface LoadOptions {
  readonly url: string
  readonly ledger: Ledger
  readonly faults: Faults
  readonly random: Random
  readonly clients: number
  /**
   * True if the database is going to fail: a gateway cannot release the locks of conversations then, and
   * breaks off a stream whose turn is lost, so that its client notices it.
   */
  readonly losesDatabase?: boolean
  /** True without background responses, which Workers end with the process. */
  readonly isWorker?: boolean
}

export interface Load {
  /** Call this before the gateway is killed: from then on, a broken connection only ends its client. */
  readonly allowBreaks: () => void
  /** Resolves when each client has read its last answer. */
  readonly stop: () => Promise<void>
}

export function startLoad(options: LoadOptions): Load {
  const stopping = new AbortController()
  let mayBreak = false
  const actions = options.isWorker === true ? ACTIONS : [...ACTIONS, ...BACKGROUND_ACTIONS]
  const clients = Array.from({ length: options.clients }, async () => {
    const client = createClient(options)
    while (!stopping.signal.aborted) {
      try {
        await options.random.pick(actions)(client)
      } catch (error) {
        if (mayBreak) return
        if (options.losesDatabase === true) {
          options.ledger.rejected += 1
          continue
        }
        options.faults.add('failed', `a request broke off: ${String(error)}`)
        await pause(20)
      }
    }
  })
  return {
    allowBreaks: () => void (mayBreak = true),
    async stop() {
      stopping.abort()
      await Promise.all(clients)
    },
  }
}

interface LoadClient {
  readonly options: LoadOptions
  /** Objects of this client only, so that no two clients lock one conversation. */
  readonly own: LedgerEntry[]
  readonly post: (path: string, body: object) => Promise<Reply | null>
}

interface Reply {
  readonly text: string
  readonly json: Readonly<Record<string, unknown>>
}

function createClient(options: LoadOptions): LoadClient {
  return {
    options,
    own: [],
    post: async (path, body) => readReply(options, await send(options, 'POST', path, body)),
  }
}

type Action = (client: LoadClient) => Promise<void>

const ACTIONS: readonly Action[] = [
  (client) => createResponse(client, {}),
  (client) => createResponse(client, {}),
  continueResponse,
  streamResponse({}),
  createConversation,
  converse,
  converse,
  addItem,
  createChat,
  readSomething,
  deleteSomething,
]

const BACKGROUND_ACTIONS: readonly Action[] = [
  streamResponse({ background: true }),
  (client) => createResponse(client, { background: true }),
]

async function createResponse(client: LoadClient, more: object): Promise<void> {
  const { ledger } = client.options
  const text = ledger.createText()
  const reply = await client.post('/responses', { ...question(text), ...more })
  if (reply === null) return
  const { id, status, store } = reply.json
  if (store === false) return void (ledger.rejected += 1)
  add(client, 'response', id, status === 'completed' ? 'acknowledged' : 'accepted', text)
}

function continueResponse(client: LoadClient): Promise<void> {
  const previous = pickOwn(client, 'response', 'acknowledged')
  return createResponse(client, previous === null ? {} : { previous_response_id: previous.id })
}

function streamResponse(more: object): Action {
  return async (client) => {
    const { options } = client
    const { ledger, faults } = options
    const text = ledger.createText()
    const body = { ...question(text), ...more, stream: true }
    const response = await send(options, 'POST', '/responses', body)
    if (response.status !== 200) return void (await readReply(options, response))
    let entry: LedgerEntry | null = null
    const ends: string[] = []
    let last: unknown = 'no event'
    for await (const { type, response: state } of readSseEvents(response)) {
      last = type
      if (type === 'response.created' && state !== undefined && state['store'] !== false) {
        const promised = state['background'] === true ? 'accepted' : 'begun'
        entry = add(client, 'response', state['id'], promised, text)
      }
      if (/^response\.(completed|failed|incomplete)$/.test(String(type))) ends.push(String(type))
    }
    if (ends.length !== 1) {
      const kind = `a stream with ${JSON.stringify(more)}`
      faults.add('failed', `${kind} ended ${ends.length} times, last with ${String(last)}`)
    }
    if (ends[0] !== 'response.completed') return void (ledger.rejected += 1)
    if (entry === null) return
    if (entry.state === 'begun') ledger.acknowledged += 1
    entry.state = 'acknowledged'
  }
}

async function createConversation(client: LoadClient): Promise<void> {
  const text = client.options.ledger.createText()
  const reply = await client.post('/conversations', { items: [userMessage(text)] })
  if (reply !== null) add(client, 'conversation', reply.json['id'], 'acknowledged', text)
}

async function converse(client: LoadClient): Promise<void> {
  const conversation = pickOwn(client, 'conversation', 'acknowledged')
  if (conversation === null) return createConversation(client)
  const text = client.options.ledger.createText()
  const entry = { text, isCertain: false }
  conversation.texts.push(entry)
  const body = { ...question(text), conversation: conversation.id }
  const reply = await client.post('/responses', body)
  if (reply === null) return
  if (reply.json['store'] === false || reply.json['status'] !== 'completed') {
    return void (client.options.ledger.rejected += 1)
  }
  entry.isCertain = true
  client.options.ledger.acknowledged += 1
}

async function addItem(client: LoadClient): Promise<void> {
  const conversation = pickOwn(client, 'conversation', 'acknowledged')
  if (conversation === null) return createConversation(client)
  const entry = { text: client.options.ledger.createText(), isCertain: false }
  conversation.texts.push(entry)
  const path = `/conversations/${conversation.id}/items`
  if ((await client.post(path, { items: [userMessage(entry.text)] })) === null) return
  entry.isCertain = true
  client.options.ledger.acknowledged += 1
}

async function createChat(client: LoadClient): Promise<void> {
  const text = client.options.ledger.createText()
  const { input, ...body } = question(text)
  const messages = [{ role: 'user', content: input }]
  const reply = await client.post('/chat/completions', { ...body, messages })
  if (reply !== null) add(client, 'chat', reply.json['id'], 'acknowledged', text)
}

async function readSomething(client: LoadClient): Promise<void> {
  const { options } = client
  const entry = pickOwn(client, options.random.pick(KINDS), 'acknowledged')
  if (entry === null) return
  await readReply(options, await send(options, 'GET', `${PATHS[entry.kind]}/${entry.id}`))
}

async function deleteSomething(client: LoadClient): Promise<void> {
  const { options } = client
  const entry = pickOwn(client, options.random.pick(KINDS), 'acknowledged')
  if (entry === null) return
  entry.state = 'deleting'
  const response = await send(options, 'DELETE', `${PATHS[entry.kind]}/${entry.id}`)
  if ((await readReply(options, response)) === null) return
  entry.state = 'deleted'
  options.ledger.acknowledged += 1
}

const KINDS = ['response', 'chat', 'conversation'] as const

export const PATHS: Readonly<Record<LedgerEntry['kind'], string>> = {
  response: '/responses',
  chat: '/chat/completions',
  conversation: '/conversations',
}

function question(text: string) {
  return { model: 'demo', store: true, input: questionText(text) }
}

/** Returns the question to which the demo model answers with this text. */
export function questionText(text: string): string {
  return `Say it.\n/say ${text}`
}

function userMessage(text: string): object {
  return { type: 'message', role: 'user', content: text }
}

function add(
  { own, options: { ledger } }: LoadClient,
  kind: LedgerEntry['kind'],
  id: unknown,
  state: LedgerEntry['state'],
  text: string,
): LedgerEntry {
  const texts = [{ text, isCertain: true }]
  const entry: LedgerEntry = { kind, id: String(id), state, texts, finalStatus: null }
  own.push(entry)
  ledger.entries.push(entry)
  if (state !== 'begun') ledger.acknowledged += 1
  return entry
}

function pickOwn(
  { own, options: { random } }: LoadClient,
  kind: LedgerEntry['kind'],
  state: LedgerEntry['state'],
): LedgerEntry | null {
  const some = own.filter((entry) => entry.kind === kind && entry.state === state)
  return some.length === 0 ? null : random.pick(some)
}

function send(
  { url }: LoadOptions,
  method: string,
  path: string,
  body?: object,
): Promise<Response> {
  return fetch(`${url}/v1${path}`, {
    method,
    headers: { 'content-type': 'application/json' },
    signal: AbortSignal.timeout(MAX_ANSWER_MS),
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
}

const MAX_ANSWER_MS = 60_000

/** Returns null for a rejected request. The only allowed reason is that the database does not answer, or lacks a table. */
async function readReply(
  { ledger, faults, losesDatabase, isWorker }: LoadOptions,
  response: Response,
) {
  const text = await response.text()
  if (response.status === 200) {
    return { text, json: JSON.parse(text) as Readonly<Record<string, unknown>> }
  }
  ledger.rejected += 1
  const isLocked = losesDatabase === true && text.includes('"conversation_locked"')
  // The suite takes D1 away by renaming a table, which no retry could mend.
  const isWithoutTable =
    isWorker === true && losesDatabase === true && text.includes('rejects the data')
  const isAllowed = response.status === 503 || isLocked || isWithoutTable
  if (!isAllowed) faults.add('failed', `status ${response.status}: ${text.slice(0, 300)}`)
  return null
}
