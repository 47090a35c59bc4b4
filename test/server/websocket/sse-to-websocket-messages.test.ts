import { expect, test } from 'vitest'
import { formatSseMessages } from '../../../src/core/stream/sse.ts'
import { createSseToMessageConverter } from '../../../src/server/websocket/sse-to-websocket-messages.ts'

const EVENTS = [
  { event: 'response.created', data: '{"type":"response.created"}' },
  { event: 'x', data: '{"type":"x",\n"text":"data: y\\n\\n"}' },
  { data: '[DONE]' },
]
const FRAMES = ['{"type":"response.created"}', '{"type":"x",\n"text":"data: y\\n\\n"}']

test('each server-sent event becomes one WebSocket message, and comments and [DONE] are dropped', () => {
  const framed = createSseToMessageConverter(null)
  expect(framed(formatSseMessages(EVENTS))).toEqual(FRAMES)
  expect(framed(': ping\n\n')).toEqual([])
  expect(framed('')).toEqual([])
})

test('server-sent events with any kind of line end become WebSocket messages', () => {
  const framed = createSseToMessageConverter(null)
  const written = new TextEncoder().encode('data:{"type":"a"}\r\nevent: a\r\n\r\n: ping\r\n\r\n')
  expect(framed(written)).toEqual(['{"type":"a"}'])
  expect(framed(formatSseMessages(EVENTS))).toEqual(FRAMES)
})

test('every WebSocket message gets the stream id, whatever characters the id contains', () => {
  const framed = createSseToMessageConverter('a "lane"\n')
  const [frame = ''] = framed(formatSseMessages(EVENTS))
  expect(JSON.parse(frame)).toEqual({ type: 'response.created', stream_id: 'a "lane"\n' })
  const [raw = ''] = framed(new TextEncoder().encode('data: {"type":"a"}\n\n'))
  expect(JSON.parse(raw)).toEqual({ type: 'a', stream_id: 'a "lane"\n' })
})
