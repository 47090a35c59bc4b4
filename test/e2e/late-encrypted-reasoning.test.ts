/**
 * Some upstreams of the Responses API send the encrypted content of reasoning only with the end of the answer. It is
 * stored with the reasoning and sent back, whatever API the client uses.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startGateway, upstreams } from '../support/gateway.ts'
import { connect, create } from '../support/socket-client.ts'
import { answerSse, startUpstream, type Upstream } from '../support/upstream.ts'

let gateway: Awaited<ReturnType<typeof startGateway>>
let upstream: Upstream
beforeAll(async () => {
  upstream = await startUpstream()
  const account = { name: 'r', wire: 'responses', baseUrl: upstream.url, apiKey: 'k' }
  gateway = await startGateway({ ...upstreams({ ...account, models: ['*'] }), MARKERS: 'always' })
})
afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

const REASONING = {
  type: 'reasoning',
  id: 'rs_1',
  summary: [{ type: 'summary_text', text: 'Hm.' }],
}
const MESSAGE = { type: 'message', id: 'msg_1', role: 'assistant', status: 'completed' }

/** `ms`: the pause between two events, long enough for the reasoning to be journaled. */
function answerWithLateSeal(seal: string, ms: number) {
  const content = [{ type: 'output_text', text: 'A cat.', annotations: [] }]
  const message = { ...MESSAGE, content }
  const output = [{ ...REASONING, encrypted_content: seal }, message]
  const response = { id: 'resp_up', object: 'response', model: 'm', status: 'completed', output }
  const events = [
    { type: 'response.created', response: { ...response, status: 'in_progress', output: [] } },
    { type: 'response.output_item.added', output_index: 0, item: { ...REASONING, summary: [] } },
    { type: 'response.output_item.done', output_index: 0, item: REASONING },
    { type: 'response.output_item.added', output_index: 1, item: { ...MESSAGE, content: [] } },
    { type: 'response.output_text.delta', output_index: 1, content_index: 0, delta: 'A cat.' },
    { type: 'response.output_item.done', output_index: 1, item: message },
    { type: 'response.completed', response },
  ]
  const pieces = events.map((event, sequence_number) => {
    const json = JSON.stringify({ ...event, sequence_number })
    return `event: ${event.type}\ndata: ${json}\n\n`
  })
  return answerSse(pieces, 'end', ms)
}

const lastSent = () => upstream.received.at(-1)?.text ?? ''
async function post(path: string, body: object, headers = {}): Promise<string> {
  return (await gateway.post(path, { model: 'm', stream: true, ...body }, headers)).text()
}

test.each([
  ['a stored stream', {}, {}],
  ['a stream that is written after a pause', {}, {}, 30],
  ['a background response', { background: true }, {}],
  ['a stream that can be resumed', {}, { 'x-backstory-resumable': 'true' }, 30],
])('the next request of %s has the encrypted content', async (name, body, headers, ms = 0) => {
  const seal = `seal of ${name}`
  upstream.behave = answerWithLateSeal(seal, ms)
  const text = await post('/v1/responses', { input: 'One', ...body }, headers)
  const id = /"id":"(resp_\w{20})"/.exec(text)?.[1]
  await post('/v1/responses', { input: 'Two', previous_response_id: id })
  expect(lastSent()).toContain(seal)
})

test.each([0, 30])('the next request of a chat client has the encrypted content', async (ms) => {
  upstream.behave = answerWithLateSeal(`seal of a chat ${ms}`, ms)
  const first = { role: 'user', content: `One ${ms}` }
  const text = await post('/v1/chat/completions', { messages: [first] })
  const content = text
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => JSON.parse(line.slice(6)) as { choices: { delta?: { content?: string } }[] })
    .map(({ choices }) => choices[0]?.delta?.content ?? '')
    .join('')
  const answer = { role: 'assistant', content }
  await post('/v1/chat/completions', {
    messages: [first, answer, { role: 'user', content: 'Two' }],
  })
  expect(lastSent()).toContain(`seal of a chat ${ms}`)
})

test('an answer that is not stored has the encrypted content in the output of its last event, and over a WebSocket it is continued with it', async () => {
  upstream.behave = answerWithLateSeal('unstored', 0)
  const { ask, socket } = await connect(gateway.url)
  const first = await ask({ ...create('One', { store: false }), model: 'm' })
  expect(first.response['output']).toMatchObject([{ encrypted_content: 'unstored' }, {}])
  await ask({ ...create('Two', { store: false, previous_response_id: first.id }), model: 'm' })
  expect(lastSent()).toContain('unstored')
  socket.close()
  // Rendered by the gateway, because a stop string has to be searched in the text.
  const text = await post('/v1/responses', { input: 'One', store: false, stop: ['END'] })
  expect(text).toContain('"encrypted_content":"unstored"')
})
