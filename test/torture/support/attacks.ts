/** The attacks of the part `abuse`: everything that one key can do to a gateway without breaking a rule of HTTP. */
import { connect, type Socket } from 'node:net'
import { WebSocket } from 'ws'
import { chatStream } from '../../support/answer-formats.ts'
import { answerJson, answerSse, startUpstream, type Upstream } from '../../support/upstream.ts'
import { forEachParallel, pause } from './pause.ts'

export interface Attack {
  readonly name: string
  readonly run: (target: Target) => Promise<void>
}

interface Target {
  readonly url: string
  /** Counts an answer by its status, or by what happened instead. */
  readonly count: (answer: string) => void
  readonly signal: AbortSignal
}

/** The API keys of the client that attacks, and of those that do nothing wrong. */
export const KEYS = { abuser: 'sk-abuser', other: 'sk-other' }

/** A brief run tries small bodies only. */
export function listAttacks(isBrief: boolean): readonly Attack[] {
  const sizes = isBrief ? [0.3] : [0.1, 0.3, 1, 4, 16, 63]
  const count = (many: number, few: number): number => (isBrief ? few : many)
  return [
    ...sizes.flatMap((mb) =>
      Object.entries(BODIES).map(([name, { path, make }]): Attack => ({
        name: `${name}, ${mb} MB`,
        run: (target) => post(target, path, make(mb * 1_000_000)),
      })),
    ),
    ...(isBrief ? [] : ['input of small items', 'many keys', 'many content parts']).map(
      (name): Attack => ({
        name: `50 × ${name}, 0.3 MB, at once`,
        run: (target) => postAtOnce(target, name, 300_000, 50),
      }),
    ),
    {
      name: `${count(10, 3)} bodies of ${count(60, 1)} MB at once`,
      run: (target) =>
        postAtOnce(target, 'chat of small messages', count(60, 1) * 1_000_000, count(10, 3)),
    },
    {
      name: `${count(60, 5)} requests on a chain of ${count(60, 2)} MB at once`,
      run: (target) => askOnChain(target, count(15, 2), count(4, 1), count(60, 5)),
    },
    {
      name: `${count(20, 3)} uploads of ${count(60, 1)} MB that do not end`,
      run: (target) => uploadWithoutEnd(target, count(20, 3), count(60, 1), count(5000, 500)),
    },
    // The largest frames that are read, and the largest that are refused only when they are complete.
    ...(isBrief ? [1] : [60, 120]).map((mb): Attack => ({
      name: `3 frames of ${mb} MB at once`,
      run: (target) => sendFrames(target, 3, mb),
    })),
    {
      name: `${count(200, 10)} streams of 1 MB that hang up at once`,
      run: (target) => hangUp(target, count(200, 10)),
    },
    {
      name: `${count(3000, 100)} background runs`,
      run: (target) => startRuns(target, count(3000, 100)),
    },
    {
      name: `${count(2000, 50)} connections without requests`,
      run: (target) => openConnections(target, count(2000, 50)),
    },
  ]
}

const CHAT = '/v1/chat/completions'
const RESPONSES = '/v1/responses'

/** Bodies of a size in bytes, of small values, which cost the most for their size. */
const BODIES: Readonly<
  Record<string, { readonly path: string; readonly make: (bytes: number) => string }>
