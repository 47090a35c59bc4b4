import { expect, test } from 'vitest'
import { formatSseMessages } from '../../../src/core/stream/sse.ts'
import { createFrameEncoder } from '../../../src/server/websocket/frame-encoder.ts'

const EVENTS = [
  { event: 'response.created', data: '{"type":"response.created"}' },
  { event: 'x', data: '{"type":"x",\n"text":"data: y\\n\\n"}' },
  { data: '[DONE]' },
]
const FRAMES = ['{"type":"response.created"}', '{"type":"x",\n"text":"data: y\\n\\n"}']

test('converts each event to a frame and drops comments and [DONE]', () => {
  const framed = createFrameEncoder(null)
  expect(framed(formatSseMessages(EVENTS))).toEqual(FRAMES)
  expect(framed(': ping\n\n')).toEqual([])
  expect(framed('')).toEqual([])
})

test('accepts all line ends in bytes of an upstream', () => {
  const framed = createFrameEncoder(null)
  const written = new TextEncoder().encode('data:{"type":"a"}\r\nevent: a\r\n\r\n: ping\r\n\r\n')
  expect(framed(written)).toEqual(['{"type":"a"}'])
  expect(framed(formatSseMessages(EVENTS))).toEqual(FRAMES)
})

test('adds the stream id to every frame, whatever characters it has', () => {
  const framed = createFrameEncoder('a "lane"\n')
  const [frame = ''] = framed(formatSseMessages(EVENTS))
  expect(JSON.parse(frame)).toEqual({ type: 'response.created', stream_id: 'a "lane"\n' })
  const [raw = ''] = framed(new TextEncoder().encode('data: {"type":"a"}\n\n'))
  expect(JSON.parse(raw)).toEqual({ type: 'a', stream_id: 'a "lane"\n' })
})
