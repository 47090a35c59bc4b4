/**
 * Plays a case with a real gateway and a real HTTP upstream, and returns what both received and sent. Only
 * settings, requests and answers are accessed, nothing inside the gateway.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { vi } from 'vitest'
import { startGateway } from '../support/gateway.ts'
import { connect, type SocketClient } from '../support/socket-client.ts'
import { startServices, type Services } from '../support/services/start-services.ts'
import type { Behaviour } from '../support/upstream.ts'
import type { Answer, Body, ClientRequest, GoldenCase, Player } from './golden-case.ts'
import { startProxy } from './recording-proxy.ts'
import { answerOf } from './read-answer.ts'

/** One exchange, all texts as on the wire. */
export interface Exchange {
  /** For example, `POST /v1/responses`. */
  readonly asked: string
  readonly requestHeaders: Headers
  readonly request: string
  readonly sent: Sent[]
  readonly status: number
  readonly answerHeaders: Headers
  readonly answer: string
  readonly isBrokenOff: boolean
  /** Explanations by the request that returned them. */
  readonly explained: Readonly<Record<string, string>>
}

export interface Sent {
  readonly to: string
  readonly headers: Headers
  readonly body: string
}

export type Headers = Readonly<Record<string, string>>

const BEGIN_MS = Date.UTC(2026, 0, 5, 12)

export async function recordCase({ settings = {}, play }: GoldenCase): Promise<Exchange[]> {
  vi.useFakeTimers({ toFake: ['Date'], now: BEGIN_MS })
  const random = makeIdsRepeatable()
  const services = await startServices()
  const own = typeof settings === 'function' ? settings(services.url) : settings
  const gateway = await startGateway(
    { ...services.environment, ...own },
    { unexplained: 'Every answer is held to its recording.' },
  )
  const { player, exchanges, close } = playerFor(gateway, services)
  try {
    await play(player)
  } finally {
    await close()
    await gateway.close()
    await services.close()
    vi.useRealTimers()
    random.mockRestore()
  }
  return exchanges
}

/** Gives each case the same ids in every run: the token estimate of a text with an id depends on its characters. */
function makeIdsRepeatable() {
  let state = 1
  return vi.spyOn(crypto, 'getRandomValues').mockImplementation((array) => {
    const bytes = array as unknown as Uint8Array
    for (let index = 0; index < bytes.length; index += 1) {
      state = (state * 1_103_515_245 + 12_345) % 2 ** 31
      bytes[index] = state >>> 16
    }
    return array
  })
}

type Gateway = Awaited<ReturnType<typeof startGateway>>

