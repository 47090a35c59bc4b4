/** Chat Completions with the official SDK over every wire, each served by a strict upstream. */
import { makeParseableResponseFormat } from 'openai/lib/parser'
import type {
  ChatCompletion,
  ChatCompletionMessage,
  ChatCompletionMessageParam,
  ChatCompletionTool,
} from 'openai/resources/chat/completions'
import { afterEach, describe, expect, test } from 'vitest'
import { REFUSAL, USAGE } from '../support/services/simulated-model.ts'
import { useGatewayWithServices } from '../support/services/gateway-with-services.ts'
import { ANSWER_SCHEMA, runLookTool, LOOK_TOOL, WIRE_MODELS } from '../support/wire-models.ts'

const setup = useGatewayWithServices()
afterEach(() => {
  setup.services.manner = 'plain'
  setup.services.cut = null
  expect(setup.services.refusals.splice(0)).toEqual([])
})

const tools: ChatCompletionTool[] = [{ type: 'function', function: { strict: true, ...LOOK_TOOL } }]
const more = { reasoning_effort: 'low', stream_options: { include_usage: true } } as const
const QUESTION = 'Look at Rome and Oslo, then at Graz.'
const ANSWER = 'The tools said: Rome: 4 degrees · Oslo: 4 degrees · Graz: 4 degrees'
const IMAGE = {
  type: 'image_url',
  image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' },
} as const

/** `reasoning_content` is a field of other services that OpenAI's types do not have. */
type Thinking = ChatCompletionMessage & { readonly reasoning_content?: string }

function user(content: string): ChatCompletionMessageParam {
  return { role: 'user', content }
}

