/**
 * Several keys and users work side by side, and try each other's ids, markers, call ids, idempotency keys, facts and
 * conversations. Each answer and each upstream request contains the secret of one of them at most.
 */
import { createHmac } from 'node:crypto'
import { join } from 'node:path'
import { startChild } from '../support/child-gateway.ts'
import { startUpstream, type Behaviour } from '../support/upstream.ts'
import { answerWith } from '../support/answer-formats.ts'
import { connect } from '../support/socket-client.ts'
import { createFaultList, type Faults } from './support/fault-list.ts'
import type { TorturePart } from './support/part-interface.ts'
import { forEachParallel } from './support/pause.ts'
import type { Random } from './support/random.ts'

const TENANTS = ['ada', 'grace', 'joan']
const USERS = ['one', 'two']
const SECRET = 'isolation-signing-secret'
const STEPS_PER_ROUND = 300

/** The upstream gets back the reasoning that the gateway recalls. */
const QUIRKS = { reasoningField: 'reasoning_content', reasoningOn: 'all' }

/** A user of a key. Every text that they send contains their secret. */
interface Actor {
  readonly name: string
  readonly secret: string
  readonly headers: Readonly<Record<string, string>>
  /** Ids of their objects, as they appear in answers. */
  readonly ids: string[]
  /** Assistant texts with markers, and call ids. */
  readonly texts: string[]
}

interface Play {
  readonly url: string
  readonly actors: readonly Actor[]
  readonly random: Random
  readonly faults: Faults
  /** Idempotency keys and conversation names are the same for all actors. */
  readonly sharedNames: readonly string[]
  attempts: number
}

export const isolation: TorturePart = {
  name: 'isolation',
  description: `${TENANTS.length} keys with ${USERS.length} signed users each try each other's ids, markers, call ids and idempotency keys`,
  rounds: 20,
  async run({ rounds, isBrief, random, folder, printProgress }) {
    const faults = createFaultList('leaked', 'changed', 'failed')
    const upstream = await startUpstream(answerWithSecret)
    const gateway = await startChild({
      DATABASE_URL: `sqlite:${join(folder, 'isolation.db')}`,
      BACKSTORY_KEYS: TENANTS.map((name) => `${name}:sk-${name}`).join(),
      OPEN_WEBUI_JWT_SECRET: SECRET,
      MARKERS: 'always',
      ACCOUNT_PATHS: 'off',
      UPSTREAMS: JSON.stringify([
        { name: 'c', wire: 'chat', models: ['chat'], baseUrl: upstream.url, quirks: QUIRKS },
        { name: 'r', wire: 'responses', models: ['responses'], baseUrl: upstream.url },
      ]),
    })
    const actors = TENANTS.flatMap((tenant) => USERS.map((user) => createActor(tenant, user)))
    const sharedNames = Array.from({ length: 10 }, (_, at) => `shared-${at}`)
    const play: Play = { url: gateway.url, actors, random, faults, sharedNames, attempts: 0 }
    const steps = Array.from({ length: rounds * (isBrief ? 60 : STEPS_PER_ROUND) }, (_, at) => at)
    await forEachParallel(steps, 8, async (step) => {
      await takeStep(play)
      if (step > 0 && step % 1000 === 0) printProgress(`${step} of ${steps.length} steps`)
    })
    await checkOwnObjects(play)
    for (const received of upstream.received)
      checkSecrets(received.text, 'an upstream request', play)
    await gateway.kill('SIGKILL')
    await upstream.close()
    return {
      tried: `${steps.length.toLocaleString('en')} operations, ${play.attempts.toLocaleString('en')} of them with others' ids; ${upstream.received.length.toLocaleString('en')} upstream requests`,
      faults,
    }
  },
}

function createActor(tenant: string, user: string): Actor {
  const encode = (json: object) => Buffer.from(JSON.stringify(json)).toString('base64url')
  const claims = { iss: 'open-webui', sub: user, exp: Math.floor(Date.now() / 1000) + 86_400 }
  const content = `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode(claims)}`
  const signature = createHmac('sha256', SECRET).update(content).digest('base64url')
  return {
    name: `${user} of ${tenant}`,
    secret: `secret-${tenant}-${user}`,
    headers: {
      authorization: `Bearer sk-${tenant}`,
      'x-openwebui-user-jwt': `${content}.${signature}`,
    },
    ids: [],
    texts: [],
  }
}

