/** Clients that hang up or stop reading, and databases that fail: on Node, over real sockets. */
import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { startGateway } from '../support/gateway.ts'
import { answerSse, startUpstream, type Upstream } from '../support/upstream.ts'
import { chatStream } from '../support/answer-formats.ts'

let upstream: Upstream
let gateway: Awaited<ReturnType<typeof startGateway>>
beforeAll(async () => {
  upstream = await startUpstream()
  gateway = await startGateway({
    UPSTREAMS: JSON.stringify([{ name: 'c', wire: 'chat', baseUrl: upstream.url }]),
    HEARTBEAT_SECONDS: '1',
  })
})
afterAll(async () => {
  await gateway.close()
  await upstream.close()
})
beforeEach(() => void upstream.received.splice(0))

const chat = { model: 'm', stream: true, messages: [{ role: 'user', content: 'x' }] }
const response = { model: 'm', stream: true, input: 'x' }

/** A client over a bare socket, which can stop reading or hang up at any moment. */
async function ask(path: string, body: object): Promise<Socket> {
  const { hostname, port } = new URL(gateway.url)
  const socket = connect(Number(port), hostname)
  const text = JSON.stringify(body)
  socket.write(
    `POST ${path} HTTP/1.1\r\nhost: ${hostname}\r\ncontent-type: application/json\r\ncontent-length: ${text.length}\r\n\r\n${text}`,
  )
  await new Promise((resolve) => socket.once('connect', resolve))
  return socket
}

