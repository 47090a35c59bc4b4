/**
 * Reasoning is sent only where it is valid, which the gateway checks in advance; if an upstream still rejects
 * it, the gateway sends the request once more without it. The services bind reasoning as real ones do.
 */
import type {
  FunctionTool,
  Response,
  ResponseCreateParamsNonStreaming,
  ResponseInput,
} from 'openai/resources/responses/responses'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { startGateway } from '../support/gateway.ts'
import { startServices, type Services } from '../support/services/start-services.ts'
import { answerJson } from '../support/upstream.ts'
import { runLookTool, LOOK_TOOL, runToolCalls } from '../support/wire-models.ts'

type Gateway = Awaited<ReturnType<typeof startGateway>>

let services: Services
let gateway: Gateway
beforeAll(async () => {
  services = await startServices()
  gateway = await startGateway(environment())
})
afterAll(async () => {
  await gateway.close()
  await services.close()
})
beforeEach(() => {
  services.behaveWell()
  for (const list of [services.received, services.refusals, services.dropped]) list.splice(0)
})

/** Two accounts of each wire, and one of each without the gateway's check. */
function environment(): { UPSTREAMS: string } {
  const account = (name: string, wire: string, models: string, more = {}) => ({
    name,
    wire,
    models: [models],
    baseUrl: `${services.url}/${name}`,
    apiKey: 'sk-upstream',
    ...more,
  })
  const another = { apiKey: 'sk-upstream-another' }
  const blind = { quirks: { prefixCheck: false } }
  return {
    UPSTREAMS: JSON.stringify([
      account('claude', 'anthropic', 'claude-*'),
      account('claude-2', 'anthropic', 'claude-*', another),
      account('claude-blind', 'anthropic', 'claude-*', blind),
      account('openai', 'responses', 'gpt-*'),
      account('openai-2', 'responses', 'gpt-*', another),
      account('openai-blind', 'responses', 'gpt-*', blind),
      account('azure', 'responses', 'gpt-*', { apiKey: 'sk-upstream-azure' }),
      account('gemini', 'gemini', 'gemini-*'),
      account('openrouter', 'chat', 'vendor/*', { quirks: { profile: 'openrouter' } }),
    ]),
  }
}

const look: FunctionTool = { type: 'function', strict: true, ...LOOK_TOOL }
const other: FunctionTool = { ...look, name: 'other' }
const reasoning = { effort: 'low' } as const
const LOOKED = 'The tools said: Rome: 4 degrees · Oslo: 4 degrees'

type Request = Omit<ResponseCreateParamsNonStreaming, 'input'>

/** A conversation of stored responses. */
function converse({ openai }: Gateway, told = runLookTool) {
  let previous_response_id: string | null = null
  const say = async (request: Request, input: string | ResponseInput): Promise<Response> => {
    const body = { tools: [look], reasoning, previous_response_id, ...request, input }
    const response = await openai.responses.create(body)
    previous_response_id = response.id
    return response
  }
  /** Runs a tool loop: two requests. */
  const ask = async (request: Request): Promise<Response> => {
    const called = await say(request, 'Look at Rome and Oslo.')
    return say(request, runToolCalls(called, told))
  }
  return { say, ask }
}

/** Returns the number of encrypted reasoning items in each request. Every answer has one. */
function countSealsSent(): readonly number[] {
  return services.received.map(({ text }) => text.match(/(?:Er|gAAAA)[\w-]{43}==/g)?.length ?? 0)
}

/** Changes to the request before the conversation items, turn by turn. */
const CHANGES: readonly Partial<Request>[] = [
  {},
  {},
  { instructions: 'Be brief.' },
  { instructions: 'Be brief.' },
  { instructions: 'Be brief.', tools: [look, other] },
  {},
  {},
]

