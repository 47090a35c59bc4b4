/** A model that works on and on with tools is told when its window is nearly full (C61). */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startGateway, upstreams } from '../support/gateway.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'
import { speak } from '../support/wires.ts'

let upstream: Upstream
let gateway: Awaited<ReturnType<typeof startGateway>>
/** Calls these tools for as long as it may, and then this one. */
let next: string[] = []
let tool = 'look'
beforeAll(async () => {
  let calls = 0
  upstream = await startUpstream((response, received) => {
    calls += 1
    const mayCall = received.json['tools'] !== undefined && received.json['tool_choice'] !== 'none'
    const call = { id: `c${calls}`, name: next.shift() ?? tool, arguments: '{}' }
    return speak(mayCall ? { calls: [call] } : { text: 'Done.' })(response, received)
  })
  const account = { baseUrl: upstream.url, apiKey: 'sk', models: ['m'] }
  gateway = await startGateway(upstreams({ name: 'c', wire: 'chat', ...account }))
})
afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

const tools = [{ type: 'function' as const, name: 'look', parameters: {}, strict: false }]
/** Each answer comes to thirty tokens, as the upstream counts. */
const budget = { window: 40, overflow: 'send', wrap_up: 2 }

interface Heard {
  readonly budget: string | null
  readonly sent: string
  readonly choice: unknown
}

interface Answered {
  readonly id: string
  readonly output: readonly { readonly type: string; readonly call_id?: string }[]
}

/** With what the newest conversation goes on. */
let goesOn: object = {}

async function steps(count: number, more: object): Promise<readonly Heard[]> {
  const heard: Heard[] = []
  goesOn = { input: 'Go.' }
  for (let step = 0; step < count; step += 1) {
    const response = await gateway.post('/v1/responses', { model: 'm', tools, ...goesOn, ...more })
    const { id, output } = (await response.json()) as Answered
    const callId = output.find(({ type }) => type === 'function_call')?.call_id
    const fog = { type: 'function_call_output', call_id: callId, output: 'fog' }
    goesOn = { previous_response_id: id, input: [fog] }
    const received = upstream.received.at(-1)
    heard.push({
      budget: response.headers.get('x-backstory-budget'),
      sent: received?.text ?? '',
      choice: received?.json['tool_choice'],
    })
  }
  return heard
}

describe('a model at work with tools', () => {
  test('is told once that its window is nearly full, and some steps later has no tools', async () => {
    const heard = await steps(5, { backstory: { budget: { ...budget, warn_at: 0.5 } } })
    expect(heard.map(({ budget: said }) => said)).toEqual([
      null,
      'warned',
      'warned',
      'spent',
      'spent',
    ])
    expect(heard.map(({ sent }) => sent.split('has filled 50 %').length - 1)).toEqual([
      0, 1, 1, 1, 1,
    ])
    expect(heard.map(({ choice }) => choice)).toEqual([
      undefined,
      undefined,
      undefined,
      'none',
      'none',
    ])
  })

  test('what was sent stays as it was sent', async () => {
    const heard = await steps(4, {
      backstory: { budget: { ...budget, warn_at: 0.5, wrap_up: 1000 } },
    })
    const messages = heard.map(({ sent }) => (JSON.parse(sent) as { messages: unknown[] }).messages)
    for (const [at, list] of messages.slice(1, -1).entries()) {
      expect(messages[at + 2]?.slice(0, list.length)).toEqual(list)
    }
  })

  test('has no tools either where there are only those of the house', async () => {
    const policy = { policy: 'capped', budget: { ...budget, warn_at: 0.5 } }
    const heard = await steps(3, { backstory: policy })
    expect(heard.map(({ choice }) => choice)).toEqual([undefined, undefined, undefined])
    const [last] = await steps(1, { backstory: policy, tools: [], ...goesOn })
    expect(last).toMatchObject({ budget: 'spent', choice: 'none' })
    expect(last?.sent).toContain('expand_output')
  })

  test('has none where there are none, and nobody says what to do with them', async () => {
    const policy = { policy: 'retain', budget: { ...budget, warn_at: 0.5 } }
    await steps(3, { backstory: policy })
    const [last] = await steps(1, { backstory: policy, tools: [], ...goesOn })
    expect(last).toMatchObject({ budget: 'warned', choice: undefined })
  })

  test('is told in the middle of an answer, too, and has no tools some rounds later', async () => {
    tool = 'expand_output'
    upstream.received.length = 0
    const wished = { backstory: { policy: 'capped', budget: { ...budget, warn_at: 0.5 } } }
    const answer = await gateway.openai.responses.create({
      ...wished,
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
    // What was sent stays as it was sent.
    const messages = upstream.received.map(({ json }) => json['messages'] as readonly unknown[])
    for (const [at, list] of messages.slice(1).entries()) {
      expect(list.slice(0, messages[at]?.length)).toEqual(messages[at])
    }
  })

  test('is not told what its answer has cost in all, but what the conversation has come to', async () => {
    const wished = { policy: 'capped', budget: { ...budget, window: 100, warn_at: 0.5 } }
    next = ['expand_output', 'expand_output', 'look']
    const heard = await steps(2, { backstory: wished })
    expect(upstream.received.length).toBeGreaterThanOrEqual(4)
    expect(heard.map(({ budget: said }) => said)).toEqual([null, null])
  })

  test('is told nothing unless that is wished', async () => {
    const heard = await steps(3, { backstory: { budget } })
    expect(heard.map(({ budget: said }) => said)).toEqual([null, null, null])
    expect(heard.some(({ sent }) => sent.includes('has filled'))).toBe(false)
  })
})
