/**
 * The settings for recalled reasoning and tool calls: plays the same conversation under each setting, and
 * checks which earlier items each request contains.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/core/json/json.ts'
import { startGateway, upstreams } from '../support/gateway.ts'
import { responsesEvents } from '../support/services/responses-events.ts'
import { askInText, addRound, type Message } from '../support/text-client.ts'
import { answerJson, startUpstream, type Behaviour, type Upstream } from '../support/upstream.ts'

type Gateway = Awaited<ReturnType<typeof startGateway>>

let upstream: Upstream
beforeAll(async () => {
  upstream = await startUpstream()
})
afterAll(() => upstream.close())
beforeEach(() => {
  upstream.behave = thinking
  upstream.received.length = 0
  answers = 0
})

let answers = 0

/** Answers with reasoning and text; the reasoning of each answer is numbered. */
const thinking: Behaviour = (response, { json }) => {
  answers += 1
  const isStream = json['stream'] === true
  const whole: JsonObject = {
    id: `resp_${answers}`,
    object: 'response',
    created_at: 1,
    status: 'completed',
    model: 'gpt-5',
    output: [reasoningItem(answers), messageItem(`msg_${answers}`, `Answer ${answers}.`)],
    usage: null,
  }
  response.writeHead(200, { 'content-type': isStream ? 'text/event-stream' : 'application/json' })
  response.end(isStream ? responsesEvents(whole, 'plain').join('') : JSON.stringify(whole))
}

function reasoningItem(number: number): JsonObject {
  const encrypted_content = `sealed-${number}`
  return { type: 'reasoning', id: `rs_${number}`, summary: [], encrypted_content }
}

function messageItem(id: string, text: string): JsonObject {
  const content = [{ type: 'output_text', text, annotations: [] }]
  return { type: 'message', id, role: 'assistant', status: 'completed', content }
}

const failing = answerJson(400, { error: { message: 'No.', type: 'invalid_request_error' } })

/** Returns the numbers of the answers whose reasoning was in the last upstream request. */
function reasoningSent(): readonly number[] {
  const { text = '' } = upstream.received.at(-1) ?? {}
  return [...text.matchAll(/sealed-(\d+)/g)].map(([, number]) => Number(number))
}

async function withGateway(
  settings: Readonly<Record<string, string>>,
  run: (gateway: Gateway) => Promise<void>,
): Promise<void> {
  const account = { name: 'r', wire: 'responses', models: ['*'], apiKey: 'k' }
  const gateway = await startGateway({
    ...upstreams({ ...account, baseUrl: upstream.url }),
    ...settings,
  })
  try {
    await run(gateway)
  } finally {
    await gateway.close()
  }
}

interface TestChat {
  /** Asks the next question, or with `again` the last one once more. Resolves to the reasoning that was sent. */
  readonly ask: (again?: 'again') => Promise<readonly number[]>
}

/** Open WebUI on a chat connection. A failed or regenerated answer is not in the next request. */
function asOpenWebUi({ url }: Gateway): TestChat {
  let chat: readonly Message[] = []
  let answer: { readonly text: string } | null = null
  let questions = 0
  return {
    async ask(again) {
      if (again === undefined) {
        questions += 1
        const next = `Question ${questions}?`
        chat = answer === null ? [{ role: 'user', content: next }] : addRound(chat, answer, next)
      }
      const result = await askInText({
        url,
        chat,
        isOpenWebUi: true,
        model: 'gpt-5',
        stream: false,
      })
      if (result.status === 200) answer = result
      return reasoningSent()
    },
  }
}

/** Open WebUI on a Responses connection: sends the complete chat without ids and reasoning. */
function asResponsesConnection(gateway: Gateway): TestChat {
  let input: readonly object[] = []
  let answer: readonly object[] = []
  let questions = 0
  return {
    async ask(again) {
      if (again === undefined) {
        questions += 1
        input = [...input, ...answer, { role: 'user', content: `Question ${questions}?` }]
      }
      const headers = { 'x-openwebui-chat-id': 'c1' }
      const result = await gateway.post('/v1/responses', { model: 'gpt-5', input }, headers)
      const { output = [] } = (await result.json()) as { readonly output?: readonly JsonObject[] }
      if (result.status === 200)
        answer = output
          .filter(({ type }) => type === 'message')
          .map(({ role, content }) => ({ type: 'message', role, content }))
      return reasoningSent()
    },
  }
}

/** A client that continues by `previous_response_id`. */
function asIdClient(gateway: Gateway): TestChat {
  let previous: string | null = null
  let latest: string | null = null
  let questions = 0
  return {
    async ask(again) {
      if (again === undefined) {
        questions += 1
        previous = latest
      }
      const requestFields = { model: 'gpt-5', input: `Question ${questions}?` }
      const body = { ...requestFields, previous_response_id: previous }
      const result = await gateway.post('/v1/responses', body)
      const { id } = (await result.json()) as { readonly id?: string }
      if (result.status === 200) latest = id ?? null
      return reasoningSent()
    },
  }
}

const CLIENTS = {
  'a chat connection': asOpenWebUi,
  'a Responses connection': asResponsesConnection,
  ids: asIdClient,
}

