/**
 * Answers of several tool rounds: the explanation of each round matches the request received, and no request
 * exceeds the model's window. The services reject invalid requests and prompts over their window.
 */
import type OpenAI from 'openai'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/core/json/json.ts'
import { estimateTokens } from '../../src/core/text/estimate-tokens.ts'
import { startGateway } from '../support/gateway.ts'
import { textViewOf, type Explanation } from '../support/compare-explanations.ts'
import { startServices, type Services } from '../support/services/start-services.ts'
import { answerJson } from '../support/upstream.ts'
import { LOOK_TOOL, WIRE_MODELS } from '../support/wire-models.ts'
import { sampleCases } from '../support/sample.ts'

const WINDOW = 16_000
const TOOLS = [{ type: 'function' as const, strict: false, ...LOOK_TOOL }]
const LONG = Array.from({ length: 6000 }, (_, at) => `line ${at}`).join('\n')

let services: Services
let gateway: Awaited<ReturnType<typeof startGateway>>
/** Sizes of the requests that exceeded the window. */
let oversizedRequests: number[]

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
  oversizedRequests = []
  const { behave } = services
  services.behave = (response, received) => {
    const tokens = estimateTokens(received.json)
    if (tokens <= WINDOW) return behave(response, received)
    oversizedRequests.push(tokens)
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

/** Asks the model to read the long output piece by piece. */
function readQuestion(count: number, chars = 3900): string {
  const calls = Array.from({ length: count }, (_, at) => {
    const original = { call_id: 'call_a', from: at * 4000, to: at * 4000 + chars }
    return `expand_output(${JSON.stringify(original)})`
  })
  return `Use ${calls.join(', then ')}.`
}

/** A few messages, a tool output that is too long, and a question. */
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

async function explainAnswer(id: string, query = ''): Promise<Explanation> {
  const response = await fetch(`${gateway.url}/v1/context/explain/${id}${query}`)
  expect(response.status).toBe(200)
  return (await response.json()) as Explanation
}

/** Counts the items that were not sent unchanged, by reason. */
async function countCuts(id: string, round: string): Promise<Readonly<Record<string, number>>> {
  const { items } = await explainAnswer(id, `?round=${round}`)
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

describe.each(sampleCases(WIRE_MODELS, 2))('several tool rounds over $model', ({ model }) => {
  test('explain shows each tool round byte for byte and in order', async () => {
    const { id } = await ask(model, readQuestion(3))
    const sent = services.received.map(({ text }) => text)
    expect(sent).toHaveLength(4)
    const result = await Promise.all(sent.map((_, round) => bodyOf(id, round)))
    expect(result).toEqual(sent)
    for (const [round, { json }] of services.received.entries()) {
      const one = await explainAnswer(id, `?round=${round}`)
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

  test('the next turn continues the prompt of the last tool round', async () => {
    const first = await ask(model, readQuestion(2))
    const next = await gateway.openai.responses.create({
      model,
      tools: TOOLS,
      previous_response_id: first.id,
      input: 'Thanks.',
    })
    const { cache } = await explainAnswer(next.id)
    expect(cache).toMatchObject({ previous_round: 2, cause: { who: 'nobody' } })
    expect(services.refusals).toEqual([])
  })

  // The output sizes need different cuts: shorten old outputs, drop them, or shorten new ones too.
  test.each([2600, 3000, 3900])(
    'eight tool rounds with outputs of %i characters stay within the window',
    async (chars) => {
      const question = `${readQuestion(8, chars)} And say what Rome is like.`
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
        expect(oversizedRequests).toEqual([])
        const sent = services.received.map(({ text: one }) => one)
        expect(sent.length).toBeGreaterThan(4)
        const requestFields = JSON.stringify(question).slice(1, -1)
        expect(sent.every((one) => one.includes(requestFields))).toBe(true)
        const [id = ''] = /resp_\w{20}/.exec(text) ?? []
        const result = await Promise.all(sent.map((_, round) => bodyOf(id, round)))
        expect(result.map((one, round) => one === sent[round])).toEqual(sent.map(() => true))
        expect(await countCuts(id, '0')).toEqual({ 'output-capped': 1 })
        const last = await countCuts(id, 'last')
        const cuts = ['output-too-old', 'over-window', 'output-capped'].map((why) => last[why] ?? 0)
        expect(cuts.reduce((sum, count) => sum + count)).toBeGreaterThan(1)
      }
    },
  )

  test('the conversation can be continued after eight tool rounds', async () => {
    const first = await ask(model, readQuestion(8), { truncation: 'auto' })
    const next = await gateway.openai.responses.create({
      model,
      tools: TOOLS,
      previous_response_id: first.id,
      truncation: 'auto',
      input: 'Thanks.',
    })
    expect(next.output_text).toContain('You said “Thanks.”')
    expect(services.refusals).toEqual([])
    expect(oversizedRequests).toEqual([])
  })

  test('tool rounds of a chat with `overflow: "cut"` stay within the window', async () => {
    const overrides = { backstory: { budget: { overflow: 'cut' } } }
    const answer = await gateway.openai.chat.completions.create({
      ...overrides,
      model,
      store: true,
      tools: [{ type: 'function', function: LOOK_TOOL }],
      messages: messages(readQuestion(8)),
    })
    expect(answer.choices[0]?.message.content).toContain('The tools said: ')
    expect(services.refusals).toEqual([])
    expect(oversizedRequests).toEqual([])
  })

  test('with `overflow: "refuse"`, a later tool round fails with the same error as a first request', async () => {
    const requestFields = { budget: { window: WINDOW - 5000, overflow: 'refuse' } }
    const failed = ask(model, readQuestion(8), { backstory: requestFields })
    await expect(failed).rejects.toMatchObject({
      status: 400,
      code: 'context_length_exceeded',
      param: 'input',
      message: expect.stringContaining('Your input exceeds the context window') as string,
    })
    expect(services.received.length).toBeGreaterThan(2)
    expect(oversizedRequests).toEqual([])
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

test('explain shows a tool round that the upstream rejected', async () => {
  const { behave } = services
  services.behave = (response, received) =>
    services.received.length === 3
      ? answerJson(429, {})(response, received)
      : behave(response, received)
  const requestFields = {
    model: 'gpt-5',
    stream: true,
    tools: TOOLS,
    input: conversation(readQuestion(3)),
  }
  const text = await (await gateway.post('/v1/responses', requestFields)).text()
  expect(text).toContain('response.failed')
  const [id = ''] = /resp_\w{20}/.exec(text) ?? []
  expect(await explainAnswer(id)).toMatchObject({ rounds: 3, answer: { state: 'failed' } })
  const sent = services.received.map(({ text: one }) => one)
  expect(await Promise.all(sent.map((_, round) => bodyOf(id, round)))).toEqual(sent)
})

test('explain shows a corrected tool round as it was finally sent', async () => {
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
  const { id } = await ask('gpt-5', readQuestion(2))
  const [first, refused, second, third, ...others] = services.received.map(({ text }) => text)
  expect(others).toEqual([])
  expect(await Promise.all([0, 1, 2].map((round) => bodyOf(id, round)))).toEqual([
    first,
    second,
    third,
  ])
  // Reasoning that was rejected once is not sent again; newer reasoning is.
  const reasoning = (text = '') => text.split('"encrypted_content"').length - 1
  expect([first, refused, second, third].map(reasoning)).toEqual([0, 1, 0, 1])
})

test('the check of stored requests reports a tool round that was not stored', async () => {
  const other = await startGateway({ ...services.environment, CONTEXT: '{"policy":"capped"}' })
  const { requests } = other.dependencies
  const { saveRequests } = requests
  const withoutOne =
    (left: number): typeof saveRequests =>
    (owner, turnId, tell) =>
      saveRequests(owner, turnId, async () => {
        const stored = await tell()
        return (
          stored && { ...stored, requests: stored.requests.filter((_, round) => round !== left) }
        )
      })
  const faults = []
  for (const keep of [saveRequests, withoutOne(0), withoutOne(1), withoutOne(2)]) {
    Object.assign(requests, { saveRequests: keep })
    await other.openai.responses.create({
      model: 'gpt-5',
      tools: TOOLS,
      input: conversation(readQuestion(2, 100)),
    })
    faults.push(await other.watch.findFaults())
  }
  const lacking = [expect.stringMatching(/lacks a round$/)]
  expect(faults).toEqual([[], lacking, lacking, lacking])
  await other.close()
})

describe('the query parameter `round` of explain', () => {
  test('without the parameter `round`, explain shows the first tool round, and the text view names it', async () => {
    const { id } = await ask('gpt-5', readQuestion(2))
    expect(await explainAnswer(id)).toMatchObject({ round: 0, rounds: 3 })
    expect(await explainAnswer(id, '?round=last')).toMatchObject({ round: 2, rounds: 3 })
    expect(await textViewOf(gateway, `${id}?round=1`)).toMatch(/^round +1 \(0 to 2\)$/m)
    const alone = await ask('gpt-5', 'Hello.')
    expect(await explainAnswer(alone.id)).toMatchObject({ round: 0, rounds: 1 })
    expect(await textViewOf(gateway, alone.id)).not.toMatch(/^round/m)
  })

  test('an invalid or unknown `round` is rejected with a message', async () => {
    const { id } = await ask('gpt-5', readQuestion(2))
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

  test('deleting a response deletes the upstream requests of all its tool rounds', async () => {
    const { id } = await ask('gpt-5', readQuestion(2))
    await gateway.openai.responses.delete(id)
    for (const round of [0, 1, 2]) {
      const url = `${gateway.url}/v1/context/explain/${id}?round=${round}`
      expect((await fetch(url)).status).toBe(404)
    }
  })
})
