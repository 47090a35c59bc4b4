/** Chat Completions of the official SDK over every wire, each served by a strict upstream. */
import { makeParseableResponseFormat } from 'openai/lib/parser'
import type {
  ChatCompletion,
  ChatCompletionMessage,
  ChatCompletionMessageParam,
  ChatCompletionTool,
} from 'openai/resources/chat/completions'
import { afterEach, describe, expect, test } from 'vitest'
import { REFUSAL, USAGE } from '../support/services/model.ts'
import { serviceTown } from '../support/services/service-town.ts'
import { ANSWER_SCHEMA, degreesAt, LOOK, WIRE_MODELS } from '../support/wire-models.ts'

const town = serviceTown()
afterEach(() => {
  town.services.manner = 'plain'
  town.services.cut = null
  expect(town.services.refusals.splice(0)).toEqual([])
})

const tools: ChatCompletionTool[] = [{ type: 'function', function: { strict: true, ...LOOK } }]
const more = { reasoning_effort: 'low', stream_options: { include_usage: true } } as const
const QUESTION = 'Look at Rome and Oslo, then at Graz.'
const ANSWER = 'The tools said: Rome: 4 degrees · Oslo: 4 degrees · Graz: 4 degrees'
const IMAGE = {
  type: 'image_url',
  image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' },
} as const

/** What it says of its reasoning is no word of OpenAI's. */
type Thinking = ChatCompletionMessage & { readonly reasoning_content?: string }

function user(content: string): ChatCompletionMessageParam {
  return { role: 'user', content }
}

describe.each(WIRE_MODELS)('$model', ({ model, thinks, refuses, returned }) => {
  const ask = (messages: ChatCompletionMessageParam[]) =>
    town.gateway.openai.chat.completions.create({ model, reasoning_effort: 'low', messages, tools })

  test('answers, whole', async () => {
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
  ] as const)('says streamed what it says whole (%s, cut %s)', async (manner, cut) => {
    const messages = [user(QUESTION)]
    const whole = await ask(messages)
    Object.assign(town.services, { manner, cut })
    const streamed = await town.gateway.openai.chat.completions
      .stream({ model, messages, tools, ...more })
      .finalChatCompletion()
    expect(shown(streamed)).toEqual(shown(whole))
    expect(streamed.choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      message: { content: 'Let me look. 🔭', tool_calls: [{ type: 'function' }, {}] },
    })
  })

  test('tells its reasoning', async () => {
    if (!thinks || model.includes('/')) return
    const stream = town.gateway.openai.chat.completions.stream({
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

  test.each([true, false])('runs tools by itself (streamed: %s)', async (stream) => {
    const runner = town.gateway.openai.chat.completions.runTools({
      model,
      reasoning_effort: 'low',
      stream: stream as true,
      messages: [user(QUESTION)],
      tools: [
        {
          type: 'function',
          function: {
            ...LOOK,
            parse: (args: string) => args,
            function: degreesAt,
          },
        },
      ],
    })
    expect(await runner.finalContent()).toBe(ANSWER)
  })

  test('runs a tool loop for a client that sends its reasoning back (C98)', async () => {
    const messages = [user(QUESTION)]
    let message = (await ask(messages)).choices[0]?.message as Thinking
    for (let step = 0; step < 2; step++) {
      messages.push(message)
      for (const call of message.tool_calls ?? []) {
        const args = call.type === 'function' ? call.function.arguments : ''
        messages.push({ role: 'tool', tool_call_id: call.id, content: degreesAt(args) })
      }
      message = (await ask(messages)).choices[0]?.message as Thinking
    }
    expect(message.content).toBe(ANSWER)
    // What chat has no words for is remembered, and found by the calls that it led to.
    const sent = town.services.received.at(-1)?.text.match(returned ?? /never/)?.length ?? 0
    expect(sent).toBe(returned !== null ? 2 : 0)
  })

  test('answers in the shape that was asked for', async () => {
    const response_format = makeParseableResponseFormat<Record<string, unknown>>(
      {
        type: 'json_schema',
        json_schema: { name: 'weather', strict: true, schema: ANSWER_SCHEMA },
      },
      (text) => JSON.parse(text) as Record<string, unknown>,
    )
    const asked = { model, messages: [user('Answer in JSON.')], response_format }
    const parsed = await town.gateway.openai.chat.completions.parse(asked)
    expect(parsed.choices[0]?.message.parsed).toMatchObject({ place: 'so', degrees: 7 })
    const streamed = await town.gateway.openai.chat.completions.stream(asked).finalChatCompletion()
    expect(streamed.choices[0]?.message.parsed).toEqual(parsed.choices[0]?.message.parsed)
  })

  test('refuses in its own way', async () => {
    const { choices } = await town.gateway.openai.chat.completions
      .stream({ model, messages: [user('Refuse this.')], ...more })
      .finalChatCompletion()
    expect(choices[0]?.finish_reason).toBe(refuses === 'in words' ? 'stop' : 'content_filter')
    expect(choices[0]?.message.refusal ?? null).toBe(refuses === 'filtered' ? null : REFUSAL)
  })

  test('says when it was cut off', async () => {
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
    ['an instruction at the end', [user('Servus'), { role: 'system', content: 'Go!' }], 'You said'],
    ['two questions in a row', [user('Servus'), user('Well?')], 'I remember 1 earlier'],
    [
      'an empty message of the assistant (C18)',
      [user('Servus'), { role: 'assistant', content: '' }, user('Well?')],
      'I remember 1 earlier',
    ],
    [
      'an assistant who speaks first',
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
    'takes %s',
    async (_, messages, words) => {
      const { choices } = await ask(messages)
      expect(choices[0]?.message.content).toContain(words)
    },
  )

  test('goes on with its own words, or is asked to', async () => {
    const { choices } = await ask([user('Servus'), { role: 'assistant', content: 'It is so' }])
    expect(choices[0]?.message.content).toMatch(/^and so on\.$|^You said /)
  })

  test('takes what a tool gave in parts', async () => {
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
})

/** What is the same whether it was streamed or not: all but ids. */
function shown({ choices, usage }: ChatCompletion): unknown {
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
