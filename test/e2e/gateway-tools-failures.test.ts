/**
 * Gateway tools when something goes wrong, and what is stored of their calls: on Node and inside workerd,
 * with an upstream that gives prepared answers, request by request.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import OpenAI from 'openai'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { startChild } from '../support/child-gateway.ts'
import { openaiFor, upstreams } from '../support/gateway.ts'
import { decodeFrames } from '../support/logs.ts'
import { responsesFaults } from '../support/responses-checker.ts'
import { connect } from '../support/socket-client.ts'
import { askInText, addRound, type Message } from '../support/text-client.ts'
import {
  answerJson,
  answerSse,
  startUpstream,
  type Behaviour,
  type Upstream,
} from '../support/upstream.ts'
import {
  chatStream,
  responsesStream,
  answerWith,
  type AnswerContent,
} from '../support/answer-formats.ts'
import { HOSTS, type Host } from './hosts.ts'
import { sampleCases } from '../support/sample.ts'

const LONG = 'abcdefghij'.repeat(100)
const LOOK = { name: 'look', parameters: { type: 'object', properties: {} } }
const TOOLS = [{ type: 'function' as const, strict: false, ...LOOK }]
const CHAT_TOOLS = [{ type: 'function' as const, function: LOOK }]
const EXPAND = { name: 'expand_output', arguments: '{"call_id":"call_a","to":10}' }
const PIECE = `Characters 0 to 10 of ${LONG.length}:\nabcdefghij`

const LOOKED = [
  { type: 'function_call' as const, call_id: 'call_a', name: 'look', arguments: '{}' },
  { type: 'function_call_output' as const, call_id: 'call_a', output: LONG },
]
const LOOKED_IN_CHAT: OpenAI.ChatCompletionMessageParam[] = [
  {
    role: 'assistant',
    tool_calls: [{ id: 'call_a', type: 'function', function: { name: 'look', arguments: '{}' } }],
  },
  { role: 'tool', tool_call_id: 'call_a', content: LONG },
]

/** Some services number their calls from 0 in every answer. */
const EXPAND_CALL: AnswerContent = {
  reasoning: 'Hm.',
  text: 'I read on. ',
  calls: [{ id: 'call_0', ...EXPAND }],
}
const FINAL_ANSWER: AnswerContent = { text: 'I have read it.' }

