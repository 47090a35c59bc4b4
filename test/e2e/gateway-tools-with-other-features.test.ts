/**
 * Gateway tools combined with other features: compaction, stop strings, fallback, `store: false`; and the
 * next request of clients that never see their calls.
 */
import type OpenAI from 'openai'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { startGateway, upstreams } from '../support/gateway.ts'
import { decodeFrames } from '../support/logs.ts'
import { responsesFaults } from '../support/responses-checker.ts'
import { answerJson, startUpstream, type Behaviour, type Upstream } from '../support/upstream.ts'
import { answerWith, type AnswerContent } from '../support/answer-formats.ts'

const LONG = 'abcdefghij'.repeat(100)
const LOOK = { name: 'look', parameters: { type: 'object', properties: {} } }
const TOOLS = [{ type: 'function' as const, strict: false, ...LOOK }]
const CHAT_TOOLS = [{ type: 'function' as const, function: LOOK }]
const EXPAND = { name: 'expand_output', arguments: '{"call_id":"call_a","to":10}' }
const LOOKED = [
  { type: 'function_call' as const, call_id: 'call_a', name: 'look', arguments: '{}' },
  { type: 'function_call_output' as const, call_id: 'call_a', output: LONG },
]
const EXPAND_CALL: AnswerContent = {
  reasoning: 'Hm.',
  text: 'I read on. ',
  calls: [{ id: 'call_0', ...EXPAND }],
}
const FINAL_ANSWER: AnswerContent = { text: 'I have read it.' }

let upstream: Upstream
let gateway: Awaited<ReturnType<typeof startGateway>>
let openai: OpenAI

beforeAll(async () => {
  upstream = await startUpstream()
  const account = { baseUrl: upstream.url, apiKey: 'sk' }
  gateway = await startGateway({
    CONTEXT: JSON.stringify({ policy: 'capped', outputs: { cap: 300 } }),
    ...upstreams(
      { name: 'c', wire: 'chat', models: ['chat-model'], ...account },
      { name: 'r', wire: 'responses', models: ['responses-model'], ...account },
    ),
    MODELS: JSON.stringify({ both: ['chat-model', 'responses-model'] }),
  })
  openai = gateway.openai
})
afterAll(async () => {
  await gateway.close()
  await upstream.close()
})
beforeEach(() => void (upstream.received.length = 0))

function behave(...turns: readonly (AnswerContent | Behaviour)[]): void {
  const from = upstream.received.length
  upstream.behave = (response, received) => {
    const turn = turns[Math.min(upstream.received.length - from, turns.length) - 1]
    return (typeof turn === 'function' ? turn : answerWith(turn ?? {}))(response, received)
  }
}

const sent = (at: number): string => upstream.received.at(at)?.text ?? ''

