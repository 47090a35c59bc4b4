/** Encodes images, audio and files, moves them to user messages where needed, and replaces others by notices. */
import { describe, expect, test } from 'vitest'
import { createGatewayToolOutput } from '../../../../src/core/items/gateway-tool-items.ts'
import {
  assistant,
  call,
  image,
  output,
  parseChatPrompt,
  encode,
  encodePrompt,
  user,
} from '../kit.ts'

describe('media in Chat Completions requests', () => {
  const url = 'data:image/png;base64,AA'
  const picture = { type: 'image_url', image_url: { url } }

  test('media in a user message stay in the Chat Completions message', () => {
    const sound = { type: 'input_audio', input_audio: { data: 'AA', format: 'wav' } } as const
    const file = { type: 'input_file', file_data: 'data:application/pdf;base64,AA' } as const
    const { messages, notes } = encode([
      user('see', { type: 'input_image', image_url: url, detail: 'low' }, sound, file),
    ])
    expect(messages).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'see' },
          { type: 'image_url', image_url: { url, detail: 'low' } },
          sound,
          { type: 'file', file: { file_data: 'data:application/pdf;base64,AA' } },
        ],
      },
    ])
    expect(notes).toEqual([])
  })

  test('a medium that Chat Completions cannot represent is replaced by a notice', () => {
    const { messages, codes } = encode([
      user(
        { type: 'input_image', file_id: 'file-1' },
        { type: 'input_file', file_url: 'https://a.example/b.pdf' },
        { type: 'opaque', raw: { type: 'hologram' } },
        { type: 'input_image', image_url: url, detail: 'original' },
      ),
    ])
    expect(messages).toMatchObject([
      { content: [{ type: 'text' }, { type: 'text' }, { type: 'text' }, picture] },
    ])
    expect(codes).toEqual([
      'image-without-url',
      'file-by-url',
      'unknown-part',
      'image-detail-changed',
    ])
  })

  test('media of tool outputs are sent in a chat message after all outputs of the parallel calls', () => {
    const items = [
      user('go'),
      call('a', 'shot'),
      call('b'),
      output('a', [{ type: 'input_text', text: 'here' }, image()]),
      output('b', [image()]),
    ]
    const { messages, codes } = encode(items)
    expect((messages as unknown[]).slice(2)).toEqual([
      { role: 'tool', tool_call_id: 'a', content: 'here' },
      {
        role: 'tool',
        tool_call_id: 'b',
        content: '[Gateway notice: The output follows in the next message.]',
      },
      {
        role: 'user',
        content: [
          { type: 'text', text: '[Gateway notice: What follows is output of the tool shot.]' },
          picture,
          { type: 'text', text: '[Gateway notice: What follows is output of the tool look.]' },
          picture,
        ],
      },
    ])
    expect(codes).toEqual(['tool-media-moved', 'tool-media-moved'])
  })

  test("media of a gateway tool's output are sent in a user message, even for a Chat Completions client (C80)", () => {
    const source = parseChatPrompt({ model: 'm', messages: [{ role: 'user', content: 'go' }] })
    const toolOutput = createGatewayToolOutput('a', [{ type: 'input_text', text: 'here' }, image()])
    const toolItems = [call('a', 'view_media'), toolOutput]
    const prompt = { ...source, items: [...source.items, ...toolItems] }
    const parts = [
      { type: 'text', text: '[Gateway notice: What follows is output of the tool view_media.]' },
      picture,
    ]
    expect((encodePrompt(prompt).messages as unknown[]).slice(2)).toEqual([
      { role: 'tool', tool_call_id: 'a', content: 'here' },
      { role: 'user', content: parts },
    ])
    const allowed = encodePrompt(prompt, { toolMedia: true }).messages as unknown[]
    expect(allowed).toHaveLength(3)
  })

  test('media of an assistant message are sent in a user message after it that names the assistant', () => {
    const named = { ...assistant('see', image()), native: { chat: { name: 'Ann' } } }
    const { messages, codes } = encode([user('go'), named, assistant(image(), image())])
    expect((messages as unknown[]).slice(1)).toEqual([
      { role: 'assistant', name: 'Ann', content: 'see' },
      {
        role: 'user',
        content: [
          { type: 'text', text: '[Gateway notice: What follows was shown by Ann.]' },
          picture,
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'text', text: '[Gateway notice: What follows was shown by the assistant.]' },
          picture,
          picture,
        ],
      },
    ])
    expect(codes).toEqual(['assistant-media-moved', 'assistant-media-moved'])
  })

  test('media of an assistant message do not separate a tool call from its output in a chat request', () => {
    const { messages } = encode([user('go'), assistant('see', image()), call('a'), output('a')])
    expect((messages as { role: string }[]).map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'tool',
      'user',
    ])
  })
})