> = {
  'input of small items': {
    path: RESPONSES,
    make: fill('{"model":"fast","input":[', '{"role":"user","content":"a"}', ']}'),
  },
  'chat of small messages': {
    path: CHAT,
    make: fill('{"model":"fast","messages":[', '{"role":"user","content":"a"}', ']}'),
  },
  'one long text': { path: CHAT, make: fillText },
  'input of {}': { path: RESPONSES, make: fill('{"model":"fast","input":[', '{}', ']}') },
  'list of []': { path: RESPONSES, make: fill('[', '[]', ']') },
  'many keys': {
    path: RESPONSES,
    make: (bytes) => `{${Array.from({ length: bytes / 14 }, (_, at) => `"key${at}":1`).join()}}`,
  },
  'deep [[[[': { path: RESPONSES, make: (bytes) => '['.repeat(bytes) },
  'deep {"a":': { path: RESPONSES, make: (bytes) => '{"a":'.repeat(bytes / 5) },
  'many tools': {
    path: RESPONSES,
    make: fill(
      '{"model":"fast","input":"a","tools":[',
      '{"type":"function","name":"a","parameters":{}}',
      ']}',
    ),
  },
  'many content parts': {
    path: RESPONSES,
    make: fill(
      '{"model":"fast","input":[{"role":"user","content":[',
      '{"type":"input_text","text":"a"}',
      ']}]}',
    ),
  },
}

function fill(begin: string, value: string, end: string): (bytes: number) => string {
  return (bytes) => begin + `${value},`.repeat(bytes / (value.length + 1)) + value + end
}

function fillText(bytes: number): string {
  return `{"model":"fast","messages":[{"role":"user","content":"${'word '.repeat(bytes / 5)}\\n/say a"}]}`
}

function headers(): Record<string, string> {
  return { 'content-type': 'application/json', authorization: `Bearer ${KEYS.abuser}` }
}

async function postAtOnce(
  target: Target,
  name: string,
  bytes: number,
  copies: number,
): Promise<void> {
  const { path, make } = BODIES[name] as (typeof BODIES)[string]
  const body = make(bytes)
  await Promise.all(Array.from({ length: copies }, () => post(target, path, body)))
}

async function post({ url, count, signal }: Target, path: string, body: string): Promise<void> {
  try {
    const response = await fetch(url + path, { method: 'POST', headers: headers(), body, signal })
    await response.text()
    count(String(response.status))
  } catch {
    count('no answer')
  }
}

/** Stores answers that continue each other, each with a long question, and continues the last one many times. */
async function askOnChain(
  target: Target,
  links: number,
  linkMb: number,
  requests: number,
): Promise<void> {
  let previous: string | undefined
  const input = `${'word '.repeat((linkMb * 1_000_000) / 5)}\n/say a`
  for (let link = 0; link < links; link += 1) {
    const response = await fetch(target.url + RESPONSES, {
      method: 'POST',
      headers: headers(),
      signal: target.signal,
      body: JSON.stringify({ model: 'fast', input, previous_response_id: previous }),
    }).catch(() => null)
    const text = (await response?.text().catch(() => null)) ?? null
    if (response?.status !== 200 || text === null) {
      target.count(`${response?.status ?? 'no answer'} for link ${link + 1}`)
      break
    }
    previous = (JSON.parse(text) as { readonly id: string }).id
  }
  const body = JSON.stringify({ model: 'fast', input: '/say a', previous_response_id: previous })
  await Promise.all(Array.from({ length: requests }, () => post(target, RESPONSES, body)))
}

/** Sends all but the last byte, and waits. */
async function uploadWithoutEnd(
  target: Target,
  uploads: number,
  mb: number,
  waitMs: number,
): Promise<void> {
  const { hostname, port } = new URL(target.url)
  const bytes = mb * 1_000_000
  const body = Buffer.alloc(bytes - 1, 'a')
  const sockets = Array.from({ length: uploads }, (): Socket => {
    const socket = connect(Number(port), hostname)
    socket.on('error', () => undefined)
    socket.once('data', (data) => target.count(String(data).slice('HTTP/1.1 '.length, 12)))
    const lines = [`POST ${RESPONSES} HTTP/1.1`, 'Host: x', `Authorization: Bearer ${KEYS.abuser}`]
    socket.write(
      [...lines, 'Content-Type: application/json', `Content-Length: ${bytes}`, '\r\n'].join('\r\n'),
    )
    socket.write(body)
    return socket
  })
  await pause(waitMs)
  for (const socket of sockets) socket.destroy()
}