function playerFor(gateway: Gateway, services: Services) {
  const exchanges: Exchange[] = []
  let socket: SocketClient | null = null
  const takeSent = sentSince(services)

  const record = (exchange: Omit<Exchange, 'sent'>): void => {
    exchanges.push({ ...exchange, sent: takeSent() })
    // Ids start with the time, so the clock moves on between two exchanges.
    vi.setSystemTime(Date.now() + 1000)
  }
  /** Upstream requests after an answer belong to its exchange. */
  const recordLate = (): void => void exchanges.at(-1)?.sent.push(...takeSent())

  const player: Player = {
    services,
    async send(request) {
      recordLate()
      const { method = 'POST', path, headers = {}, body } = request
      const dryRun = await explainFirst(gateway, request)
      const told = typeof body === 'object' ? JSON.stringify(body) : body
      const requestHeaders = {
        ...(told === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      }
      const response = await fetch(gateway.url + path, {
        method,
        headers: requestHeaders,
        ...(told === undefined ? {} : { body: told }),
      })
      const { text, isBrokenOff } = await readAll(response)
      const answer = answerOf(response.status, text)
      const after = await explainAfter(gateway, request, answer)
      record({
        asked: `${method} ${path}`,
        requestHeaders,
        request: told ?? '',
        status: response.status,
        answerHeaders: Object.fromEntries(response.headers),
        answer: text,
        isBrokenOff,
        explained: { ...dryRun, ...after },
      })
      return answer
    },
    async sendFrame(message) {
      recordLate()
      socket ??= await connect(gateway.url)
      const { frames } = await socket.ask(message as Parameters<SocketClient['ask']>[0])
      const text = frames.map((frame) => `data: ${JSON.stringify(frame)}\n\n`).join('')
      record({
        asked: 'WebSocket',
        requestHeaders: {},
        request: JSON.stringify(message),
        status: 101,
        answerHeaders: {},
        answer: text,
        isBrokenOff: false,
        explained: {},
      })
      return answerOf(101, text)
    },
    async watch(run) {
      recordLate()
      const proxy = await startProxy(gateway.url, async (passed) => {
        const answer = answerOf(passed.status, passed.answer)
        const explained = await explainMarked(gateway, passed.requestHeaders, answer)
        record({ ...passed, isBrokenOff: false, explained })
      })
      try {
        return await run(proxy.url)
      } finally {
        await proxy.close()
      }
    },
    upstreamDoes(...behaviors) {
      const model = services.behave
      const next = [...behaviors]
      const behave: Behaviour = (response, received) => {
        const behavior = next.shift()
        if (next.length === 0) services.behave = model
        return behavior?.(response, received)
      }
      services.behave = behave
    },
    async upstreamHasHad(count) {
      const lines = gateway.log.length
      await until(() => services.received.length >= count, `${count} requests`)
      // The gateway logs the result of after-answer work when it is stored.
      for (let waits = 0; gateway.log.length === lines && waits < 30; waits += 1) await pause(10)
      recordLate()
    },
  }
  return {
    player,
    exchanges,
    async close() {
      recordLate()
      socket?.socket.terminate()
      await socket?.closed
    },
  }
}

function sentSince(services: Services): () => Sent[] {
  let seen = 0
  return () => {
    const news = services.received.slice(seen)
    seen = services.received.length
    return news.map(({ method, path, headers, text }) => ({
      to: `${method} ${path}`,
      headers: headers as Headers,
      body: text,
    }))
  }
}

async function readAll(response: Response) {
  const utf8 = new TextDecoder()
  let text = ''
  try {
    for await (const chunk of response.body ?? []) text += utf8.decode(chunk, { stream: true })
  } catch {
    return { text, isBrokenOff: true }
  }
  return { text, isBrokenOff: false }
}

async function until(isSo: () => boolean, what: string): Promise<void> {
  for (let waits = 0; !isSo(); waits += 1) {
    if (waits > 300) throw new Error(`There were never ${what}.`)
    await pause(10)
  }
}

type Explained = Readonly<Record<string, string>>

async function explainFirst({ url }: Gateway, request: ClientRequest): Promise<Explained> {
  const { path, body, headers = {} } = request
  if (howExplained(request) !== 'dry run') return {}
  const response = await fetch(`${url}/v1/context/explain`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({
      ...(body as Body),
      api: path.includes('chat') ? 'chat' : 'responses',
    }),
  })
  return { 'POST /v1/context/explain': await response.text() }
}

async function explainAfter(
  gateway: Gateway,
  request: ClientRequest,
  { id, status }: Answer,
): Promise<Explained> {
  if (howExplained(request) !== 'stored' || status !== 200 || id === '') return {}
  return explainStored(gateway, id, request.headers ?? {})
}

function howExplained({ path, body, explained }: ClientRequest): ClientRequest['explained'] {
  if (explained !== undefined) return explained
  if (typeof body !== 'object' || !/\/v1\/(chat\/completions|responses)$/.test(path)) {
    return 'not at all'
  }
  const isKept = path.includes('chat') ? body['store'] === true : body['store'] !== false
  return isKept ? 'stored' : 'dry run'
}

/** Open WebUI's answers are stored if they have a marker or a reference beside their reasoning. */
async function explainMarked(
  gateway: Gateway,
  headers: Headers,
  { id, text }: Answer,
): Promise<Explained> {
  const { authorization = '', 'x-openwebui-user-jwt': jwt } = headers
  const own = Object.fromEntries(
    Object.entries({ ...headers, authorization, ...(jwt === undefined ? {} : { jwt }) }).filter(
      ([name]) => /^(authorization|x-)/.test(name),
    ),
  )
  const isMarked = /\[[0-9A-Z]{20}\]: #|backstory-v1/.test(text) || id.startsWith('resp_')
  return isMarked ? explainStored(gateway, id, own) : {}
}

async function explainStored({ url }: Gateway, id: string, headers: Headers): Promise<Explained> {
  const path = `/v1/context/explain/${id}`
  const first = await readWhenKept(url + path, headers)
  const { rounds = 1 } = JSON.parse(first) as { readonly rounds?: number }
  const explained = { [`GET ${path}`]: first }
  if (rounds === 1) return explained
  const last = `${path}?round=last`
  return { ...explained, [`GET ${last}`]: await readWhenKept(url + last, headers) }
}

/** The explanation is stored after the client has the end of the answer. */
async function readWhenKept(url: string, headers: Headers): Promise<string> {
  for (let tries = 0; ; tries += 1) {
    const response = await fetch(url, { headers })
    const text = await response.text()
    if (response.status === 200 || tries > 60) return text
    await pause(10)
  }
}
