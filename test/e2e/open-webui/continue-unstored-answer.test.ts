/**
 * A user continues an answer that was not stored: the continuation belongs to the same thread, but has no
 * parent turn, because the stored answer before it belongs to another question.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startGateway, upstreams } from '../../support/gateway.ts'
import { askInText, addRound, type Message } from '../../support/text-client.ts'
import { startUpstream, type Upstream } from '../../support/upstream.ts'
import { answerWith } from '../../support/answer-formats.ts'

let upstream: Upstream
let gateway: Awaited<ReturnType<typeof startGateway>>
beforeAll(async () => {
  upstream = await startUpstream()
  const account = upstreams({ name: 'c', wire: 'chat', baseUrl: upstream.url })
  gateway = await startGateway({ ...account, MARKERS: 'always' })
})
afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

async function askWithAnswer(chat: readonly Message[], said: Parameters<typeof answerWith>[0]) {
  upstream.behave = answerWith(said)
  return askInText({ url: gateway.url, chat, isOpenWebUi: true })
}

async function turnOf([turnId = '']: readonly string[]) {
  const keys = { tenant: 'local', user: null, callIds: [], fingerprints: [] }
  const [turn] = (await gateway.dependencies.recall.findTurns({ ...keys, turnIds: [turnId] })).turns
  return turn
}

test('a continuation of an unstored answer belongs to the same thread and has no parent turn', async () => {
  const request = [{ role: 'user', content: 'What is a lighthouse?' }] as const
  const first = await askWithAnswer(request, { reasoning: 'Hm.', text: 'A tower.' })
  const chat = addRound(request, first, 'And a ship?')
  const plain = await askWithAnswer(chat, { text: 'It' })
  expect([first.turnIds.length, plain.turnIds.length]).toEqual([1, 0])
  const begun: readonly Message[] = [...chat, { role: 'assistant', content: plain.text }]
  const more = await askWithAnswer(begun, { reasoning: 'Well.', text: 'floats.' })
  const whole: readonly Message[] = [
    ...chat,
    { role: 'assistant', content: plain.text + more.text },
  ]
  const again = await askWithAnswer(whole, { reasoning: 'So.', text: 'Mostly.' })
  const turns = await Promise.all([first, more, again].map(({ turnIds }) => turnOf(turnIds)))
  const [thread] = turns.map((turn) => turn?.thread)
  expect(turns).toMatchObject([
    { parent: null, thread },
    { parent: null, thread },
    { parent: more.turnIds[0], thread },
  ])
})