describe.each(['chat-model', 'responses-model'])(
  'gateway tools together with other features over %s',
  (model) => {
    test.each([true, false])(
      'a conversation with several tool rounds is compacted only once (streamed: %s)',
      async (stream) => {
        behave({ text: 'The summary.' }, EXPAND_CALL, FINAL_ANSWER)
        const response = await gateway.post('/v1/responses', {
          model,
          stream,
          tools: TOOLS,
          context_management: [{ type: 'compaction', compact_threshold: 1000 }],
          input: [
            { role: 'user', content: 'Go.' },
            ...LOOKED,
            { role: 'assistant', content: 'word '.repeat(3000) },
            { role: 'user', content: 'And now?' },
          ],
        })
        const text = await response.text()
        const frames = stream ? decodeFrames(text) : []
        expect(stream ? responsesFaults(frames) : []).toEqual([])
        const body = (
          stream
            ? (JSON.parse(frames.at(-2)?.data ?? '{}') as { response: OpenAI.Responses.Response })
                .response
            : JSON.parse(text)
        ) as OpenAI.Responses.Response
        expect(upstream.received).toHaveLength(3)
        const types = body.output.map(({ type }) => type)
        expect(types.filter((type) => type === 'compaction')).toHaveLength(1)
        expect(new Set(body.output.map(({ id }) => id)).size).toBe(body.output.length)
        expect(sent(2).split('The summary.')).toHaveLength(2)
        expect(sent(2)).not.toContain('"compaction"')
      },
    )

    test('a stop string in the second tool round ends the answer', async () => {
      behave(EXPAND_CALL, { text: 'I have END read it.' })
      for (const stream of [true, false]) {
        upstream.received.length = 0
        behave(EXPAND_CALL, { text: 'I have END read it.' })
        const response = await gateway.post('/v1/chat/completions', {
          model,
          stream,
          stop: ['END'],
          tools: CHAT_TOOLS,
          messages: [
            { role: 'user', content: 'Go.' },
            {
              role: 'assistant',
              tool_calls: [
                { id: 'call_a', type: 'function', function: { name: 'look', arguments: '{}' } },
              ],
            },
            { role: 'tool', tool_call_id: 'call_a', content: LONG },
          ],
        })
        const text = await response.text()
        expect(text).not.toContain('expand_output')
        expect(text.match(/"finish_reason":"\w+"/g)).toEqual(['"finish_reason":"stop"'])
      }
    })

    test('gateway fields that a client forges on an item are ignored', async () => {
      behave(FINAL_ANSWER)
      const forged = { native: { house: { size: '3' } }, origin: { wire: 'chat' } }
      const answer = await openai.responses.create({
        model,
        tools: TOOLS,
        input: [
          { role: 'user', content: 'Go.' },
          ...LOOKED.map((item) => ({ ...item, ...forged })),
        ],
      } as OpenAI.Responses.ResponseCreateParamsNonStreaming)
      expect(JSON.stringify((await openai.responses.inputItems.list(answer.id)).data)).toContain(
        'call_a',
      )
    })

    test('gateway tool calls are recalled for a client that sends only text', async () => {
      behave(EXPAND_CALL, FINAL_ANSWER)
      const messages = [{ role: 'user' as const, content: `What, ${model}?` }]
      const first = await openai.chat.completions.create({ model, tools: CHAT_TOOLS, messages })
      behave({ text: 'Fine.' })
      await openai.chat.completions.create({
        model,
        tools: CHAT_TOOLS,
        messages: [
          ...messages,
          { role: 'assistant', content: first.choices[0]?.message.content ?? '' },
          { role: 'user', content: 'And?' },
        ],
      })
      expect(sent(-1)).toContain('There is no output of a call')
    })
  },
)

test('after a fallback, the later tool rounds are sent to the same upstream', async () => {
  behave(answerJson(500, { error: { message: 'No.' } }), EXPAND_CALL, FINAL_ANSWER)
  const answer = await openai.responses.create({
    model: 'both',
    tools: TOOLS,
    input: [{ role: 'user', content: 'Go.' }, ...LOOKED],
  })
  expect(answer.output_text).toBe('I read on. I have read it.')
  expect(new Set(upstream.received.slice(1).map(({ path }) => path)).size).toBe(1)
  expect(upstream.received[0]?.path).not.toBe(upstream.received[1]?.path)
})

test('gateway tools work in every tool round for a client with the old `functions` fields', async () => {
  behave(EXPAND_CALL, FINAL_ANSWER)
  const response = await gateway.post('/v1/chat/completions', {
    model: 'chat-model',
    functions: [LOOK],
    function_call: 'auto',
    messages: [
      { role: 'user', content: 'Go.' },
      { role: 'assistant', content: null, function_call: { name: 'look', arguments: '{}' } },
      { role: 'function', name: 'look', content: LONG },
    ],
  })
  const text = await response.text()
  expect(text).toContain('I have read it.')
  for (const { json } of upstream.received) {
    expect(json).toMatchObject({ tool_choice: 'auto' })
    expect(json).not.toHaveProperty('functions')
    expect(json).not.toHaveProperty('function_call')
  }
})

test("a gateway tool reads a shortened output of a client's tool even if the upstream repeats call ids", async () => {
  const requestFields = {
    model: 'chat-model',
    tools: TOOLS,
    input: LOOKED.map((item) => ({ ...item, call_id: 'call_0' })),
  }
  const reading = {
    ...EXPAND_CALL,
    calls: [{ ...EXPAND, id: 'call_0', arguments: '{"call_id":"call_0","to":10}' }],
  }
  behave(reading, FINAL_ANSWER)
  const first = await openai.responses.create(requestFields)
  behave(reading, FINAL_ANSWER)
  await openai.responses.create({
    ...requestFields,
    previous_response_id: first.id,
    input: 'Again.',
  })
  expect(sent(-1).split('Characters 0 to 10 of 1000')).toHaveLength(1 + 2)
  const ids = sent(-1).match(/"tool_call_id":"\w+"/g) ?? []
  expect(new Set(ids).size).toBe(3)
})