/**
 * Answers all actors with the same text, so that their histories are alike. The secret is in what text clients do not
 * send back: the reasoning, and in some answers a call.
 */
function answerWithSecret(...[response, received]: Parameters<Behaviour>): void | Promise<void> {
  const secret = received.text.match(/secret-\w+-\w+/g)?.at(-1) ?? 'no secret'
  const calls = [{ id: 'call_shared', name: 'look', arguments: JSON.stringify({ at: secret }) }]
  const withCall = received.text.length % 3 === 0
  const content = { reasoning: `I know ${secret}.`, text: 'Noted.', ...(withCall && { calls }) }
  return answerWith(content)(response, received)
}

type Step = (play: Play, actor: Actor, other: Actor) => Promise<void>

async function takeStep(play: Play): Promise<void> {
  const { actors, random, faults } = play
  const actor = random.pick(actors)
  const other = random.pick(actors.filter((one) => one !== actor))
  try {
    await random.pick(STEPS)(play, actor, other)
  } catch (error) {
    faults.add('failed', `${actor.name}: ${String(error)}`)
  }
}

const STEPS: readonly Step[] = [
  createAnswer,
  createAnswer,
  continueAnswer,
  sendChat,
  sendChat,
  createConversation,
  createFact,
  tryId,
  tryId,
  tryId,
  tryIdInRequest,
  tryIdInRequest,
  tryTexts,
  tryWebSocket,
  trySharedName,
  readLists,
]

function question(actor: Actor): string {
  return `Remember my ${actor.secret}.`
}

async function createAnswer(play: Play, actor: Actor): Promise<void> {
  const { random } = play
  const mode = random.pick([
    {},
    { stream: true },
    { background: true },
    { background: true, stream: true },
  ])
  const model = random.pick(['chat', 'responses'])
  await ask(play, actor, 'POST', '/responses', {
    model,
    input: question(actor),
    store: true,
    ...mode,
  })
}

async function continueAnswer(play: Play, actor: Actor): Promise<void> {
  const id = pickId(play, actor, 'resp_')
  if (id === null) return createAnswer(play, actor)
  const body = { model: 'chat', input: question(actor), previous_response_id: id }
  await ask(play, actor, 'POST', '/responses', body)
}

/** Sends a chat with an own earlier answer, as it was received. */
async function sendChat(play: Play, actor: Actor): Promise<void> {
  const { random } = play
  const text = actor.texts.length === 0 ? null : random.pick(actor.texts)
  await ask(play, actor, 'POST', '/chat/completions', chatBody(actor, text, random.below(2) === 0))
}

function chatBody(actor: Actor, text: string | null, store: boolean): object {
  const user = { role: 'user', content: 'Note it.' }
  const messages = text === null ? [user] : [user, { role: 'assistant', content: text }, user]
  return {
    model: 'chat',
    store,
    messages: [{ role: 'system', content: question(actor) }, ...messages],
  }
}

async function createConversation(play: Play, actor: Actor): Promise<void> {
  const items = [{ type: 'message', role: 'user', content: question(actor) }]
  await ask(play, actor, 'POST', '/conversations', { items })
}

async function createFact(play: Play, actor: Actor): Promise<void> {
  await ask(play, actor, 'POST', '/memory/facts', { text: `My secret is ${actor.secret}.` })
}

type IdPath = readonly [
  method: 'GET' | 'POST' | 'DELETE',
  path: (id: string) => string,
  body?: object,
]

const ITEMS = { items: [{ type: 'message', role: 'user', content: 'foreign' }] }

