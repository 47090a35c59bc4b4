/** Token budgets: a model that keeps calling tools gets a warning when its window is nearly full (C61). */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startGateway, upstreams } from '../support/gateway.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'
import { answerWith } from '../support/answer-formats.ts'

let upstream: Upstream
let gateway: Awaited<ReturnType<typeof startGateway>>
/** The upstream calls the tools in `next` one by one, and `tool` after that. */
let next: string[] = []
let tool = 'look'
beforeAll(async () => {
  let calls = 0
  upstream = await startUpstream((response, received) => {
    calls += 1
    const mayCall = received.json['tools'] !== undefined && received.json['tool_choice'] !== 'none'
    const call = { id: `c${calls}`, name: next.shift() ?? tool, arguments: '{}' }
    return answerWith(mayCall ? { calls: [call] } : { text: 'Done.' })(response, received)
  })
  const account = { baseUrl: upstream.url, apiKey: 'sk', models: ['m'] }
  gateway = await startGateway(upstreams({ name: 'c', wire: 'chat', ...account }))
})
afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

const tools = [{ type: 'function' as const, name: 'look', parameters: {}, strict: false }]
/** Each answer has 30 tokens by the upstream's count. */
const budget = { window: 40, overflow: 'send', wrap_up: 2 }

interface StepRecord {
  readonly budget: string | null
  readonly sent: string
  readonly choice: unknown
}

interface StepAnswer {
  readonly id: string
  readonly output: readonly { readonly type: string; readonly call_id?: string }[]
}

/** The fields that continue the latest conversation, e.g. `previous_response_id`. */
let continuation: object = {}

async function runSteps(count: number, more: object): Promise<readonly StepRecord[]> {
  const records: StepRecord[] = []
  continuation = { input: 'Go.' }
  for (let step = 0; step < count; step += 1) {
    const response = await gateway.post('/v1/responses', {
      model: 'm',
      tools,
      ...continuation,
      ...more,
    })
    const { id, output } = (await response.json()) as StepAnswer
    const callId = output.find(({ type }) => type === 'function_call')?.call_id
    const fog = { type: 'function_call_output', call_id: callId, output: 'fog' }
    continuation = { previous_response_id: id, input: [fog] }
    const received = upstream.received.at(-1)
    records.push({
      budget: response.headers.get('x-backstory-budget'),
      sent: received?.text ?? '',
      choice: received?.json['tool_choice'],
    })
  }
  return records
}

describe('the policy field `budget.warn_at`', () => {
  test('a model is warned once that its window is nearly full, and loses its tools some steps later', async () => {
    const records = await runSteps(5, { backstory: { budget: { ...budget, warn_at: 0.5 } } })
    expect(records.map(({ budget: said }) => said)).toEqual([
      null,
      'warned',
      'warned',
      'spent',
      'spent',
    ])
    expect(records.map(({ sent }) => sent.split('has filled 50 %').length - 1)).toEqual([
      0, 1, 1, 1, 1,
    ])
    expect(records.map(({ choice }) => choice)).toEqual([
      undefined,
      undefined,
      undefined,
      'none',
      'none',
    ])
  })

  test('the prompt prefix stays unchanged after the warning about a nearly full window', async () => {
    const records = await runSteps(4, {
      backstory: { budget: { ...budget, warn_at: 0.5, wrap_up: 1000 } },
    })
    const messages = records.map(
      ({ sent }) => (JSON.parse(sent) as { messages: unknown[] }).messages,
    )
    for (const [at, list] of messages.slice(1, -1).entries()) {
      expect(messages[at + 2]?.slice(0, list.length)).toEqual(list)
    }
  })

  test('gateway tools are also disabled after the warning if no other tools are offered', async () => {
    const policy = { policy: 'capped', budget: { ...budget, warn_at: 0.5 } }
    const records = await runSteps(3, { backstory: policy })
    expect(records.map(({ choice }) => choice)).toEqual([undefined, undefined, undefined])
    const [last] = await runSteps(1, { backstory: policy, tools: [], ...continuation })
    expect(last).toMatchObject({ budget: 'spent', choice: 'none' })
    expect(last?.sent).toContain('expand_output')
  })

  test('a request without tools has no tool_choice after the warning about a nearly full window', async () => {
    const policy = { policy: 'retain', budget: { ...budget, warn_at: 0.5 } }
    await runSteps(3, { backstory: policy })
    const [last] = await runSteps(1, { backstory: policy, tools: [], ...continuation })
    expect(last).toMatchObject({ budget: 'warned', choice: undefined })
  })

  test('within one answer, a model is warned between tool rounds that its window is nearly full, and loses its tools some rounds later', async () => {
    tool = 'expand_output'
    upstream.received.length = 0
    const overrides = { backstory: { policy: 'capped', budget: { ...budget, warn_at: 0.5 } } }
    const answer = await gateway.openai.responses.create({
      ...overrides,
      model: 'm',
      input: [
        { role: 'user', content: 'Go.' },
        { type: 'function_call', call_id: 'a', name: 'look', arguments: '{}' },
        { type: 'function_call_output', call_id: 'a', output: 'fog' },
      ],
    })
    tool = 'look'
    const sent = upstream.received.map(({ text }) => text)
    expect(sent.map((text) => text.split('has filled 50 %').length - 1)).toEqual([0, 1, 1, 1])
    const choices = upstream.received.map(({ json }) => json['tool_choice'])
    expect(choices).toEqual([undefined, undefined, undefined, 'none'])
    expect(answer.output_text).toBe('Done.')
    // Each request begins with the messages of the request before.
    const messages = upstream.received.map(({ json }) => json['messages'] as readonly unknown[])
    for (const [at, list] of messages.slice(1).entries()) {
      expect(list.slice(0, messages[at]?.length)).toEqual(messages[at])
    }
  })

  test('the warning about a nearly full window counts the size of the conversation, not the total tokens of all tool rounds', async () => {
    const overrides = { policy: 'capped', budget: { ...budget, window: 100, warn_at: 0.5 } }
    next = ['expand_output', 'expand_output', 'look']
    const records = await runSteps(2, { backstory: overrides })
    expect(upstream.received.length).toBeGreaterThanOrEqual(4)
    expect(records.map(({ budget: said }) => said)).toEqual([null, null])
  })

  test('a model is not warned about a nearly full window without `warn_at`', async () => {
    const records = await runSteps(3, { backstory: { budget } })
    expect(records.map(({ budget: said }) => said)).toEqual([null, null, null])
    expect(records.some(({ sent }) => sent.includes('has filled'))).toBe(false)
  })
})
