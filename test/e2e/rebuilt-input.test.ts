/**
 * What a chat becomes as the input of the Responses API, and what of a request is sent, piece by piece,
 * as the upstream receives it.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startGateway, upstreams } from '../support/gateway.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'
import { speak } from '../support/wires.ts'

type Gateway = Awaited<ReturnType<typeof startGateway>>

let upstream: Upstream
let gateway: Gateway
beforeAll(async () => {
  upstream = await startUpstream(speak({ text: 'Fine.' }))
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

/** What the upstream was sent for a chat, word for word and read. */
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
const told = (text: string) => ({ type: 'input_text', text })
const said = (text: string) => ({ type: 'output_text', text })
const thumb = 'data:image/png;base64,iVBORw0KGgo='
const video = { type: 'video_url', video_url: { url: 'https://a.example/v.mp4' } }

describe('of a chat', () => {
  test('the input has every message in its order, and the same bytes each time (C1)', async () => {
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

  test('what system and developer say stays apart, with all its blanks (C2)', async () => {
    const { input } = await sent([
      { role: 'system', content: '  Be brief.\n\n' },
      { role: 'developer', content: '\tSay so. ' },
      { role: 'system', content: [{ type: 'text', text: 'One ' }] },
      { role: 'system', content: [{ type: 'text', text: ' two' }] },
      user('Hi'),
    ])
    expect(input).toEqual([
      message('system', told('  Be brief.\n\n')),
      message('developer', told('\tSay so. ')),
      message('system', told('One ')),
      message('system', told(' two')),
      message('user', told('Hi')),
    ])
  })

  test('what a user says is one message, be it a text or parts (C3)', async () => {
    const parts = [
      { type: 'text', text: 'Look ' },
      { type: 'text', text: 'here.' },
    ]
    const { input } = await sent([user(parts), assistant('I do.'), user('Thanks.\n')])
    expect(input).toEqual([
      message('user', told('Look '), told('here.')),
      message('assistant', said('I do.')),
      message('user', told('Thanks.\n')),
    ])
  })

  test('images, files and recordings have the words of the other API (C4)', async () => {
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

  test('a film, and a part that nobody knows, go on as they came where chat is spoken (C3, C4)', async () => {
    const future = { type: 'future', future: { x: 1 } }
    const content = [{ type: 'text', text: 'Look.' }, video, future]
    // A marker is taken out of it, so that it is not its own bytes that go on.
    const marked = assistant('Hi.\n\n[01KQZ3V8M6T2X9R4B7C9]: #')
    const { messages } = await sent([user('Hi'), marked, user(content)], 'chat-model')
    expect(messages.at(-1)?.content).toEqual(content)
  })

  test('of what the other API has no word for, the model is told that it was there (C4)', async () => {
    const { input } = await sent([user([{ type: 'text', text: 'Look.' }, video])])
    const text = '[Gateway notice: Something (video_url) was here, which cannot be shown.]'
    expect(input).toEqual([message('user', told('Look.'), told(text))])
  })

  test('what an assistant says is one text (C5)', async () => {
    const { input } = await sent([user('Hi'), assistant('Hello.\n\nWell?'), user('Well.')])
    expect(input[1]).toEqual(message('assistant', said('Hello.\n\nWell?')))
  })

  test('a marker that names nothing goes, and the text stays, on either side of it (C6, C7)', async () => {
    const text = 'One.\n\n[01KQZ3V8M6T2X9R4B7C9]: #\n\nTwo.'
    const { input } = await sent([user('Hi'), assistant(text), user('Well?')])
    expect(input[1]).toEqual(message('assistant', said('One.\n\nTwo.')))
  })
})

describe('of a Responses request', () => {
  test('a part that nobody knows goes on as it came (C3)', async () => {
    const content = [told('Look.'), { type: 'input_video', video_url: 'https://a.example/v.mp4' }]
    const input = [{ role: 'user', content }]
    await gateway.post('/v1/responses', { model: 'gpt-5', input })
    expect(upstream.received.at(-1)?.json['input']).toMatchObject([{ role: 'user', content }])
  })
})
