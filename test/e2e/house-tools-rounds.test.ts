/**
 * Answers that are asked for in several rounds: what is told of each round is what arrived, and none is
 * longer than its model takes. The services behind refuse what they would refuse, and what is longer
 * than their window.
 */
import type OpenAI from 'openai'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/core/json/json.ts'
import { estimateTokens } from '../../src/core/text/estimate-tokens.ts'
import { startGateway } from '../support/gateway.ts'
import { pictureOf, type Explained } from '../support/explained.ts'
import { startServices, type Services } from '../support/services/start-services.ts'
import { answerJson } from '../support/upstream.ts'
import { LOOK, WIRE_MODELS } from '../support/wire-models.ts'

const WINDOW = 10_000
const TOOLS = [{ type: 'function' as const, strict: false, ...LOOK }]
const LONG = Array.from({ length: 6000 }, (_, at) => `line ${at}`).join('\n')

let services: Services
let gateway: Awaited<ReturnType<typeof startGateway>>
/** What was longer than the window. */
let tooLong: number[]

beforeAll(async () => {
  services = await startServices()
  gateway = await startGateway({
    ...services.environment,
    UPSTREAMS: withWindows(services.environment['UPSTREAMS'] ?? '[]'),
    CONTEXT: JSON.stringify({ policy: 'capped', outputs: { cap: 4000 } }),
  })
})
afterAll(async () => {
  await gateway.close()
  await services.close()
})
beforeEach(() => {
  services.behaveWell()
  services.refusals.length = 0
  services.received.length = 0
  tooLong = []
  const { behave } = services
  services.behave = (response, received) => {
    const tokens = estimateTokens(received.json)
    if (tokens <= WINDOW) return behave(response, received)
    tooLong.push(tokens)
    const error = { message: 'The prompt is too long.', type: 'x', code: null, param: null }
    return answerJson(400, { error })(response, received)
  }
})

function withWindows(upstreams: string): string {
  const accounts = JSON.parse(upstreams) as { quirks?: object }[]
  return JSON.stringify(
    accounts.map((one) => ({ ...one, quirks: { ...one.quirks, contextWindow: WINDOW } })),
  )
}

/** Reads on in the long output, piece after piece. */
function readings(count: number, chars = 3900): string {
  const calls = Array.from({ length: count }, (_, at) => {
    const given = { call_id: 'call_a', from: at * 4000, to: at * 4000 + chars }
    return `expand_output(${JSON.stringify(given)})`
  })
  return `Use ${calls.join(', then ')}.`
}

/** Some talk, an output that is too long, and a question. */
function conversation(question: string) {
  const call = { call_id: 'call_a', name: 'look', arguments: '{"at":"Rome"}' }
  return [
    { role: 'user' as const, content: 'Tell me of Oslo.' },
    { role: 'assistant' as const, content: `It lies there. ${'So much of it. '.repeat(250)}` },
    { role: 'user' as const, content: 'Look at Rome.' },
    { type: 'function_call' as const, ...call },
    { type: 'function_call_output' as const, call_id: 'call_a', output: LONG },
    { role: 'assistant' as const, content: 'That was long.' },
    { role: 'user' as const, content: question },
  ]
}

function ask(model: string, question: string, more: object = {}) {
  return gateway.openai.responses.create({
    model,
    tools: TOOLS,
    input: conversation(question),
    ...more,
  }) as Promise<OpenAI.Responses.Response>
}

async function explained(id: string, query = ''): Promise<Explained> {
  const response = await fetch(`${gateway.url}/v1/context/explain/${id}${query}`)
  expect(response.status).toBe(200)
  return (await response.json()) as Explained
}

/** How many items were not sent as they were said, by the reason. */
async function cutIn(id: string, round: string): Promise<Readonly<Record<string, number>>> {
  const { items } = await explained(id, `?round=${round}`)
  const cuts: Record<string, number> = {}
  for (const { fate, reasons } of items.list) {
    if (fate === 'sent' || fate === 'added') continue
    for (const { why } of reasons as readonly { why: string }[]) cuts[why] = (cuts[why] ?? 0) + 1
  }
  return cuts
}

async function bodyOf(id: string, round: number): Promise<string> {
  const url = `${gateway.url}/v1/context/explain/${id}?format=body&round=${round}`
  return (await fetch(url)).text()
}