describe.each(['claude-opus-5-5', 'claude-sonnet-5-5', 'claude-fable-5-1'])(
  'thinking of %s, which is valid only after its unchanged prefix',
  (model) => {
    test('Claude gets only the thinking that is valid after the current prefix, and rejects nothing', async () => {
      const { ask } = converse(gateway)
      for (const change of CHANGES) {
        expect((await ask({ model, ...change })).output_text).toContain(LOOKED)
      }
      expect([services.refusals, services.dropped]).toEqual([[], []])
      // After a return to the first prefix, the reasoning of the first turns is valid again.
      expect(countSealsSent()).toEqual([0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 4, 5, 6, 7])
    })

    test("without the gateway's check of prefixes, thinking that Claude rejects is left out of a second request and all later ones", async () => {
      const { ask } = converse(gateway)
      for (const change of CHANGES) {
        const answer = await ask({ model: `claude-blind/${model}`, ...change })
        expect(answer.output_text).toContain(LOOKED)
      }
      expect(services.refusals).toHaveLength(3)
      expect(countSealsSent()).toEqual([0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 0, 1, 2, 0, 1, 2, 3])
    })
  },
)

test.each([
  ['claude/claude-sonnet-5-5', 'claude-2/claude-sonnet-5-5'],
  ['openai/gpt-5', 'openai-2/gpt-5'],
])('%s and %s each get only their own reasoning', async (one, another) => {
  const { ask } = converse(gateway)
  for (const model of [one, another, one, another]) {
    expect((await ask({ model })).output_text).toContain(LOOKED)
  }
  expect(services.refusals).toEqual([])
  expect(countSealsSent()).toEqual([0, 1, 0, 1, 2, 3, 2, 3])
})

test('a try of another model costs a model none of its reasoning, even if the account binds reasoning to its model', async () => {
  const { ask } = converse(gateway)
  const models = ['azure/gpt-5', 'azure/gpt-5-mini', 'azure/gpt-5', 'azure/gpt-5-mini']
  for (const model of models) expect((await ask({ model })).output_text).toContain(LOOKED)
  // The second model rejects the reasoning of the first, once.
  expect(services.refusals).toHaveLength(1)
  expect(countSealsSent()).toEqual([0, 1, 2, 0, 1, 2, 3, 2, 3])
})

test("a model does not get another model's thinking that is valid only after an unchanged prefix", async () => {
  const { ask } = converse(gateway)
  const models = ['claude-opus-5-5', 'claude-fable-5-1', 'claude-opus-5-5']
  for (const model of models) await ask({ model })
  expect([services.refusals, services.dropped]).toEqual([[], []])
  expect(countSealsSent()).toEqual([0, 1, 0, 1, 2, 3])
})

test.each(['claude-opus-5-5', 'claude-sonnet-4-5', 'gpt-5.6'])(
  '%s continues its own answer, and its reasoning stays valid',
  async (model) => {
    const { ask, say } = converse(gateway)
    await ask({ model })
    await say({ model }, [])
    await say({ model }, [])
    await ask({ model })
    expect([services.refusals, services.dropped]).toEqual([[], []])
    expect(countSealsSent()).toEqual([0, 1, 2, 3, 4, 5])
  },
)

describe('reasoning after tool outputs that are shortened later', () => {
  const long = (): string => 'fog '.repeat(1000)
  let shortening: Gateway
  beforeAll(async () => {
    shortening = await startGateway({
      ...environment(),
      CONTEXT: '{"outputs":{"keep_turns":0,"step":1},"cuts":{"min_chars":0}}',
    })
  })
  afterAll(() => shortening.close())

  const talkTo = async (model: string): Promise<void> => {
    const { ask } = converse(shortening, long)
    for (let turn = 0; turn < 9; turn += 1) await ask({ model })
  }

  test('an OpenAI model is not sent reasoning after tool outputs that have been shortened since', async () => {
    await talkTo('gpt-5.6')
    expect([services.refusals, services.dropped]).toEqual([[], []])
    // The output of a turn is shortened with the next question, so the reasoning after that output is invalid from then
    // on. The reasoning before the call stays valid.
    const counts = countSealsSent()
    expect(counts).toEqual([0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9])
  })

  test("without the gateway's check of prefixes, an OpenAI model is sent invalid reasoning and skips it", async () => {
    await talkTo('openai-blind/gpt-5.6')
    expect(services.refusals).toEqual([])
    expect(services.dropped.length).toBeGreaterThan(0)
  })

  test('Claude rejects nothing after tool outputs were shortened', async () => {
    await talkTo('claude-opus-5-5')
    expect([services.refusals, services.dropped]).toEqual([[], []])
  })
})

