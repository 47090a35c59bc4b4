/**
 * How long reasoning is given back, and whether tools are, as the settings say: for each setting the same
 * conversation, and of each request what the model was given of the answers before.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/core/json/json.ts'
import { startGateway, upstreams } from '../support/gateway.ts'
import { responsesEvents } from '../support/services/responses-events.ts'
import { askInText, goneOn, type Message } from '../support/text-client.ts'
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

/** Thinks and speaks; every answer has a thought of its own. */
const thinking: Behaviour = (response, { json }) => {
  answers += 1
  const isStream = json['stream'] === true
  const whole: JsonObject = {
    id: `resp_${answers}`,
    object: 'response',
    created_at: 1,
    status: 'completed',
    model: 'gpt-5',
    output: [thought(answers), said(`msg_${answers}`, `Answer ${answers}.`)],
    usage: null,
  }
  response.writeHead(200, { 'content-type': isStream ? 'text/event-stream' : 'application/json' })
  response.end(isStream ? responsesEvents(whole, 'plain').join('') : JSON.stringify(whole))
}

function thought(number: number): JsonObject {
  const encrypted_content = `sealed-${number}`
  return { type: 'reasoning', id: `rs_${number}`, summary: [], encrypted_content }
}

function said(id: string, text: string): JsonObject {
  const content = [{ type: 'output_text', text, annotations: [] }]
  return { type: 'message', id, role: 'assistant', status: 'completed', content }
}

const failing = answerJson(400, { error: { message: 'No.', type: 'invalid_request_error' } })

/** The numbers of the answers whose thoughts went to the upstream with the last request. */
function thoughtsSent(): readonly number[] {
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

interface Talk {
  /** Asks on, and is told what was heard. With `again`, the last question once more. */
  readonly ask: (again?: 'again') => Promise<readonly number[]>
}

/** An Open WebUI on a chat connection. What failed, or is asked again, leaves no answer behind. */
function inText({ url }: Gateway): Talk {
  let chat: readonly Message[] = []
  let answer: { readonly text: string } | null = null
  let questions = 0
  return {
    async ask(again) {
      if (again === undefined) {
        questions += 1
        const next = `Question ${questions}?`
        chat = answer === null ? [{ role: 'user', content: next }] : goneOn(chat, answer, next)
      }
      const told = await askInText({ url, chat, isOpenWebUi: true, model: 'gpt-5', stream: false })
      if (told.status === 200) answer = told
      return thoughtsSent()
    },
  }
}

/** The same on a Responses connection: everything each time, without ids and reasoning. */
function inResponses(gateway: Gateway): Talk {
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
      const told = await gateway.post('/v1/responses', { model: 'gpt-5', input }, headers)
      const { output = [] } = (await told.json()) as { readonly output?: readonly JsonObject[] }
      if (told.status === 200)
        answer = output
          .filter(({ type }) => type === 'message')
          .map(({ role, content }) => ({ type: 'message', role, content }))
      return thoughtsSent()
    },
  }
}

/** A client that names the response before. */
function byId(gateway: Gateway): Talk {
  let previous: string | null = null
  let latest: string | null = null
  let questions = 0
  return {
    async ask(again) {
      if (again === undefined) {
        questions += 1
        previous = latest
      }
      const asked = { model: 'gpt-5', input: `Question ${questions}?` }
      const body = { ...asked, previous_response_id: previous }
      const told = await gateway.post('/v1/responses', body)
      const { id } = (await told.json()) as { readonly id?: string }
      if (told.status === 200) latest = id ?? null
      return thoughtsSent()
    },
  }
}

const CLIENTS = { 'a chat connection': inText, 'a Responses connection': inResponses, ids: byId }

describe.each(Object.entries(CLIENTS))('PERSIST_REASONING over %s (C15)', (_, talk) => {
  test('conversation: all of it goes back', async () => {
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

  test('next_reply: until the following answer is complete, and a failed one keeps it', async () => {
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

  test('disabled: none goes back, and none is kept', async () => {
    await withGateway({ PERSIST_REASONING: 'disabled' }, async (gateway) => {
      const { ask } = talk(gateway)
      expect([await ask(), await ask(), await ask()]).toEqual([[], [], []])
    })
  })
})

test('next_reply: what is not given back any more is kept all the same (C17)', async () => {
  await withGateway({ PERSIST_REASONING: 'next_reply' }, async (gateway) => {
    const { responses } = gateway.openai
    const first = await responses.create({ model: 'gpt-5', input: 'One?' })
    const ask = (previous_response_id: string, input: string) =>
      responses.create({ model: 'gpt-5', previous_response_id, input })
    const second = await ask(first.id, 'Two?')
    await ask(second.id, 'Three?')
    expect(thoughtsSent()).toEqual([2])
    const read = await responses.retrieve(first.id, { include: ['reasoning.encrypted_content'] })
    expect(read.output).toMatchObject([{ encrypted_content: 'sealed-1' }, {}])
    // Another branch from there is given it.
    await ask(first.id, 'Two, once more?')
    expect(thoughtsSent()).toEqual([1])
  })
})

test('disabled: a response that is read again has all but its reasoning, by the names told (C15)', async () => {
  const demo = upstreams({ name: 'demo', wire: 'demo', models: ['demo'], quirks: { delayMs: 0 } })
  const asked = { model: 'demo', input: '/think Hm.\n/say Hello.\n/call look {}' }
  await withGateway({ ...demo, PERSIST_REASONING: 'disabled' }, async ({ openai }) => {
    const streamed = await openai.responses.stream(asked).finalResponse()
    for (const told of [await openai.responses.create(asked), streamed]) {
      expect(told.output.map(({ type }) => type)).toEqual(['reasoning', 'message', 'function_call'])
      const { output } = await openai.responses.retrieve(told.id)
      expect(output.map(({ id }) => id)).toEqual(told.output.slice(1).map(({ id }) => id))
    }
  })
})

describe('PERSIST_TOOL_RESULTS (C16)', () => {
  const look = { name: 'look', parameters: { type: 'object', properties: {} } }
  const tools = [{ type: 'function', function: look }]

  /** A client that runs its tools, and of the turn keeps nothing but the text. What its next turn carries. */
  async function carried(settings: Readonly<Record<string, string>>): Promise<readonly string[]> {
    let types: readonly string[] = []
    await withGateway({ MARKERS: 'always', ...settings }, async (gateway) => {
      const complete = async (messages: readonly object[]) => {
        const asked = { model: 'gpt-5', messages, tools }
        const told = await gateway.post('/v1/chat/completions', asked)
        const { choices } = (await told.json()) as {
          readonly choices: readonly { readonly message: { readonly content: string } }[]
        }
        return choices[0]?.message ?? { content: '' }
      }
      upstream.behave = calling
      const asked = [{ role: 'user', content: 'Question 1?' }]
      const called = await complete(asked)
      upstream.behave = thinking
      const output = { role: 'tool', tool_call_id: 'call_1', content: 'fog' }
      const answered = await complete([...asked, called, output])
      const content = `${called.content}\n\n${answered.content}`
      const answer = { role: 'assistant', content }
      await complete([...asked, answer, { role: 'user', content: 'Question 2?' }])
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
      thought(0),
      said('msg_0', 'I look.'),
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

  test('on: a later turn carries what its client has forgotten', async () => {
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

  test('off: a later turn carries only text, and the reasoning that led to it', async () => {
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
