/** The demo transport behaves like HTTP transports when it is paused, resumed or cancelled. */
import { expect, test } from 'vitest'
import type { FlowControl } from '../../../src/core/stream/push-source-interface.ts'
import { wrapWithDemoTransport } from '../../../src/upstream/transport/demo-transport.ts'
import type { UpstreamCall } from '../../../src/upstream/transport/transport-interface.ts'

const transport = wrapWithDemoTransport(() => {
  throw new Error('Only the demo upstream is called.')
})

function callDemo(
  question: string,
  more: object = {},
  encode: (body: string) => string | Uint8Array = (body) => body,
): UpstreamCall {
  const message = {
    type: 'message',
    role: 'user',
    content: [{ type: 'input_text', text: question }],
  }
  const request = { model: 'demo', instructions: null, items: [message], tools: [] }
  const body = JSON.stringify({ ...request, toolChoice: null, stream: true, delayMs: 1, ...more })
  return transport({ method: 'POST', url: 'demo:', headers: {}, body: encode(body) })
}

/** Reads the reply, calls `onFirstChunk`, and resolves 30 ms after the end to see later events. */
async function readReply(call: UpstreamCall, onFirstChunk: (flow: FlowControl) => void) {
  const reply = await call.reply
  const endings: string[] = []
  let text = ''
  await new Promise<void>((resolve) => {
    const finish = (ending: string): void => {
      endings.push(ending)
      setTimeout(resolve, 30)
    }
    const flow = reply.flow({
      chunk(bytes) {
        if (text === '') onFirstChunk(flow)
        text += new TextDecoder().decode(bytes)
      },
      end: () => finish('end'),
      failed: () => finish('failed'),
    })
  })
  return { endings, text }
}

test('the demo upstream sends its answer completely and only once, although it is paused and resumed repeatedly', async () => {
  const uninterrupted = await readReply(callDemo('/repeat 40 word'), () => undefined)
  const interrupted = await readReply(callDemo('/repeat 40 word'), (flow) => {
    for (let times = 0; times < 5; times += 1) {
      flow.pause()
      flow.resume()
    }
  })
  expect(uninterrupted.endings).toEqual(['end'])
  expect(interrupted).toEqual(uninterrupted)
})

test.each([
  ['paused', '/say a b c', true],
  ['hanging', '/say a\n/hang', false],
])(
  'the demo upstream reports one failure if it is cancelled while %s',
  async (_, question, isPaused) => {
    const call = callDemo(question)
    const { endings } = await readReply(call, (flow) => {
      if (isPaused) flow.pause()
      setTimeout(call.cancel, 20)
    })
    expect(endings).toEqual(['failed'])
  },
)

test.each([
  ['429 Slow.', 429, 'Slow.'],
  ['503', 503, 'The demo upstream refuses.'],
])(
  'the demo upstream replies with the error status of the command /status %s',
  async (line, status, message) => {
    const call = callDemo(`/status ${line}`)
    const { text } = await readReply(call, () => undefined)
    expect((await call.reply).status).toBe(status)
    expect(JSON.parse(text)).toEqual({ message })
  },
)

test.each(['', ' soon', ' 99 x', ' 200 x', ' 302', ' 1000 x'])(
  'the demo upstream repeats an invalid command as text: /status%s',
  async (line) => {
    const { endings, text } = await readReply(callDemo(`/status${line}`), () => undefined)
    expect(endings).toEqual(['end'])
    expect(text).toContain(`"text":"/status${line}"`)
  },
)

test('the demo upstream sends nothing more after /hang, even if it is resumed', async () => {
  const call = callDemo('/say a\n/hang\n/say b')
  const { endings, text } = await readReply(call, (flow) => {
    setTimeout(flow.resume, 30)
    setTimeout(call.cancel, 60)
  })
  expect(endings).toEqual(['failed'])
  expect(text).not.toContain('"b"')
})

test.each<[string, unknown, unknown]>([
  ['`required` that is not a list', { required: 'abc' }, {}],
  ['`required` that is true', { properties: { a: {} }, required: true }, { a: 'demo' }],
  ['names that are not strings', { required: ['a', 5, null, {}] }, { a: 'demo' }],
  ['`properties` that are a string', { properties: 'abc' }, {}],
  ['`properties` that are null', { properties: null, required: ['a'] }, { a: 'demo' }],
  [
    'an invalid nested object',
    { properties: { a: { type: 'object', required: true, properties: [1] } } },
    { a: {} },
  ],
  [
    'schemas that are true and null',
    { properties: { a: true, b: null } },
    { a: 'demo', b: 'demo' },
  ],
  ['a name that every object inherits', { required: ['toString'] }, { toString: 'demo' }],
  ['an enum', { properties: { a: { enum: [null, 1] } } }, { a: null }],
])('the demo upstream calls a tool whose schema has %s', async (_, parameters, expected) => {
  const tools = [{ type: 'function', name: 'f', parameters }]
  const { endings, text } = await readReply(callDemo('Use the tool.', { tools }), () => undefined)
  expect(endings).toEqual(['end'])
  const events = text.split('\n\n').flatMap((frame) => {
    if (!frame.startsWith('data: ')) return []
    const { item } = JSON.parse(frame.slice('data: '.length)) as {
      readonly item?: { readonly type: string; readonly arguments?: string }
    }
    return item?.type === 'function_call' && item.arguments !== '' ? [item.arguments] : []
  })
  expect(events.map((text) => JSON.parse(text ?? '') as unknown)).toEqual([expected])
})

test('the demo upstream reads a body of bytes, as large requests have', async () => {
  const call = callDemo('/say bytes', {}, (body) => new TextEncoder().encode(body))
  const { text } = await readReply(call, () => undefined)
  expect(text).toContain('bytes')
})