describe.each(HOSTS)('failures with gateway tools on %s', (home, start) => {
  let upstream: Upstream
  let host: Host
  let openai: OpenAI
  beforeAll(async () => {
    upstream = await startUpstream()
    const account = { baseUrl: upstream.url, apiKey: 'sk' }
    host = await start({
      CONTEXT: JSON.stringify({ policy: 'capped', outputs: { cap: 300 } }),
      HEARTBEAT_SECONDS: '1',
      ...upstreams(
        { name: 'c', wire: 'chat', models: ['chat-model'], ...account },
        { name: 'r', wire: 'responses', models: ['responses-model'], ...account },
      ),
    })
    openai = openaiFor(host.url)
  })
  afterAll(async () => {
    await host.close()
    await upstream.close()
  })
  beforeEach(() => void (upstream.received.length = 0))

  /** Answers each request with the next entry, and all later ones with the last entry. */
  const behave = (...turns: readonly (AnswerContent | Behaviour)[]): void => {
    const from = upstream.received.length
    upstream.behave = (response, received) => {
      const turn = turns[Math.min(upstream.received.length - from, turns.length) - 1]
      return (typeof turn === 'function' ? turn : answerWith(turn ?? {}))(response, received)
    }
  }
  const post = (path: string, body: unknown, signal: AbortSignal | null = null) =>
    fetch(`${host.url}/v1${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal,
    })
  const respond = (model: string, more: object = {}) =>
    openai.responses.create({
      model,
      tools: TOOLS,
      input: [{ role: 'user', content: 'Go.' }, ...LOOKED],
      ...more,
    }) as Promise<OpenAI.Responses.Response>

  describe.each(sampleCases(['chat-model', 'responses-model'], 2))(
    'failures with gateway tools over %s',
    (model) => {
      test('the gateway stops a model that calls gateway tools without end', async () => {
        behave(EXPAND_CALL)
        const answer = await respond(model)
        expect(upstream.received).toHaveLength(9)
        expect(answer.status).toBe('completed')
        expect(answer.output_text).toBe('I read on. '.repeat(9))
        expect(JSON.stringify(answer.output)).not.toContain('expand_output')
        expect(answer.usage?.total_tokens).toBe(9 * 30)
      })

      test('a conversation can be continued after the gateway has stopped endless tool calls', async () => {
        behave(EXPAND_CALL)
        const { id } = await respond(model)
        behave(FINAL_ANSWER)
        await openai.responses.create({
          model,
          tools: TOOLS,
          previous_response_id: id,
          input: 'Now?',
        })
        const sent = upstream.received.at(-1)?.text ?? ''
        expect(sent.split('Characters 0 to 10')).toHaveLength(1 + 8)
        expect(sent.split('because the answer ended with this call')).toHaveLength(1 + 1)
        const ids = [...sent.matchAll(/"(?:tool_call_id|call_id)":"(call_0\w*)"/g)].map(
          ([, one]) => one,
        )
        expect(new Set(ids).size).toBe(9)
      })

      test('a gateway tool call with invalid arguments gets an error as its output', async () => {
        const spoilt = { id: 'call_b', name: 'expand_output', arguments: '{"call_id":' }
        behave(
          { calls: [spoilt] },
          { calls: [{ ...spoilt, arguments: '{"call_id":"no"}' }] },
          FINAL_ANSWER,
        )
        expect((await respond(model)).output_text).toBe('I have read it.')
        const sent = upstream.received.at(-1)?.text ?? ''
        expect(sent).toContain('The arguments are not a JSON object.')
        expect(sent).toContain('There is no output of a call \\"no\\".')
      })

      test('an answer that is cut off within a gateway tool call starts no tool round, unless the service reports it as finished', async () => {
        behave({ ...EXPAND_CALL, finish: 'length' }, FINAL_ANSWER)
        const answer = await respond(model)
        // Some services report such a call as finished.
        expect(upstream.received.length).toBe(answer.status === 'incomplete' ? 1 : 2)
        expect(JSON.stringify(answer.output)).not.toContain('expand_output')
      })

      test('a connection that breaks in the second tool round fails the answer after the text of the first', async () => {
        const broken =
          model === 'chat-model' ? chatStream(FINAL_ANSWER) : responsesStream(FINAL_ANSWER)
        behave(EXPAND_CALL, answerSse(broken.slice(0, 3), 'reset'))
        const response = await post('/responses', {
          model,
          stream: true,
          tools: TOOLS,
          input: [{ role: 'user', content: 'Go.' }, ...LOOKED],
        })
        const frames = decodeFrames(await response.text())
        expect(responsesFaults(frames)).toEqual([])
        expect(frames.map(({ event }) => event)).toContain('response.failed')
        expect(JSON.stringify(frames)).toContain('I read on. ')
        expect(JSON.stringify(frames)).not.toContain('expand_output')
      })

      test("an upstream's error in the second tool round keeps its status", async () => {
        const refusal = { error: { message: 'Too much.', type: 'x', code: null, param: null } }
        behave(EXPAND_CALL, answerJson(429, refusal))
        await expect(respond(model)).rejects.toMatchObject({ status: 429 })
      })

      test("an upstream's error in a later tool round keeps its retry-after header", async () => {
        const refusal = { error: { message: 'Too much.', type: 'x', code: null, param: null } }
        const requestFields = {
          model,
          tools: TOOLS,
          input: [{ role: 'user', content: 'Go.' }, ...LOOKED],
        }
        for (const before of [[], [EXPAND_CALL], [EXPAND_CALL, EXPAND_CALL]]) {
          behave(...before, answerJson(429, refusal, { 'retry-after': '7', 'x-other': 'no' }))
          const response = await post('/responses', requestFields)
          await response.text()
          expect(response.status).toBe(429)
          expect(response.headers.get('retry-after')).toBe('7')
          expect(response.headers.get('x-other')).toBeNull()
        }
      })

      test.each([1, 2])(
        'the upstream request is cancelled when the client disconnects in tool round %i',
        async (round) => {
          const reply =
            model === 'chat-model' ? chatStream(FINAL_ANSWER) : responsesStream(FINAL_ANSWER)
          const hangs = answerSse(reply.slice(0, 3), 'hang')
          behave(...(round === 1 ? [hangs] : [EXPAND_CALL, hangs]))
          const leaving = new AbortController()
          const body = { model, stream: true, tools: TOOLS, input: [...LOOKED] }
          const response = await post('/responses', body, leaving.signal)
          const reading = response.text().catch(() => '')
          while (upstream.received.length < round) await aMoment()
          await aMoment()
          leaving.abort()
          await reading
          // workerd notices later that the client has left.
          if (home === 'Node') await upstream.received.at(-1)?.aborted
          expect(upstream.received).toHaveLength(round)
        },
      )

      test('stored responses show no gateway tools to their readers (C126)', async () => {
        const conversation = await openai.conversations.create()
        behave(EXPAND_CALL, {
          ...FINAL_ANSWER,
          calls: [{ id: 'call_l', name: 'look', arguments: '{}' }],
        })
        const answer = await respond(model, { conversation: conversation.id })
        const read = await openai.responses.retrieve(answer.id)
        expect(read.output).toEqual(answer.output)
        const listed = await openai.conversations.items.list(conversation.id, { order: 'asc' })
        expect(JSON.stringify(listed.data)).not.toContain('expand_output')
        expect(listed.data.slice(3).map(({ id }) => id)).toEqual(answer.output.map(({ id }) => id))
        const last = answer.output.at(-1)?.id ?? ''
        const item = await openai.conversations.items.retrieve(last, {
          conversation_id: conversation.id,
        })
        expect(item).toMatchObject({ type: 'function_call', call_id: 'call_l' })
        behave(FINAL_ANSWER)
        const next = await openai.responses.create({
          model,
          tools: TOOLS,
          conversation: conversation.id,
          input: [{ type: 'function_call_output', call_id: 'call_l', output: 'seen' }],
        })
        const requestFields = await openai.responses.inputItems.list(next.id)
        expect(JSON.stringify(requestFields.data)).not.toContain('expand_output')
        expect(upstream.received.at(-1)?.text).toContain(JSON.stringify(PIECE).slice(1, -1))
      })

      test('stored chats show no gateway tools to their readers (C126)', async () => {
        behave(EXPAND_CALL, FINAL_ANSWER)
        const { id } = await openai.chat.completions.create({
          model,
          store: true,
          tools: CHAT_TOOLS,
          messages: [{ role: 'user', content: 'Go.' }, ...LOOKED_IN_CHAT],
        })
        const storedItem = await openai.chat.completions.retrieve(id)
        expect(storedItem.choices[0]).toMatchObject({ finish_reason: 'stop' })
        expect(storedItem.choices[0]?.message.content).toContain('I have read it.')
        expect(JSON.stringify(storedItem)).not.toContain('expand_output')
      })

      test('a background response has one event log for all tool rounds', async () => {
        behave(EXPAND_CALL, FINAL_ANSWER)
        const body = { model, background: true, stream: true, tools: TOOLS, input: [...LOOKED] }
        const frames = decodeFrames(await (await post('/responses', body)).text())
        expect(responsesFaults(frames)).toEqual([])
        expect(JSON.stringify(frames)).toContain('I have read it.')
        expect(JSON.stringify(frames)).not.toContain('expand_output')
      })

      test('the marker in a chat finds the gateway tool calls of its turn again', async () => {
        const chat: readonly Message[] = [{ role: 'user', content: `Look, ${model}.` }]
        const offered = { tools: CHAT_TOOLS }
        behave(EXPAND_CALL, FINAL_ANSWER)
        const asking = { url: host.url, model, isOpenWebUi: true, ...offered }
        const result = await askInText({ ...asking, chat })
        expect(result).toMatchObject({
          isComplete: true,
          readableText: expect.stringContaining('I have read it.') as string,
        })
        expect(result.turnIds).toHaveLength(1)
        behave({ text: 'Fine.' })
        await askInText({ ...asking, chat: addRound(chat, result, 'And now?') })
        const sent = upstream.received.at(-1)?.text ?? ''
        expect(sent).toContain('expand_output')
        expect(sent).toContain('There is no output of a call')
      })
    },
  )

  test('gateway tools work over a WebSocket, and the connection remembers their calls', async () => {
    behave(EXPAND_CALL, FINAL_ANSWER)
    const socket = await connect(host.url)
    const create = { type: 'response.create', model: 'chat-model', store: false, tools: TOOLS }
    const first = await socket.ask({ ...create, input: [...LOOKED] })
    expect(first.faults).toEqual([])
    expect(first.text).toContain('I have read it.')
    const second = await socket.ask({ ...create, previous_response_id: first.id, input: 'Now?' })
    expect(second.refusal).toBeNull()
    expect(upstream.received.at(-1)?.text).toContain('Characters 0 to 10')
    socket.socket.close()
    await socket.closed
  })

  test("a client's tool takes precedence over a gateway tool of the same name", async () => {
    behave(EXPAND_CALL)
    const own = { type: 'function' as const, strict: false, ...LOOK, name: 'expand_output' }
    const answer = await respond('chat-model', { tools: [own] })
    expect(upstream.received).toHaveLength(1)
    expect(answer.output.at(-1)).toMatchObject({ type: 'function_call', name: 'expand_output' })
    const explained = await post('/context/explain', {
      model: 'chat-model',
      tools: [own],
      input: [...LOOKED],
    })
    const { notes } = (await explained.json()) as { notes: readonly { why: string }[] }
    expect(notes.map(({ why }) => why)).toContain('house-tool-withheld')
    expect(upstream.received[0]?.text).not.toContain('To read on, call')
  })

  test('a request with n > 1 is offered no gateway tools, because the gateway can continue only one answer', async () => {
    behave(FINAL_ANSWER)
    await openai.chat.completions.create({
      model: 'chat-model',
      n: 2,
      tools: CHAT_TOOLS,
      messages: [{ role: 'user', content: 'Go.' }, ...LOOKED_IN_CHAT],
    })
    expect(upstream.received[0]?.text).not.toContain('expand_output')
  })
})

test('a conversation can be continued after a process is killed between two tool rounds', async () => {
  const upstream = await startUpstream()
  const folder = mkdtempSync(join(tmpdir(), 'backstory-house-'))
  const account = { name: 'c', wire: 'chat', models: ['*'], baseUrl: upstream.url, apiKey: 'sk' }
  const environment = {
    DATABASE_URL: `sqlite:${folder}/backstory.db`,
    CONTEXT: JSON.stringify({ policy: 'capped' }),
    MARKERS: 'always',
    ...upstreams(account),
  }
  const chat: readonly Message[] = [{ role: 'user', content: 'Go.' }]
  const tools = CHAT_TOOLS
  const first = await startChild(environment)
  upstream.behave = (response, received) =>
    upstream.received.length === 1
      ? answerSse(
          chatStream({ ...EXPAND_CALL, text: 'I read on.\n\nNow.' }),
          'end',
          // 250 ms between two chunks are enough for the gateway to write the journal, also on a busy machine.
          250,
        )(response, received)
      : answerSse(chatStream(FINAL_ANSWER).slice(0, 1), 'hang')(response, received)
  const named = Promise.withResolvers<void>()
  // The marker is in the text, so all items before it are stored.
  const onText = (text: string) => void (text.includes(']: #') && named.resolve())
  const killing = (async () => {
    await named.promise
    while (upstream.received.length < 2) await aMoment()
    await first.kill('SIGKILL')
  })()
  const asking = { model: 'm', tools, isOpenWebUi: true }
  const result = await askInText({ ...asking, url: first.url, chat, onText })
  await killing
  expect(result).toMatchObject({ isComplete: false, turnIds: [expect.any(String) as string] })
  const second = await startChild(environment)
  upstream.behave = answerWith({ text: 'Fine.' })
  const next = await askInText({
    ...asking,
    url: second.url,
    chat: addRound(chat, result, 'Well?'),
  })
  expect(next).toMatchObject({
    isComplete: true,
    readableText: expect.stringContaining('Fine.') as string,
  })
  const { messages } = (upstream.received.at(-1)?.json ?? {}) as { messages?: readonly Sent[] }
  const [calls, outputs] = endsIn(messages ?? [])
  expect(calls).toEqual(outputs)
  await second.kill('SIGKILL')
  await upstream.close()
  rmSync(folder, { recursive: true })
})

interface Sent {
  readonly role: string
  readonly tool_calls?: readonly { readonly id: string }[]
  readonly tool_call_id?: string
}

function endsIn(messages: readonly Sent[]) {
  return [
    messages.flatMap(({ tool_calls: calls = [] }) => calls.map(({ id }) => id)),
    messages.flatMap(({ tool_call_id: id }) => id ?? []),
  ] as const
}

function aMoment(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 20))
}
