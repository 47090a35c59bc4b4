/** A text client that forgets its calls gets a marker, even if reasoning, text and call arrive in one piece. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { chatStream } from '../support/answer-formats.ts'
import { startGateway, upstreams } from '../support/gateway.ts'
import { answerSse, startUpstream, type Upstream } from '../support/upstream.ts'

let gateway: Awaited<ReturnType<typeof startGateway>>
let upstream: Upstream
beforeAll(async () => {
  upstream = await startUpstream()
  const account = { name: 'c', wire: 'chat', baseUrl: upstream.url, apiKey: 'k' }
  gateway = await startGateway({ ...upstreams(account), MARKERS: 'always' })
})
afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

test.each([
  ['one piece', 0, true],
  ['two pieces', 0, false],
  ['slow pieces', 5, false],
])(
  'an answer with a call that arrives in %s has a marker before its text',
  async (_, ms, isJoined) => {
    const calls = [{ id: 'call_1', name: 'look', arguments: '{}' }]
    const pieces = chatStream({ reasoning: 'Hm.', text: 'Let me look.', calls })
    const half = Math.ceil(pieces.length / 2)
    const sent = isJoined
      ? [pieces.join('')]
      : ms > 0
        ? pieces
        : [pieces.slice(0, half).join(''), pieces.slice(half).join('')]
    upstream.behave = answerSse(sent, 'end', ms)
    const body = { model: 'm', stream: true, messages: [{ role: 'user', content: `Hi ${_}` }] }
    const text = await (await gateway.post('/v1/chat/completions', body)).text()
    expect(text.match(/\[[0-9A-Z]{20}\]: #/g)).toHaveLength(1)
    expect(text.indexOf(']: #')).toBeLessThan(text.indexOf('Let'))
  },
)