describe.each(WIRE_MODELS)('$model', ({ model }) => {
  test('explain tells every round, byte for byte and in order', async () => {
    const { id } = await ask(model, readings(3))
    const sent = services.received.map(({ text }) => text)
    expect(sent).toHaveLength(4)
    const told = await Promise.all(sent.map((_, round) => bodyOf(id, round)))
    expect(told).toEqual(sent)
    for (const [round, { json }] of services.received.entries()) {
      const one = await explained(id, `?round=${round}`)
      expect(one).toMatchObject({ id, round, rounds: 4 })
      expect(one.upstream['body']).toEqual(json)
      const before = round === 0 ? { previous: null } : { previous_round: round - 1 }
      expect(one.cache).toMatchObject(before)
      if (round > 0) expect(one.cache['cause']).toMatchObject({ who: 'nobody' })
      const ofAnswer = one.items.list.filter(({ from }) => from === 'answer')
      expect(ofAnswer.length > 0).toBe(round > 0)
      expect(ofAnswer.map(({ fate }) => fate)).not.toContain('added')
    }
  })

  test('the next turn goes on from the last round', async () => {
    const first = await ask(model, readings(2))
    const next = await gateway.openai.responses.create({
      model,
      tools: TOOLS,
      previous_response_id: first.id,
      input: 'Thanks.',
    })
    const { cache } = await explained(next.id)
    expect(cache).toMatchObject({ previous_round: 2, cause: { who: 'nobody' } })
    expect(services.refusals).toEqual([])
  })

  // As much as is enough: what is old is shortened, then left out, then what is new is shortened, too.
  test.each([2600, 3000, 3900])(
    'eight rounds of %i that grow over the window end',
    async (chars) => {
      const question = `${readings(8, chars)} And say what Rome is like.`
      for (const stream of [false, true]) {
        services.received.length = 0
        const response = await gateway.post('/v1/responses', {
          model,
          stream,
          tools: TOOLS,
          input: conversation(question),
          truncation: 'auto',
        })
        const text = await response.text()
        expect(text.includes(stream ? 'response.completed' : '"status":"completed"')).toBe(true)
        expect(text.includes('The tools said: ')).toBe(true)
        expect(services.refusals).toEqual([])
        expect(tooLong).toEqual([])
        const sent = services.received.map(({ text: one }) => one)
        expect(sent.length).toBeGreaterThan(4)
        const asked = JSON.stringify(question).slice(1, -1)
        expect(sent.every((one) => one.includes(asked))).toBe(true)
        const [id = ''] = /resp_\w{20}/.exec(text) ?? []
        const told = await Promise.all(sent.map((_, round) => bodyOf(id, round)))
        expect(told.map((one, round) => one === sent[round])).toEqual(sent.map(() => true))
        expect(await cutIn(id, '0')).toEqual({ 'output-capped': 1 })
        const last = await cutIn(id, 'last')
        const cuts = ['output-too-old', 'over-window', 'output-capped'].map((why) => last[why] ?? 0)
        expect(cuts.reduce((sum, count) => sum + count)).toBeGreaterThan(1)
      }
    },
  )

  test('and the conversation goes on behind them', async () => {
    const first = await ask(model, readings(8), { truncation: 'auto' })
    const next = await gateway.openai.responses.create({
      model,
      tools: TOOLS,
      previous_response_id: first.id,
      truncation: 'auto',
      input: 'Thanks.',
    })
    expect(next.output_text).toContain('You said “Thanks.”')
    expect(services.refusals).toEqual([])
    expect(tooLong).toEqual([])
  })

  test('a chat whose policy lets it be cut ends as well', async () => {
    const wished = { backstory: { budget: { overflow: 'cut' } } }
    const answer = await gateway.openai.chat.completions.create({
      ...wished,
      model,
      store: true,
      tools: [{ type: 'function', function: LOOK }],
      messages: messages(readings(8)),
    })
    expect(answer.choices[0]?.message.content).toContain('The tools said: ')
    expect(services.refusals).toEqual([])
    expect(tooLong).toEqual([])
  })

  test('where nothing may be cut, it fails in the words of a first request', async () => {
    const asked = { budget: { window: WINDOW - 3000, overflow: 'refuse' } }
    const failed = ask(model, readings(8), { backstory: asked })
    await expect(failed).rejects.toMatchObject({
      status: 400,
      code: 'context_length_exceeded',
      param: 'input',
      message: expect.stringContaining('Your input exceeds the context window') as string,
    })
    expect(services.received.length).toBeGreaterThan(2)
    expect(tooLong).toEqual([])
  })
})

function messages(question: string): OpenAI.ChatCompletionMessageParam[] {
  const made = { name: 'look', arguments: '{"at":"Rome"}' }
  return [
    { role: 'user', content: 'Tell me of Oslo.' },
    { role: 'assistant', content: `It lies there. ${'So much of it. '.repeat(250)}` },
    { role: 'user', content: 'Look at Rome.' },
    { role: 'assistant', tool_calls: [{ id: 'call_a', type: 'function', function: made }] },
    { role: 'tool', tool_call_id: 'call_a', content: LONG },
    { role: 'assistant', content: 'That was long.' },
    { role: 'user', content: question },
  ]
}