describe.each(Object.entries(CLIENTS))('PERSIST_REASONING for %s (C15)', (_, talk) => {
  test('PERSIST_REASONING=conversation sends the reasoning of all earlier answers', async () => {
    await withGateway({}, async (gateway) => {
      const { ask } = talk(gateway)
      expect([await ask(), await ask(), await ask(), await ask()]).toEqual([
        [],
        [1],
        [1, 2],
        [1, 2, 3],
      ])
    })
  })

  test('PERSIST_REASONING=next_reply sends reasoning until the next answer is complete, and a failed answer does not count', async () => {
    await withGateway({ PERSIST_REASONING: 'next_reply' }, async (gateway) => {
      const { ask } = talk(gateway)
      expect([await ask(), await ask()]).toEqual([[], [1]])
      upstream.behave = failing
      expect(await ask()).toEqual([2])
      upstream.behave = thinking
      expect(await ask('again')).toEqual([2])
      expect(await ask('again')).toEqual([2])
      expect(await ask()).toEqual([4])
    })
  })

  test('PERSIST_REASONING=disabled sends and stores no reasoning', async () => {
    await withGateway({ PERSIST_REASONING: 'disabled' }, async (gateway) => {
      const { ask } = talk(gateway)
      expect([await ask(), await ask(), await ask()]).toEqual([[], [], []])
    })
  })
})

test('PERSIST_REASONING=next_reply still stores reasoning that is not sent any more (C17)', async () => {
  await withGateway({ PERSIST_REASONING: 'next_reply' }, async (gateway) => {
    const { responses } = gateway.openai
    const first = await responses.create({ model: 'gpt-5', input: 'One?' })
    const ask = (previous_response_id: string, input: string) =>
      responses.create({ model: 'gpt-5', previous_response_id, input })
    const second = await ask(first.id, 'Two?')
    await ask(second.id, 'Three?')
    expect(reasoningSent()).toEqual([2])
    const read = await responses.retrieve(first.id, { include: ['reasoning.encrypted_content'] })
    expect(read.output).toMatchObject([{ encrypted_content: 'sealed-1' }, {}])
    // A fork from that response gets it.
    await ask(first.id, 'Two, once more?')
    expect(reasoningSent()).toEqual([1])
  })
})

test('with PERSIST_REASONING=disabled, a stored response has the same items and ids as its answer, without reasoning (C15)', async () => {
  const demo = upstreams({ name: 'demo', wire: 'demo', models: ['demo'], quirks: { delayMs: 0 } })
  const requestFields = { model: 'demo', input: '/think Hm.\n/say Hello.\n/call look {}' }
  await withGateway({ ...demo, PERSIST_REASONING: 'disabled' }, async ({ openai }) => {
    const streamed = await openai.responses.stream(requestFields).finalResponse()
    for (const told of [await openai.responses.create(requestFields), streamed]) {
      expect(told.output.map(({ type }) => type)).toEqual(['reasoning', 'message', 'function_call'])
      const { output } = await openai.responses.retrieve(told.id)
      expect(output.map(({ id }) => id)).toEqual(told.output.slice(1).map(({ id }) => id))
    }
  })
})

describe('PERSIST_TOOL_RESULTS for a client that drops tool calls (C16)', () => {
  const look = { name: 'look', parameters: { type: 'object', properties: {} } }
  const tools = [{ type: 'function', function: look }]

  /**
   * Plays a client that runs its tools but sends only text in the next turn. Returns the item types of its
   * next request.
   */
  async function carried(settings: Readonly<Record<string, string>>): Promise<readonly string[]> {
    let types: readonly string[] = []
    await withGateway({ MARKERS: 'always', ...settings }, async (gateway) => {
      const complete = async (messages: readonly object[]) => {
        const requestFields = { model: 'gpt-5', messages, tools }
        const result = await gateway.post('/v1/chat/completions', requestFields)
        const { choices } = (await result.json()) as {
          readonly choices: readonly { readonly message: { readonly content: string } }[]
        }
        return choices[0]?.message ?? { content: '' }
      }
      upstream.behave = calling
      const requestFields = [{ role: 'user', content: 'Question 1?' }]
      const called = await complete(requestFields)
      upstream.behave = thinking
      const output = { role: 'tool', tool_call_id: 'call_1', content: 'fog' }
      const answered = await complete([...requestFields, called, output])
      const content = `${called.content}\n\n${answered.content}`
      const answer = { role: 'assistant', content }
      await complete([...requestFields, answer, { role: 'user', content: 'Question 2?' }])
      const { input } = upstream.received.at(-1)?.json ?? {}
      types = (input as readonly JsonObject[]).map(({ type }) => String(type))
    })
    return types
  }
  const calling = answerJson(200, {
    id: 'resp_0',
    object: 'response',
    created_at: 1,
    status: 'completed',
    model: 'gpt-5',
    output: [
      reasoningItem(0),
      messageItem('msg_0', 'I look.'),
      {
        type: 'function_call',
        id: 'fc_0',
        call_id: 'call_1',
        name: 'look',
        arguments: '{}',
        status: 'completed',
      },
    ],
    usage: null,
  })

  test('PERSIST_TOOL_RESULTS=on sends the tool calls that the client dropped in later turns', async () => {
    expect(await carried({})).toEqual([
      'message',
      'reasoning',
      'message',
      'function_call',
      'function_call_output',
      'reasoning',
      'message',
      'message',
    ])
  })

  test('PERSIST_TOOL_RESULTS=off sends only the text and its reasoning in later turns', async () => {
    expect(await carried({ PERSIST_TOOL_RESULTS: 'off' })).toEqual([
      'message',
      'reasoning',
      'message',
      'reasoning',
      'message',
      'message',
    ])
    const off = { PERSIST_TOOL_RESULTS: 'off', PERSIST_REASONING: 'disabled' }
    expect(await carried(off)).toEqual(['message', 'message', 'message'])
  })
})