/** Everything that can be done with an id, by its prefix. */
const ID_PATHS: Readonly<Record<string, readonly IdPath[]>> = {
  resp_: [
    ['GET', (id) => `/responses/${id}`],
    ['GET', (id) => `/responses/${id}?stream=true`],
    ['GET', (id) => `/responses/${id}/input_items`],
    ['GET', (id) => `/context/explain/${id}`],
    ['POST', (id) => `/responses/${id}/cancel`],
    ['DELETE', (id) => `/responses/${id}`],
  ],
  'chatcmpl-': [
    ['GET', (id) => `/chat/completions/${id}`],
    ['GET', (id) => `/chat/completions/${id}/messages`],
    ['POST', (id) => `/chat/completions/${id}`, { metadata: { by: 'foreign' } }],
    ['DELETE', (id) => `/chat/completions/${id}`],
  ],
  conv_: [
    ['GET', (id) => `/conversations/${id}`],
    ['GET', (id) => `/conversations/${id}/items`],
    ['GET', (id) => `/conversations/${id}/summaries`],
    ['POST', (id) => `/conversations/${id}`, { metadata: { by: 'foreign' } }],
    ['POST', (id) => `/conversations/${id}/items`, ITEMS],
    ['POST', (id) => `/conversations/${id}/reset`, {}],
    ['POST', (id) => `/conversations/${id}/summarize`, {}],
    ['DELETE', (id) => `/conversations/${id}`],
  ],
  fact_: [
    ['GET', (id) => `/memory/facts/${id}`],
    ['DELETE', (id) => `/memory/facts/${id}`],
  ],
}

async function tryId(play: Play, actor: Actor, other: Actor): Promise<void> {
  const prefix = play.random.pick(Object.keys(ID_PATHS))
  const id = pickId(play, other, prefix)
  if (id === null) return
  const [method, path, body] = play.random.pick(ID_PATHS[prefix] ?? [])
  play.attempts += 1
  const { status, text } = await ask(play, actor, method, path(id), body)
  if (status < 400) {
    play.faults.add(
      'leaked',
      `${actor.name}: ${method} ${path(id)} of ${other.name}: ${status} ${text.slice(0, 200)}`,
    )
  }
}

async function tryIdInRequest(play: Play, actor: Actor, other: Actor): Promise<void> {
  const { random } = play
  const id = pickId(play, other, random.pick(['resp_', 'conv_', 'msg_']))
  if (id === null) return
  play.attempts += 1
  const field = id.startsWith('resp_')
    ? { previous_response_id: id }
    : id.startsWith('conv_')
      ? { conversation: id }
      : {
          input: [
            { type: 'item_reference', id },
            { role: 'user', content: question(actor) },
          ],
        }
  const path = random.pick(['/responses', '/responses', '/context/explain'])
  const body = { model: 'chat', input: question(actor), store: random.below(2) === 0, ...field }
  const { status, text } = await ask(play, actor, 'POST', path, body)
  if (status < 400) {
    play.faults.add(
      'leaked',
      `${actor.name}: ${path} with ${id} of ${other.name}: ${text.slice(0, 200)}`,
    )
  }
}

/** Sends another actor's answers as own ones: with their markers, with the same text, or with the same call id. */
async function tryTexts(play: Play, actor: Actor, other: Actor): Promise<void> {
  const { random } = play
  if (other.texts.length === 0) return
  play.attempts += 1
  const text = random.pick([random.pick(other.texts), 'Noted.'])
  const call = { id: 'call_shared', type: 'function', function: { name: 'look', arguments: '{}' } }
  const withCall = {
    model: 'chat',
    messages: [
      { role: 'user', content: question(actor) },
      { role: 'assistant', content: text, tool_calls: [call] },
      { role: 'tool', tool_call_id: 'call_shared', content: 'x' },
    ],
  }
  const body = random.below(2) === 0 ? chatBody(actor, text, false) : withCall
  await ask(play, actor, 'POST', '/chat/completions', body)
}