describe('invalid reasoning that the client sent itself', () => {
  const question = { role: 'user', content: 'Look at Rome and Oslo.' } as const
  const call = { type: 'function_call', call_id: 'c1', name: 'look', arguments: '{"at":"Rome"}' }
  const output = { type: 'function_call_output', call_id: 'c1', output: 'Rome: 4 degrees' }

  test.each([
    ['gpt-5', 'gAAAAforeign'],
    ['claude-opus-5-5', 'anthropic:thinking:811c9dc5:foreign'],
    ['gemini-3.8-flash', 'gemini:1:gemini-3.8-flash:foreign'],
  ])(
    'reasoning of the client that %s rejects is dropped with its ids in a second request',
    async (model, sealed) => {
      const thought = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: sealed }
      const input = [question, thought, { ...call, id: 'fc_1' }, output]
      const body = { model, input, tools: [look], reasoning, store: false }
      const response = await gateway.post('/v1/responses', body)
      expect([response.status, services.refusals.length]).toEqual([200, 1])
      expect(services.received.map(({ text }) => text.includes('foreign'))).toEqual([true, false])
      expect(services.received[1]?.text).not.toContain('fc_1')
      expect(gateway.log).toContainEqual(
        expect.objectContaining({ event: 'reasoning-refused', level: 'warn' }),
      )
    },
  )

  test('reasoning of the client that a router rejects is dropped in a second request', async () => {
    const details = [{ type: 'reasoning.text', text: 'Hm.', signature: 'foreign' }]
    const reply = { role: 'assistant', content: 'So.', reasoning_details: details }
    const messages = [{ role: 'user', content: 'Hi.' }, reply, { role: 'user', content: 'And?' }]
    const response = await gateway.post('/v1/chat/completions', { model: 'vendor/m', messages })
    expect([response.status, services.refusals.length]).toEqual([200, 1])
    expect(services.received.map(({ text }) => text.includes('foreign'))).toEqual([true, false])
  })
})

describe('requests that an upstream rejects because of their reasoning', () => {
  const REFUSAL = 'messages.1.content.0: Invalid `signature` in `thinking` block'
  const refuse = (status: number) =>
    answerJson(status, {
      type: 'error',
      error: { type: 'invalid_request_error', message: REFUSAL },
    })
  const model = 'claude-sonnet-4-5'

  test('a request with rejected reasoning is sent once more, and a second rejection reaches the client', async () => {
    const { say } = converse(gateway)
    await say({ model }, 'Hi.')
    services.behave = refuse(400)
    const error = await say({ model }, 'And?').catch((error: unknown) => error)
    expect(error).toMatchObject({
      status: 400,
      message: expect.stringContaining(REFUSAL) as unknown,
    })
    expect(countSealsSent()).toEqual([0, 1, 0])
  })

  test('a rejected request without reasoning is not sent again', async () => {
    services.behave = refuse(400)
    await expect(converse(gateway).say({ model }, 'Hi.')).rejects.toThrow(REFUSAL)
    expect(services.received).toHaveLength(1)
  })

  test('a request is not sent again without reasoning if the upstream is only busy', async () => {
    const { say } = converse(gateway)
    await say({ model }, 'Hi.')
    services.behave = refuse(429)
    await expect(say({ model }, 'And?')).rejects.toThrow(REFUSAL)
    expect(services.received).toHaveLength(2)
  })
})

describe('reasoning with PERSIST_REASONING=next_reply', () => {
  let brief: Gateway
  beforeAll(async () => {
    brief = await startGateway({ ...environment(), PERSIST_REASONING: 'next_reply' })
  })
  afterAll(() => brief.close())

  test('PERSIST_REASONING=next_reply sends reasoning until the next answer, and no longer (C15)', async () => {
    const { ask } = converse(brief)
    for (let turn = 0; turn < 4; turn += 1) await ask({ model: 'claude-sonnet-4-5' })
    expect(countSealsSent()).toEqual([0, 1, 2, 3, 2, 3, 2, 3])
  })

  test('PERSIST_REASONING=next_reply sends reasoning only while its prefix is unchanged, and no upstream rejects it', async () => {
    const { ask } = converse(brief)
    for (let turn = 0; turn < 5; turn += 1) await ask({ model: 'claude-opus-5-5' })
    expect([services.refusals, services.dropped]).toEqual([[], []])
    expect(countSealsSent()).toEqual([0, 1, 2, 3, 0, 1, 2, 3, 0, 1])
  })
})
