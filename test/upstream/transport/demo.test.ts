/** The demo upstream keeps the promises of a transport, in whatever rhythm it is read. */
import { expect, test } from 'vitest'
import type { FlowControl } from '../../../src/core/stream/push-source.ts'
import { wrapWithDemoTransport } from '../../../src/upstream/transport/demo-transport.ts'
import type { UpstreamCall } from '../../../src/upstream/transport/transport-interface.ts'

const transport = wrapWithDemoTransport(() => {
  throw new Error('Nobody else is asked.')
})

function asked(question: string, more: object = {}): UpstreamCall {
  const message = {
    type: 'message',
    role: 'user',
    content: [{ type: 'input_text', text: question }],
  }
  const request = { model: 'demo', instructions: null, items: [message], tools: [] }
  const body = JSON.stringify({ ...request, toolChoice: null, stream: true, delayMs: 1, ...more })
  return transport({ method: 'POST', url: 'demo:', headers: {}, body })
}

/** How it is read, from its first chunk on. Resolves some time after its end. */
async function heard(call: UpstreamCall, begun: (flow: FlowControl) => void) {
  const reply = await call.reply
  const endings: string[] = []
  let text = ''
  await new Promise<void>((resolve) => {
    const over = (how: string): void => {
      endings.push(how)
      setTimeout(resolve, 30)
    }
    const flow = reply.flow({
      chunk(bytes) {
        if (text === '') begun(flow)
        text += new TextDecoder().decode(bytes)
      },
      end: () => over('end'),
      failed: () => over('failed'),
    })
  })
  return { endings, text }
}

test('held back and let go within one moment, it says everything once', async () => {
  const plain = await heard(asked('/repeat 40 word'), () => undefined)
  const restless = await heard(asked('/repeat 40 word'), (flow) => {
    for (let times = 0; times < 5; times += 1) {
      flow.pause()
      flow.resume()
    }
  })
  expect(plain.endings).toEqual(['end'])
  expect(restless).toEqual(plain)
})

test.each([
  ['held back', '/say a b c', true],
  ['hanging', '/say a\n/hang', false],
])('cancelled while it is %s, it has failed, once', async (_, question, isHeldBack) => {
  const call = asked(question)
  const { endings } = await heard(call, (flow) => {
    if (isHeldBack) flow.pause()
    setTimeout(call.cancel, 20)
  })
  expect(endings).toEqual(['failed'])
})

test.each([
  ['429 Slow.', 429, 'Slow.'],
  ['503', 503, 'The demo upstream refuses.'],
])('it refuses with a status: %s', async (line, status, message) => {
  const call = asked(`/status ${line}`)
  const { text } = await heard(call, () => undefined)
  expect((await call.reply).status).toBe(status)
  expect(JSON.parse(text)).toEqual({ message })
})

test.each(['', ' soon', ' 99 x', ' 200 x', ' 302', ' 1000 x'])(
  'what is no status of a refusal is said as it stands: /status%s',
  async (line) => {
    const { endings, text } = await heard(asked(`/status${line}`), () => undefined)
    expect(endings).toEqual(['end'])
    expect(text).toContain(`"text":"/status${line}"`)
  },
)

test('hanging, it says nothing more when it is let go', async () => {
  const call = asked('/say a\n/hang\n/say b')
  const { endings, text } = await heard(call, (flow) => {
    setTimeout(flow.resume, 30)
    setTimeout(call.cancel, 60)
  })
  expect(endings).toEqual(['failed'])
  expect(text).not.toContain('"b"')
})

test.each<[string, unknown, unknown]>([
  ['`required` that is no list', { required: 'abc' }, {}],
  ['`required` that is true', { properties: { a: {} }, required: true }, { a: 'demo' }],
  ['names that are none', { required: ['a', 5, null, {}] }, { a: 'demo' }],
  ['`properties` that are none', { properties: 'abc' }, {}],
  ['`properties` that are null', { properties: null, required: ['a'] }, { a: 'demo' }],
  [
    'an object within that makes no sense',
    { properties: { a: { type: 'object', required: true, properties: [1] } } },
    { a: {} },
  ],
  [
    'schemas that are true and null',
    { properties: { a: true, b: null } },
    { a: 'demo', b: 'demo' },
  ],
  ['a name that every object has', { required: ['toString'] }, { toString: 'demo' }],
  ['a choice', { properties: { a: { enum: [null, 1] } } }, { a: null }],
])('a tool is called whatever its schema says: %s', async (_, parameters, given) => {
  const tools = [{ type: 'function', name: 'f', parameters }]
  const { endings, text } = await heard(asked('Call it.', { tools }), () => undefined)
  expect(endings).toEqual(['end'])
  const events = text.split('\n\n').flatMap((frame) => {
    if (!frame.startsWith('data: ')) return []
    const { item } = JSON.parse(frame.slice('data: '.length)) as {
      readonly item?: { readonly type: string; readonly arguments?: string }
    }
    return item?.type === 'function_call' && item.arguments !== '' ? [item.arguments] : []
  })
  expect(events.map((text) => JSON.parse(text ?? '') as unknown)).toEqual([given])
})
