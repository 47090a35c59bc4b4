import { expect, test } from 'vitest'
import { parseMessages } from '../../../../src/dialects/chat/parse/parse-messages.ts'
import { renderMessages } from '../../../../src/dialects/chat/render/render-messages.ts'

const CALL = { id: 'call_1', type: 'function', function: { name: 'f', arguments: '{}' } }

test('chat messages that were parsed into items are rendered as the client sent them', () => {
  const messages = [
    { role: 'system', content: 'Be kind.' },
    { role: 'user', name: 'ada', content: 'one' },
    { role: 'assistant', content: 'Let me see.', tool_calls: [CALL, { ...CALL, id: 'call_2' }] },
    { role: 'tool', tool_call_id: 'call_1', content: '1' },
    { role: 'tool', tool_call_id: 'call_2', content: '2' },
    { role: 'assistant', content: 'two' },
    { role: 'assistant', content: 'three' },
    { role: 'assistant', refusal: 'No.' },
    { role: 'developer', content: 'x' },
  ]
  expect(renderMessages(parseMessages(messages))).toMatchObject(
    messages.map((message) => ('refusal' in message ? { ...message, content: null } : message)),
  )
})

test('content in several text parts is rendered in a stored chat message both as parts and as one text', () => {
  const parts = [
    { type: 'text', text: 'What is it?' },
    { type: 'image_url', image_url: { url: 'https://x/1.png', detail: 'low' } },
    { type: 'text', text: 'And this?', cache_control: { type: 'ephemeral' } },
    { type: 'input_audio', input_audio: { data: 'AA', format: 'wav' } },
    { type: 'file', file: { file_id: 'f', filename: 'a.pdf' } },
    { type: 'of_the_future', x: 1 },
  ]
  const [message] = renderMessages(parseMessages([{ role: 'user', content: parts }]))
  expect(message).toEqual({ role: 'user', content: 'What is it?And this?', content_parts: parts })
})

test('stored reasoning and the text after it are rendered as one chat message', () => {
  const messages = [
    { role: 'assistant', content: 'a', reasoning_content: 'one' },
    { role: 'assistant', content: 'b', reasoning_content: 'two' },
  ]
  expect(renderMessages(parseMessages(messages))).toMatchObject(messages)
})
