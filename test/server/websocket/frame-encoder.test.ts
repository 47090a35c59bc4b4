import { expect, test } from 'vitest'
import { formatSseMessages } from '../../../src/core/stream/sse.ts'
import { createFrameEncoder } from '../../../src/server/websocket/frame-encoder.ts'

const EVENTS = [
  { event: 'response.created', data: '{"type":"response.created"}' },
  { event: 'x', data: '{"type":"x",\n"text":"data: y\\n\\n"}' },
  { data: '[DONE]' },
]
const FRAMES = ['{"type":"response.created"}', '{"type":"x",\n"text":"data: y\\n\\n"}']

test('an event is a frame; comments and the sentinel are none', () => {
  const framed = createFrameEncoder(null)
  expect(framed(formatSseMessages(EVENTS))).toEqual(FRAMES)
  expect(framed(': ping\n\n')).toEqual([])
  expect(framed('')).toEqual([])
})

test('what an upstream has written itself may end its lines as it likes', () => {
  const framed = createFrameEncoder(null)
  const written = new TextEncoder().encode('data:{"type":"a"}\r\nevent: a\r\n\r\n: ping\r\n\r\n')
  expect(framed(written)).toEqual(['{"type":"a"}'])
  expect(framed(formatSseMessages(EVENTS))).toEqual(FRAMES)
})

test('every frame of a lane names it, whatever it is called', () => {
  const framed = createFrameEncoder('a "lane"\n')
  const [frame = ''] = framed(formatSseMessages(EVENTS))
  expect(JSON.parse(frame)).toEqual({ type: 'response.created', stream_id: 'a "lane"\n' })
  const [raw = ''] = framed(new TextEncoder().encode('data: {"type":"a"}\n\n'))
  expect(JSON.parse(raw)).toEqual({ type: 'a', stream_id: 'a "lane"\n' })
})
