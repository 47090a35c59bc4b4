/**
 * An answer that nobody has kept is continued: what is said then is of the same thread, and goes on from
 * no answer before it, which was to another question.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startGateway, upstreams } from '../../support/gateway.ts'
import { askInText, goneOn, type Message } from '../../support/text-client.ts'
import { startUpstream, type Upstream } from '../../support/upstream.ts'
import { speak } from '../../support/wires.ts'

let upstream: Upstream
let gateway: Awaited<ReturnType<typeof startGateway>>
beforeAll(async () => {
  upstream = await startUpstream()
  gateway = await startGateway(upstreams({ name: 'c', wire: 'chat', baseUrl: upstream.url }))
})
afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

async function told(chat: readonly Message[], said: Parameters<typeof speak>[0]) {
  upstream.behave = speak(said)
  return askInText({ url: gateway.url, chat, isOpenWebUi: true })
}

async function turnOf([turnId = '']: readonly string[]) {
  const keys = { tenant: 'local', user: null, callIds: [], fingerprints: [] }
  const [turn] = (await gateway.dependencies.recall.findTurns({ ...keys, turnIds: [turnId] })).turns
  return turn
}

test('what continues an answer that was not kept has no parent, and its thread', async () => {
  const asked = [{ role: 'user', content: 'What is a lighthouse?' }] as const
  const first = await told(asked, { reasoning: 'Hm.', text: 'A tower.' })
  const chat = goneOn(asked, first, 'And a ship?')
  const plain = await told(chat, { text: 'It' })
  expect([first.turnIds.length, plain.turnIds.length]).toEqual([1, 0])
  const begun: readonly Message[] = [...chat, { role: 'assistant', content: plain.text }]
  const more = await told(begun, { reasoning: 'Well.', text: 'floats.' })
  const whole: readonly Message[] = [
    ...chat,
    { role: 'assistant', content: plain.text + more.text },
  ]
  const again = await told(whole, { reasoning: 'So.', text: 'Mostly.' })
  const turns = await Promise.all([first, more, again].map(({ turnIds }) => turnOf(turnIds)))
  const [thread] = turns.map((turn) => turn?.thread)
  expect(turns).toMatchObject([
    { parent: null, thread },
    { parent: null, thread },
    { parent: more.turnIds[0], thread },
  ])
})
