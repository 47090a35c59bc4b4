/**
 * An upstream that gives its calls no ids or duplicate ids: the client gets the ids that are stored, in both
 * dialects, streamed or not, and can continue with them.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Item } from '../../src/core/item.ts'
import { startGateway, upstreams } from '../support/gateway.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'
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
