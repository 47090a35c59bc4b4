/**
 * An upstream that gives its calls no ids or duplicate ids: the client gets the ids that are stored, in both
 * dialects, streamed or not, and can continue with them.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Item } from '../../src/core/item.ts'
import { startGateway, upstreams } from '../support/gateway.ts'
import {
  answerJson,
  answerSse,
  startUpstream,
  type Behaviour,
  type Upstream,
} from '../support/upstream.ts'
import { answerWith } from '../support/answer-formats.ts'

let upstream: Upstream
let gateway: Awaited<ReturnType<typeof startGateway>>
beforeAll(async () => {
  upstream = await startUpstream()
  const account = { wire: 'chat', baseUrl: upstream.url, apiKey: 'sk' }
  gateway = await startGateway(
    upstreams(
      { name: 'plain', models: ['plain'], ...account },
      { name: 'retold', models: ['retold'], quirks: { retell: true }, ...account },
      { name: 'responses', models: ['responses'], ...account, wire: 'responses' },
    ),
  )
})
afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

const LOOK = { name: 'look', arguments: '{"at":"it"}' }
const tool = { name: 'look', parameters: { type: 'object', properties: {} } } as const

async function recordedIds(id: string): Promise<readonly string[]> {
  const chain = await gateway.dependencies.store.loadChain(
    { tenant: 'local', user: null },
    id.slice(id.indexOf('-') + 1),
  )
  return (chain?.at(-1)?.output ?? []).flatMap((item: Item) =>
    item.type === 'function_call' ? [item.call_id] : [],
  )
}

describe.each([
  ['no ids', ['', '']],
  ['the same id twice', ['call_0', 'call_0']],
])('tool calls for which the upstream sends %s', (_, ids) => {
  const behave = () => {
    upstream.behave = answerWith({ calls: ids.map((id) => ({ id, ...LOOK })) })
  }

  test.each(['plain', 'retold'])(
    'a chat client gets the unique call ids under which the gateway stores calls without unique ids (model %s)',
    async (model) => {
      behave()
      const { completions } = gateway.openai.chat
      const request = {
        model,
        messages: [{ role: 'user' as const, content: 'Look.' }],
        tools: [{ type: 'function' as const, function: tool }],
        store: true,
      }
      const answers = [
        await completions.create(request),
        await completions.stream(request).finalChatCompletion(),
      ]
      for (const { id, choices } of answers) {
        const result = (choices[0]?.message.tool_calls ?? []).map((call) => call.id)
        expect(new Set(result).size).toBe(2)
        expect(result).not.toContain('')
        expect(result).toEqual(await recordedIds(id))
      }
    },
  )

  test('a Responses client can send outputs for calls that the upstream sent without unique ids', async () => {
    const { responses } = gateway.openai
    const request = {
      model: 'plain',
      input: 'Look.',
      tools: [{ type: 'function' as const, strict: false, ...tool }],
    }
    behave()
    const answers = [
      await responses.create(request),
      await responses.stream(request).finalResponse(),
    ]
    upstream.behave = answerWith({ text: 'Seen.' })
    for (const { id, output } of answers) {
      const outputs = output.flatMap((item) =>
        item.type === 'function_call'
          ? [{ type: 'function_call_output' as const, call_id: item.call_id, output: 'it' }]
          : [],
      )
      await responses.create({ model: 'plain', previous_response_id: id, input: outputs })
      const sent = upstream.received.at(-1)?.json['messages']
      const messages = sent as readonly { readonly tool_call_id?: string }[]
      const answered = messages.flatMap((message) => message.tool_call_id ?? [])
      expect(answered).toEqual(outputs.map((one) => one.call_id))
      expect(new Set(answered).size).toBe(2)
    }
  })
})

const CALLS = ['function_call', 'custom_tool_call'].map((type, at) => ({
  type,
  id: `call_item_${at}`,
  status: 'completed',
  name: type,
  ...(type === 'function_call' ? { arguments: '{}' } : { input: '{}' }),
}))
const RESPONSE = { id: 'resp_up', object: 'response', model: 'responses', status: 'completed' }
const TOOLS = [
  { type: 'function', name: 'function_call', parameters: { type: 'object' }, strict: false },
  { type: 'custom', name: 'custom_tool_call' },
]

/** Answers over the Responses API with calls whose `call_id` is missing in the events in which `isMissing` says so. */
function answerWithoutCallIds(isMissing: (event: string) => boolean): Behaviour {
  const callsIn = (event: string) =>
    CALLS.map((call, at) => (isMissing(event) ? call : { ...call, call_id: `call_own_${at}` }))
  const completed = { ...RESPONSE, output: callsIn('completed') }
  const events: readonly (readonly [string, object])[] = [
    ['created', { response: { ...RESPONSE, status: 'in_progress', output: [] } }],
    ...CALLS.flatMap((_, output_index) =>
      ['output_item.added', 'output_item.done'].map(
        (event) => [event, { output_index, item: callsIn(event)[output_index] }] as const,
      ),
    ),
    ['completed', { response: completed }],
  ]
  const frames = events.map(([name, fields]) => {
    const type = `response.${name}`
    return `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`
  })
  return (response, received) =>
    received.json['stream'] === true
      ? answerSse(frames, 'end')(response, received)
      : answerJson(200, completed)(response, received)
}

test.each([
  ['everywhere', () => true],
  ['at their start', (event: string) => event === 'output_item.added'],
  ['at their end', (event: string) => event === 'output_item.done'],
  ['in the last event', (event: string) => event === 'completed'],
] as const)(
  'a Responses client can send outputs for calls of a Responses upstream that have no id %s',
  async (_, isMissing) => {
    for (const stream of [false, true]) {
      upstream.behave = answerWithoutCallIds(isMissing)
      const request = { model: 'responses', input: 'Look.', tools: TOOLS, stream }
      const text = await (await gateway.post('/v1/responses', request)).text()
      const shown =
        text.match(/\{[^{]*"type":"(?:function|custom_tool)_call".*?"\{\}"[^}]*\}/g) ?? []
      const ids = shown.map((json) => /"call_id":"(\w+)"/.exec(json)?.[1])
      expect(ids).toHaveLength(stream ? 6 : 2)
      expect(ids).not.toContain(undefined)
      const [call = '', custom = ''] = ids.slice(-2)
      // An event of the end is the same as the last event, whatever id the start of the item had.
      if (stream) expect([ids[1], ids[3]]).toEqual([call, custom])
      const answered = await gateway.post('/v1/responses', {
        model: 'responses',
        previous_response_id: /"id":"(resp_\w{20})"/.exec(text)?.[1],
        input: [
          { type: 'function_call_output', call_id: call, output: 'it' },
          { type: 'custom_tool_call_output', call_id: custom, output: 'it' },
        ],
      })
      expect(answered.status).toBe(200)
    }
  },
)