async function sendFrames(target: Target, frames: number, mb: number): Promise<void> {
  const body = BODIES['input of small items']
    ?.make(mb * 1_000_000)
    .replace('{', '{"type":"response.create",')
  const send = (): Promise<void> =>
    new Promise((resolve) => {
      const socket = new WebSocket(`${target.url.replace('http', 'ws')}${RESPONSES}`, {
        headers: headers(),
      })
      let isFinished = false
      const finish = (status: string): void => {
        if (isFinished) return
        isFinished = true
        target.count(status)
        socket.terminate()
        resolve()
      }
      target.signal.addEventListener('abort', () => finish('no answer'), { once: true })
      socket.once('open', () => socket.send(body ?? ''))
      socket.once('message', (data: Buffer) => {
        const { status } = JSON.parse(data.toString()) as { readonly status?: number }
        finish(String(status ?? 200))
      })
      socket.once('close', (code) => finish(`close ${code}`))
      socket.once('error', () => finish('no answer'))
    })
  await Promise.all(Array.from({ length: frames }, send))
}

const FLOOD_FRAME_CHARS = 50_000
const FLOOD_FRAMES = 20

/** An upstream that streams 1 MB, and then nothing more, but does not end. */
export function startFloodingUpstream(): Promise<Upstream> {
  const pieces = Array.from({ length: FLOOD_FRAMES }, () =>
    chatStream({ text: 'x'.repeat(FLOOD_FRAME_CHARS) })
      .slice(1, 3)
      .join(''),
  )
  return startUpstream(answerSse([...chatStream({}).slice(0, 1), ...pieces], 'hang'))
}

/** An upstream whose answers are short. Not the demo model, which would take time in the process that is measured. */
export function startBriefUpstream(): Promise<Upstream> {
  const message = { role: 'assistant', content: 'a' }
  return startUpstream(
    answerJson(200, {
      id: 'c',
      object: 'chat.completion',
      created: 1,
      model: 'fast',
      choices: [{ index: 0, finish_reason: 'stop', message }],
    }),
  )
}

/** Streams answers that are translated to another API, and leaves all of them at once. */
async function hangUp({ url, count, signal }: Target, streams: number): Promise<void> {
  const leave = new AbortController()
  const body = JSON.stringify({ model: 'flood', stream: true, input: 'a' })
  const all = AbortSignal.any([signal, leave.signal])
  let waiting = streams
  const read = async (): Promise<void> => {
    let chars = 0
    try {
      const response = await fetch(url + RESPONSES, {
        method: 'POST',
        headers: headers(),
        body,
        signal: all,
      })
      count(String(response.status))
      for await (const chunk of response.body ?? []) {
        const before = chars
        chars += chunk.length
        const isFull = chars >= FLOOD_FRAMES * FLOOD_FRAME_CHARS
        if (isFull && before < FLOOD_FRAMES * FLOOD_FRAME_CHARS && (waiting -= 1) === 0)
          leave.abort()
      }
    } catch {
      // The client has left.
    }
    if (!leave.signal.aborted && (waiting -= 1) <= 0) leave.abort()
  }
  await Promise.all(Array.from({ length: streams }, read))
}

async function startRuns(target: Target, runs: number): Promise<void> {
  const body = JSON.stringify({ model: 'demo', background: true, input: '/repeat 100 and so on' })
  const all = Array.from({ length: runs }, () => body)
  await forEachParallel(all, 50, (text) => post(target, RESPONSES, text))
}

async function openConnections(target: Target, connections: number): Promise<void> {
  const { hostname, port } = new URL(target.url)
  const sockets = Array.from({ length: connections }, () => {
    const socket = connect(Number(port), hostname)
    socket.on('error', () => undefined)
    socket.write('POST /v1/responses HTTP/1.1\r\nHost: x\r\n')
    return socket
  })
  await pause(1000)
  const open = sockets.filter(({ destroyed }) => !destroyed).length
  target.count(`${open} still open after a second`)
  for (const socket of sockets) socket.destroy()
}