async function until<Value>(read: () => Value | undefined): Promise<Value> {
  for (let tries = 0; tries < 500; tries++) {
    const value = read()
    if (value !== undefined) return value
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  throw new Error('it did not happen')
}

describe.each([
  ['/v1/chat/completions', chat],
  ['/v1/responses', response],
] as const)('a client of %s that disconnects', (path, body) => {
  test('the upstream request is cancelled when the client disconnects in the middle of the stream', async () => {
    upstream.behave = answerSse(chatStream({ text: 'Hello' }).slice(0, 3), 'hang')
    const socket = await ask(path, body)
    await new Promise((resolve) => socket.once('data', resolve))
    socket.destroy()
    const received = await until(() => upstream.received[0])
    await received.aborted
  })

  test('the upstream request is cancelled when the client disconnects before the upstream has answered', async () => {
    upstream.behave = () => undefined
    const socket = await ask(path, body)
    const received = await until(() => upstream.received[0])
    socket.destroy()
    await received.aborted
  })
})

test('the partial answer is stored when the client disconnects', async () => {
  upstream.behave = answerSse(chatStream({ reasoning: 'Hm.', text: 'Half' }).slice(0, 4), 'hang')
  const socket = await ask('/v1/responses', response)
  let text = ''
  socket.on('data', (bytes) => (text += String(bytes)))
  await until(() => (text.includes('output_text.delta') ? true : undefined))
  socket.destroy()
  const id = /resp_([0-9A-Z]{20})/.exec(text)?.[1] ?? ''
  const turn = await untilAsync(async () => {
    const chain = await gateway.dependencies.store.loadChain({ tenant: 'local', user: null }, id)
    return chain?.[0]?.state === 'open' ? undefined : chain?.[0]
  })
  expect(turn.state).toBe('cancelled')
  expect(turn.output).toMatchObject([
    { type: 'reasoning' },
    { type: 'message', status: 'incomplete', content: [{ text: 'Ha' }] },
  ])
  const shown = await gateway.openai.responses.retrieve(`resp_${id}`)
  expect(shown).toMatchObject({ status: 'cancelled', output_text: 'Ha' })
})

async function untilAsync<Value>(read: () => Promise<Value | undefined>): Promise<Value> {
  for (let tries = 0; tries < 200; tries++) {
    const value = await read()
    if (value !== undefined) return value
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  throw new Error('it did not happen')
}

test('the gateway pauses the upstream of a client that does not read, instead of buffering the answer', async () => {
  const piece = `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: 'x'.repeat(16_000) } }] })}\n\n`
  let written = 0
  upstream.behave = async (answer) => {
    answer.writeHead(200, { 'content-type': 'text/event-stream' })
    const closed = new Promise((resolve) => answer.once('close', resolve))
    while (!answer.destroyed && written < 10_000) {
      written++
      if (!answer.write(piece)) {
        await Promise.race([new Promise((resolve) => answer.once('drain', resolve)), closed])
      }
    }
  }
  const socket = await ask('/v1/chat/completions', chat)
  socket.pause()
  let before = -1
  await untilAsync(async () => {
    await new Promise((resolve) => setTimeout(resolve, 200))
    const still = written === before
    before = written
    return still ? true : undefined
  })
  // The buffers of four sockets take less than 40 MB of the 160 MB.
  expect(written * piece.length).toBeLessThan(40 * 1024 * 1024)
  socket.destroy()
})

test('the gateway sends comments on a silent stream to keep the connection alive', async () => {
  upstream.behave = answerSse(chatStream({ text: 'Hello' }).slice(0, 3), 'hang')
  const socket = await ask('/v1/chat/completions', chat)
  let text = ''
  socket.on('data', (bytes) => (text += String(bytes)))
  await until(() => (text.includes(': ping\n\n') ? true : undefined))
  socket.destroy()
})

describe('requests while the database fails', () => {
  const withoutStore = async (
    work: () => Promise<void>,
    method: 'openTurn' | 'closeTurn' = 'openTurn',
  ) => {
    const { store } = gateway.dependencies as unknown as { store: Record<string, unknown> }
    const original = store[method]
    store[method] = () => Promise.reject(new Error('down'))
    await work().finally(() => (store[method] = original))
  }

  test('an ordinary request is answered while the database fails, without an id that could be used later', async () => {
    upstream.behave = answerSse(chatStream({ text: 'Hello' }))
    await withoutStore(async () => {
      const answer = await gateway.openai.responses
        .stream({ model: 'm', input: 'x' })
        .finalResponse()
      expect(answer).toMatchObject({ status: 'completed', output_text: 'Hello', store: false })
    })
    expect(gateway.log.map(({ event }) => event)).toContain('turn-not-opened')
  })

  test('a request with `store: true` is rejected while the database fails', async () => {
    await withoutStore(async () => {
      await expect(
        gateway.openai.responses.create({ model: 'm', input: 'x', store: true }),
      ).rejects.toMatchObject({ status: 503, code: 'store_unavailable' })
    })
  })

  test.each([
    ['a stream', true],
    ['one body', false],
  ] as const)(
    'an answer in %s that nobody asked to store is delivered if its turn could be opened, but not closed',
    async (_, stream) => {
      upstream.behave = answerSse(chatStream({ text: 'Hello' }))
      await withoutStore(async () => {
        const answer = stream
          ? await gateway.openai.responses.stream({ model: 'm', input: 'x' }).finalResponse()
          : await gateway.openai.responses.create({ model: 'm', input: 'x' })
        expect(answer).toMatchObject({ status: 'completed', output_text: 'Hello' })
        // The next renewal of the lease ends the stored turn.
        expect(gateway.dependencies.replica.takeUnclosedTurns()).toMatchObject([
          { turnId: answer.id.slice('resp_'.length) },
        ])
      }, 'closeTurn')
      expect(gateway.log.map(({ event }) => event)).toContain('turn-not-closed')
    },
  )

  test('an answer with `store: true`, or for a conversation, is an error if its turn could not be closed', async () => {
    upstream.behave = answerSse(chatStream({ text: 'Hello' }))
    const { id: conversation } = await gateway.openai.conversations.create()
    await withoutStore(async () => {
      for (const more of [{ store: true }, { conversation }]) {
        await expect(
          gateway.openai.responses.create({ model: 'm', input: 'x', ...more }),
        ).rejects.toMatchObject({ status: 503, code: 'store_unavailable' })
      }
    }, 'closeTurn')
  })
})