async function tryWebSocket(play: Play, actor: Actor, other: Actor): Promise<void> {
  const id = pickId(play, other, 'resp_')
  if (id === null) return
  play.attempts += 1
  const client = await connect(play.url, { headers: actor.headers })
  const body = {
    type: 'response.create',
    model: 'chat',
    input: question(actor),
    previous_response_id: id,
  }
  const { refusal, frames } = await client.ask(body)
  client.socket.terminate()
  checkSecrets(JSON.stringify(frames), `a WebSocket of ${actor.name}`, play, actor)
  if (refusal === null)
    play.faults.add('leaked', `${actor.name}: a WebSocket continued ${id} of ${other.name}`)
}

/** Uses an idempotency key or a safety identifier that the others use as well. */
async function trySharedName(play: Play, actor: Actor): Promise<void> {
  const name = play.random.pick(play.sharedNames)
  const body = { model: 'chat', input: question(actor), prompt_cache_key: name, user: name }
  play.attempts += 1
  await ask(play, actor, 'POST', '/responses', body, { 'idempotency-key': name })
}

async function readLists(play: Play, actor: Actor): Promise<void> {
  const path = play.random.pick([
    '/chat/completions?limit=100',
    '/memory/facts?limit=100',
    '/models',
  ])
  await ask(play, actor, 'GET', path)
}

/** The upstream gives this id to an item of every actor. */
const SHARED_ITEM_ID = 'msg_up'

function pickId({ random }: Play, { ids }: Actor, prefix: string): string | null {
  const some = ids.filter((id) => id.startsWith(prefix))
  return some.length === 0 ? null : random.pick(some)
}

/** Sends a request, checks that its answer has no secret of another actor, and notes the ids in it. */
async function ask(
  play: Play,
  actor: Actor,
  method: string,
  path: string,
  body?: object,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ readonly status: number; readonly text: string }> {
  const response = await fetch(`${play.url}/v1${path}`, {
    method,
    headers: { 'content-type': 'application/json', ...actor.headers, ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  const { status } = response
  checkSecrets(text, `${method} ${path} of ${actor.name}`, play, actor)
  if (status === 500)
    play.faults.add('failed', `${method} ${path}: status ${status} ${text.slice(0, 200)}`)
  if (status < 400 && method === 'POST') {
    const known = new Set([...actor.ids, SHARED_ITEM_ID])
    const found = text.match(/"id": ?"((?:resp_|chatcmpl-|conv_|fact_|msg_)\w+)"/g) ?? []
    const ids = found.map((one) => one.split('"')[3] ?? '')
    actor.ids.push(...new Set(ids.filter((id) => !known.has(id))))
    for (const [, marked = ''] of text.matchAll(
      /"(?:content|text)": ?"((?:[^"\\]|\\.)*\]: #(?:[^"\\]|\\.)*)"/g,
    )) {
      actor.texts.push(JSON.parse(`"${marked}"`) as string)
    }
  }
  return { status, text }
}

/** Without an owner, the text may contain the secret of any one actor. */
function checkSecrets(text: string, where: string, { faults }: Play, owner?: Actor): void {
  const secrets = new Set(text.match(/secret-\w+-\w+/g))
  if (owner !== undefined) secrets.add(owner.secret)
  if (secrets.size > 1) faults.add('leaked', `${where} contains ${[...secrets].join(' and ')}`)
}

/** Nothing that an actor tried has changed or deleted an object of another one. */
async function checkOwnObjects(play: Play): Promise<void> {
  const paths: readonly (readonly [string, string])[] = [
    ['resp_', '/responses/'],
    ['chatcmpl-', '/chat/completions/'],
    ['conv_', '/conversations/'],
  ]
  const all = play.actors.flatMap((actor) =>
    paths.flatMap(([prefix, path]) =>
      actor.ids.filter((id) => id.startsWith(prefix)).map((id) => ({ actor, id, path: path + id })),
    ),
  )
  await forEachParallel(all, 8, async ({ actor, id, path }) => {
    // An answer with `store: false` has an id, too.
    const { status, text } = await ask(play, actor, 'GET', path)
    if (text.includes('foreign')) play.faults.add('changed', `${id} of ${actor.name} was changed`)
    if (id.startsWith('conv_') && status !== 200)
      play.faults.add('changed', `${id} of ${actor.name}: ${status}`)
  })
}