describe.each(WIRE_MODELS)(
  'chat completions over $model',
  ({ model, thinks, refusalForm, returnedReasoning }) => {
    const ask = (messages: ChatCompletionMessageParam[]) =>
      setup.gateway.openai.chat.completions.create({
        model,
        reasoning_effort: 'low',
        messages,
        tools,
      })

    test("a non-streamed chat completion has the model's answer", async () => {
      const { choices, usage } = await ask([user('Servus')])
      expect(choices[0]).toMatchObject({
        finish_reason: 'stop',
        message: { role: 'assistant', content: 'You said “Servus”. Grüezi 🦊!' },
      })
      expect(usage).toMatchObject({
        prompt_tokens: USAGE.input,
        prompt_tokens_details: { cached_tokens: USAGE.cached },
        completion_tokens: USAGE.output,
        completion_tokens_details: { reasoning_tokens: USAGE.reasoning },
      })
    })

    test.each([
      ['plain', null],
      ['plain', 5],
      ['odd', null],
      ['odd', 7],
    ] as const)(
      'a streamed chat completion equals the non-streamed one (upstream events: %s, split every %s bytes)',
      async (manner, cut) => {
        const messages = [user(QUESTION)]
        const whole = await ask(messages)
        Object.assign(setup.services, { manner, cut })
        const streamed = await setup.gateway.openai.chat.completions
          .stream({ model, messages, tools, ...more })
          .finalChatCompletion()
        expect(comparableParts(streamed)).toEqual(comparableParts(whole))
        expect(streamed.choices[0]).toMatchObject({
          finish_reason: 'tool_calls',
          message: { content: 'Let me look. 🔭', tool_calls: [{ type: 'function' }, {}] },
        })
      },
    )

    test("a streamed chat completion has the model's reasoning", async () => {
      if (!thinks || model.includes('/')) return
      const stream = setup.gateway.openai.chat.completions.stream({
        model,
        messages: [user('Servus')],
        ...more,
      })
      let thoughts = ''
      stream.on('chunk', ({ choices }) => {
        const delta = choices[0]?.delta as { readonly reasoning_content?: string } | undefined
        thoughts += delta?.reasoning_content ?? ''
      })
      await stream.done()
      expect(thoughts).toBe('Somebody talks to me: ¿qué?')
    })

    test.each([true, false])(
      "the SDK's tool runner completes a tool loop (streamed: %s)",
      async (stream) => {
        const runner = setup.gateway.openai.chat.completions.runTools({
          model,
          reasoning_effort: 'low',
          stream: stream as true,
          messages: [user(QUESTION)],
          tools: [
            {
              type: 'function',
              function: {
                ...LOOK_TOOL,
                parse: (args: string) => args,
                function: runLookTool,
              },
            },
          ],
        })
        expect(await runner.finalContent()).toBe(ANSWER)
      },
    )

    test("a tool loop succeeds for a client that sends the model's reasoning back (C98)", async () => {
      const messages = [user(QUESTION)]
      let message = (await ask(messages)).choices[0]?.message as Thinking
      for (let step = 0; step < 2; step++) {
        messages.push(message)
        for (const call of message.tool_calls ?? []) {
          const args = call.type === 'function' ? call.function.arguments : ''
          messages.push({ role: 'tool', tool_call_id: call.id, content: runLookTool(args) })
        }
        message = (await ask(messages)).choices[0]?.message as Thinking
      }
      expect(message.content).toBe(ANSWER)
      // Reasoning that the chat API cannot carry is stored, and found again by the ids of the calls after it.
      const sent =
        setup.services.received.at(-1)?.text.match(returnedReasoning ?? /never/)?.length ?? 0
      expect(sent).toBe(returnedReasoning !== null ? 2 : 0)
    })

    test('a chat completion follows the requested JSON schema', async () => {
      const response_format = makeParseableResponseFormat<Record<string, unknown>>(
        {
          type: 'json_schema',
          json_schema: { name: 'weather', strict: true, schema: ANSWER_SCHEMA },
        },
        (text) => JSON.parse(text) as Record<string, unknown>,
      )
      const request = { model, messages: [user('Answer in JSON.')], response_format }
      const parsed = await setup.gateway.openai.chat.completions.parse(request)
      expect(parsed.choices[0]?.message.parsed).toMatchObject({ place: 'so', degrees: 7 })
      const streamed = await setup.gateway.openai.chat.completions
        .stream(request)
        .finalChatCompletion()
      expect(streamed.choices[0]?.message.parsed).toEqual(parsed.choices[0]?.message.parsed)
    })

    test('a refusal of the model has the finish reason and the text that the upstream reports for refusals', async () => {
      const { choices } = await setup.gateway.openai.chat.completions
        .stream({ model, messages: [user('Refuse this.')], ...more })
        .finalChatCompletion()
      expect(choices[0]?.finish_reason).toBe(refusalForm === 'in words' ? 'stop' : 'content_filter')
      expect(choices[0]?.message.refusal ?? null).toBe(refusalForm === 'filtered' ? null : REFUSAL)
    })

    test('a chat completion whose answer was cut off has `finish_reason: "length"`', async () => {
      const { choices } = await ask([user('Go on for ever.')])
      expect(choices[0]).toMatchObject({
        finish_reason: 'length',
        message: { content: 'It goes on and' },
      })
    })

    test.each([
      [
        'instructions in the middle of a conversation',
        [
          { role: 'system', content: 'Be brief.' },
          user('Servus'),
          { role: 'assistant', content: 'Grüß Gott' },
          { role: 'developer', content: 'Be kind.' },
          user('Well?'),
        ],
        'You said “Well?”',
      ],
      [
        'an instruction at the end',
        [user('Servus'), { role: 'system', content: 'Go!' }],
        'You said',
      ],
      ['two questions in a row', [user('Servus'), user('Well?')], 'I remember 1 earlier'],
      [
        'an empty assistant message (C18)',
        [user('Servus'), { role: 'assistant', content: '' }, user('Well?')],
        'I remember 1 earlier',
      ],
      [
        'an assistant message at the beginning',
        [{ role: 'assistant', content: 'Welcome.' }, user('Well?')],
        'You said “Well?”',
      ],
      [
        'images',
        [
          { role: 'user', content: [{ type: 'text', text: 'Servus' }, IMAGE] },
          { role: 'assistant', content: 'A picture.' },
          { role: 'user', content: [IMAGE, IMAGE, { type: 'text', text: 'Well?' }] },
        ],
        'I see 2 images',
      ],
      [
        'a refusal',
        [user('Servus'), { role: 'assistant', refusal: 'No.' }, user('Well?')],
        'I remember 1 earlier',
      ],
      [
        'named speakers',
        [
          { role: 'user', name: 'Ada', content: 'Servus' },
          { role: 'assistant', content: 'Grüß Gott' },
          { role: 'user', name: 'Bob', content: 'Well?' },
        ],
        'I remember 1 earlier',
      ],
    ] as readonly (readonly [string, ChatCompletionMessageParam[], string])[])(
      'the upstream accepts a chat with %s',
      async (_, messages, words) => {
        const { choices } = await ask(messages)
        expect(choices[0]?.message.content).toContain(words)
      },
    )

    test('a model continues a trailing assistant message, or is asked to continue it', async () => {
      const { choices } = await ask([user('Servus'), { role: 'assistant', content: 'It is so' }])
      expect(choices[0]?.message.content).toMatch(/^and so on\.$|^You said /)
    })

    test('a tool output that consists of parts is accepted', async () => {
      const { choices } = await ask([
        user('Well?'),
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'c', type: 'function', function: { name: 'look', arguments: '{}' } }],
        },
        { role: 'tool', tool_call_id: 'c', content: [{ type: 'text', text: 'fog' }] },
      ])
      expect(choices[0]?.message.content).toBe('The tools said: fog')
    })
  },
)

/** Returns all that must be equal for streamed and non-streamed answers: everything but ids. */
function comparableParts({ choices, usage }: ChatCompletion): unknown {
  const [choice] = choices
  return {
    usage: { ...usage },
    finish: choice?.finish_reason,
    content: choice?.message.content,
    calls: choice?.message.tool_calls?.map((call) =>
      call.type === 'function' ? [call.function.name, call.function.arguments] : call,
    ),
  }
}