test('a round that is refused is told as well', async () => {
  const { behave } = services
  services.behave = (response, received) =>
    services.received.length === 3
      ? answerJson(429, {})(response, received)
      : behave(response, received)
  const asked = { model: 'gpt-5', stream: true, tools: TOOLS, input: conversation(readings(3)) }
  const text = await (await gateway.post('/v1/responses', asked)).text()
  expect(text).toContain('response.failed')
  const [id = ''] = /resp_\w{20}/.exec(text) ?? []
  expect(await explained(id)).toMatchObject({ rounds: 3, answer: { state: 'failed' } })
  const sent = services.received.map(({ text: one }) => one)
  expect(await Promise.all(sent.map((_, round) => bodyOf(id, round)))).toEqual(sent)
})

test('a round that is mended is told as it was sent in the end', async () => {
  const { behave } = services
  services.behave = (response, received) => {
    const isRefused = services.received.length === 2
    const error = {
      message: 'The encrypted content could not be verified.',
      type: 'x',
      param: null,
    }
    const refusal = { error: { ...error, code: 'invalid_encrypted_content' } }
    return isRefused ? answerJson(400, refusal)(response, received) : behave(response, received)
  }
  const { id } = await ask('gpt-5', readings(2))
  const [first, refused, second, third, ...others] = services.received.map(({ text }) => text)
  expect(others).toEqual([])
  expect(await Promise.all([0, 1, 2].map((round) => bodyOf(id, round)))).toEqual([
    first,
    second,
    third,
  ])
  // What was refused once is not sent again, and what was said since then is.
  const reasoning = (text = '') => text.split('"encrypted_content"').length - 1
  expect([first, refused, second, third].map(reasoning)).toEqual([0, 1, 0, 1])
})

test('a round that is not kept is found by whoever watches', async () => {
  const other = await startGateway({ ...services.environment, CONTEXT: '{"policy":"capped"}' })
  const { requests } = other.dependencies
  const { keepRequest } = requests
  const withoutOne =
    (left: number): typeof keepRequest =>
    (owner, turnId, tell) =>
      keepRequest(owner, turnId, async () => {
        const kept = await tell()
        return kept && { ...kept, rounds: kept.rounds.filter((_, round) => round !== left) }
      })
  const faults = []
  for (const keep of [keepRequest, withoutOne(0), withoutOne(1), withoutOne(2)]) {
    Object.assign(requests, { keepRequest: keep })
    await other.openai.responses.create({
      model: 'gpt-5',
      tools: TOOLS,
      input: conversation(readings(2, 100)),
    })
    faults.push(await other.watch.look())
  }
  const lacking = [expect.stringMatching(/lacks a round$/)]
  expect(faults).toEqual([[], lacking, lacking, lacking])
  await other.close()
})

describe('which round is meant', () => {
  test('the first, unless another one is named; and the picture says which', async () => {
    const { id } = await ask('gpt-5', readings(2))
    expect(await explained(id)).toMatchObject({ round: 0, rounds: 3 })
    expect(await explained(id, '?round=last')).toMatchObject({ round: 2, rounds: 3 })
    expect(await pictureOf(gateway, `${id}?round=1`)).toMatch(/^round +1, of 0 to 2$/m)
    const alone = await ask('gpt-5', 'Hello.')
    expect(await explained(alone.id)).toMatchObject({ round: 0, rounds: 1 })
    expect(await pictureOf(gateway, alone.id)).not.toMatch(/^round/m)
  })

  test('what makes no sense, and what is not there, is refused in words', async () => {
    const { id } = await ask('gpt-5', readings(2))
    const refused = async (round: string, of = id) => {
      const response = await fetch(`${gateway.url}/v1/context/explain/${of}?round=${round}`)
      const { error } = (await response.json()) as { error: JsonObject }
      return { status: response.status, ...error }
    }
    for (const round of ['', '-1', '1.5', 'two', '9'.repeat(30), '%00']) {
      expect(await refused(round)).toMatchObject({
        status: 400,
        code: 'invalid_value',
        param: 'round',
      })
    }
    expect(await refused('3')).toMatchObject({
      status: 404,
      param: 'round',
      message: 'The answer was asked for in 3 rounds, 0 to 2.',
    })
    const alone = await ask('gpt-5', 'Hello.')
    expect(await refused('1', alone.id)).toMatchObject({
      status: 404,
      message: 'The answer was asked for in one round, 0.',
    })
    expect(await refused('0', 'resp_01KQZ3V8M6T2X9R4B7C9')).toMatchObject({ status: 404 })
  })

  test('what is deleted takes every round with it', async () => {
    const { id } = await ask('gpt-5', readings(2))
    await gateway.openai.responses.delete(id)
    for (const round of [0, 1, 2]) {
      const url = `${gateway.url}/v1/context/explain/${id}?round=${round}`
      expect((await fetch(url)).status).toBe(404)
    }
  })
})
