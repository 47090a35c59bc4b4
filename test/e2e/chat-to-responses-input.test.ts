/** Converts chats to the input of the Responses API, and checks the sent request item by item. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startGateway, upstreams } from '../support/gateway.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'
import { answerWith } from '../support/answer-formats.ts'

type Gateway = Awaited<ReturnType<typeof startGateway>>

let upstream: Upstream
let gateway: Gateway
beforeAll(async () => {
  upstream = await startUpstream(answerWith({ text: 'Fine.' }))
  gateway = await start()
})
afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

function start(): Promise<Gateway> {
  const account = { baseUrl: upstream.url, apiKey: 'k' }
  return startGateway(
    upstreams(
      { name: 'r', wire: 'responses', models: ['gpt-5'], ...account },
      { name: 'c', wire: 'chat', models: ['chat-model'], ...account },
    ),
  )
}

interface Sent {
  readonly text: string
  readonly input: readonly Entry[]
  readonly messages: readonly Entry[]
}

interface Entry {
  readonly type?: string
  readonly role?: string
  readonly content?: unknown
}

/** Sends a chat and returns the upstream request as text and parsed. */
async function sent(messages: readonly object[], model = 'gpt-5', by = gateway): Promise<Sent> {
  const response = await by.post('/v1/chat/completions', { model, messages })
  expect(response.status).toBe(200)
  const { text, json } = upstream.received.at(-1) ?? { text: '', json: {} }
  return { text, ...(json as unknown as Omit<Sent, 'text'>) }
}

const user = (content: unknown) => ({ role: 'user', content })
const assistant = (content: string) => ({ role: 'assistant', content })
const message = (role: string, ...content: readonly object[]) => ({
  type: 'message',
  role,
  content,
})
const inputText = (text: string) => ({ type: 'input_text', text })
const outputText = (text: string) => ({ type: 'output_text', text })
const thumb = 'data:image/png;base64,iVBORw0KGgo='
const video = { type: 'video_url', video_url: { url: 'https://a.example/v.mp4' } }

describe('the Responses input that the gateway builds from a chat', () => {
  test('a chat becomes a Responses input with every message in order, and the same bytes each time (C1)', async () => {
    const chat = [
      { role: 'system', content: 'Be brief.' },
      user('Look.'),
      {
        role: 'assistant',
        content: 'I look.',
        tool_calls: [{ id: 'a', type: 'function', function: { name: 'look', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: 'a', content: 'fog' },
      assistant('Fog.'),
      user('And now?'),
    ]
    const first = await sent(chat)
    expect(first.input.map(({ type, role }) => role ?? type)).toEqual([
      'system',
      'user',
      'assistant',
      'function_call',
      'function_call_output',
      'assistant',
      'user',
    ])
    expect((await sent(chat)).text).toBe(first.text)
    const replica = await start()
    expect((await sent(chat, 'gpt-5', replica)).text).toBe(first.text)
    await replica.close()
  })

  test('system and developer messages of a chat stay separate, with all white space (C2)', async () => {
    const { input } = await sent([
      { role: 'system', content: '  Be brief.\n\n' },
      { role: 'developer', content: '\tSay so. ' },
      { role: 'system', content: [{ type: 'text', text: 'One ' }] },
      { role: 'system', content: [{ type: 'text', text: ' two' }] },
      user('Hi'),
    ])
    expect(input).toEqual([
      message('system', inputText('  Be brief.\n\n')),
      message('developer', inputText('\tSay so. ')),
      message('system', inputText('One ')),
      message('system', inputText(' two')),
      message('user', inputText('Hi')),
    ])
  })

  test('each user message of a chat becomes one message, whether it is a text or a list of parts (C3)', async () => {
    const parts = [
      { type: 'text', text: 'Look ' },
      { type: 'text', text: 'here.' },
    ]
    const { input } = await sent([user(parts), assistant('I do.'), user('Thanks.\n')])
    expect(input).toEqual([
      message('user', inputText('Look '), inputText('here.')),
      message('assistant', outputText('I do.')),
      message('user', inputText('Thanks.\n')),
    ])
  })

  test('images, files and audio of a chat get the form of the Responses API (C4)', async () => {
    const { input } = await sent([
      user([
        { type: 'image_url', image_url: { url: thumb, detail: 'low' } },
        { type: 'image_url', image_url: { url: 'https://a.example/b.png' } },
        {
          type: 'file',
          file: { file_data: 'data:application/pdf;base64,AA==', filename: 'a.pdf' },
        },
        { type: 'input_audio', input_audio: { data: 'AA==', format: 'wav' } },
      ]),
    ])
    expect(input[0]?.content).toEqual([
      { type: 'input_image', image_url: thumb, detail: 'low' },
      { type: 'input_image', image_url: 'https://a.example/b.png' },
      { type: 'input_file', file_data: 'data:application/pdf;base64,AA==', filename: 'a.pdf' },
      { type: 'input_audio', input_audio: { data: 'AA==', format: 'wav' } },
    ])
  })

  test('a video and an unknown part of a chat are passed on to a chat upstream (C3, C4)', async () => {
    const future = { type: 'future', future: { x: 1 } }
    const content = [{ type: 'text', text: 'Look.' }, video, future]
    // A marker to remove keeps the gateway from passing the body through unchanged.
    const marked = assistant('Hi.\n\n[01KQZ3V8M6T2X9R4B7C9]: #')
    const { messages } = await sent([user('Hi'), marked, user(content)], 'chat-model')
    expect(messages.at(-1)?.content).toEqual(content)
  })

  test('parts of a chat that the Responses API does not support become a notice (C4)', async () => {
    const { input } = await sent([user([{ type: 'text', text: 'Look.' }, video])])
    const text = '[Gateway notice: Something (video_url) was here, which cannot be shown.]'
    expect(input).toEqual([message('user', inputText('Look.'), inputText(text))])
  })

  test('an assistant message of a chat becomes a message with one text (C5)', async () => {
    const { input } = await sent([user('Hi'), assistant('Hello.\n\nWell?'), user('Well.')])
    expect(input[1]).toEqual(message('assistant', outputText('Hello.\n\nWell?')))
  })

  test('an unknown turn marker is removed from a chat, and the text around it stays (C6, C7)', async () => {
    const text = 'One.\n\n[01KQZ3V8M6T2X9R4B7C9]: #\n\nTwo.'
    const { input } = await sent([user('Hi'), assistant(text), user('Well?')])
    expect(input[1]).toEqual(message('assistant', outputText('One.\n\nTwo.')))
  })
})

test('unknown parts in the input of a Responses request are passed on (C3)', async () => {
  const content = [
    inputText('Look.'),
    { type: 'input_video', video_url: 'https://a.example/v.mp4' },
  ]
  const input = [{ role: 'user', content }]
  await gateway.post('/v1/responses', { model: 'gpt-5', input })
  expect(upstream.received.at(-1)?.json['input']).toMatchObject([{ role: 'user', content }])
})
