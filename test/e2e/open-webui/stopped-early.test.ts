/**
 * Stop, as early as can be: in the first words behind a thought, which no time at all is left to write
 * down in. The client that has any word of an answer has its marker, and what was thought comes back.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { failingMemory, WELL, type FailingMemory } from '../../support/failing-memory.ts'
import { startGateway } from '../../support/gateway.ts'
import { startTown, type Town } from '../../support/open-webui/town.ts'
import { answerSse, startUpstream, type Upstream } from '../../support/upstream.ts'
import { chatStream } from '../../support/wires.ts'

describe.concurrent.each(['gpt-5', 'claude-opus-5', 'glm-5'])(
  '%s that thinks in no time',
  (model) => {
    let town: Town
    beforeAll(async () => void (town = await startTown('full', {}, 0)))
    afterAll(() => town.close())

    test.each(['chat', 'responses'] as const)('stopped, over %s', async (connection) => {
      const told = town.story({ connection }, { model })
      await told.ask('R~T')
      await told.ask('RT')
      await told.ask('RTR~T')
      await told.ask('RC|R~T')
      await told.goOn('RC|R~T')
      await told.ask('RT')
      expect(told.trouble()).toEqual([])
    })
  },
)

const OPEN_WEBUI = { 'x-backstory-chat': 'c', 'x-backstory-message': 'm' }
const MARKER = /^\[[0-9A-Z]{20}\]: #\n\n/

describe('over the wire that does not say when a thought is over', () => {
  let upstream: Upstream
  let gateway: Awaited<ReturnType<typeof startGateway>>
  let memory: FailingMemory
  beforeAll(async () => {
    upstream = await startUpstream()
    const account = { name: 'c', wire: 'chat', baseUrl: upstream.url }
    gateway = await startGateway({
      UPSTREAMS: JSON.stringify([{ ...account, quirks: { reasoningField: 'reasoning_content' } }]),
      // Writes that never end are not waited for when the gateway stops.
      DRAIN_SECONDS: '0',
    })
    memory = failingMemory(gateway.dependencies)
  })
  afterAll(async () => {
    await gateway.close()
    await upstream.close()
  })

  const question = { role: 'user', content: 'Why fog?' }
  const ask = (messages: readonly object[], signal: AbortSignal | null = null) =>
    fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...OPEN_WEBUI },
      body: JSON.stringify({ model: 'm', stream: true, messages }),
      signal,
    })

  /** What the client has of an answer that it stops as soon as it reads these words. */
  const stoppedAt = async (words: string): Promise<string> => {
    const controller = new AbortController()
    const { body } = await ask([question], controller.signal)
    let text = ''
    for await (const chunk of body ?? []) {
      text += Buffer.from(chunk as Uint8Array).toString()
      if (contentIn(text).includes(words)) break
    }
    controller.abort()
    return contentIn(text)
  }

  test('the first words of all are marked, and bring back the thought', async () => {
    upstream.behave = answerSse(
      chatStream({ reasoning: 'Cold.', text: 'Because' }).slice(0, -3),
      'hang',
    )
    const kept = await stoppedAt('Bec')
    expect(kept).toMatch(MARKER)
    upstream.behave = answerSse(chatStream({ text: 'Yes.' }))
    const answer = { role: 'assistant', content: kept }
    await (await ask([question, answer, { role: 'user', content: 'So?' }])).text()
    expect(upstream.received.at(-1)?.text).toContain('"reasoning_content":"Cold."')
  })

  test.each(['openTurn', 'journalItems'] as const)(
    'a database that never answers to %s keeps no word',
    async (verb) => {
      memory.mood = (asked) => (asked === verb ? 'hangs' : 'none')
      upstream.behave = answerSse(
        chatStream({ reasoning: 'Cold.', text: 'Because' }).slice(0, -3),
        'hang',
      )
      expect(await stoppedAt('Because')).toBe('Because')
      // Not even where its end came with it, which waits for longer.
      upstream.behave = answerSse([chatStream({ reasoning: 'Cold.', text: 'Because' }).join('')])
      expect(await stoppedAt('Because')).toBe('Because')
      memory.mood = WELL
    },
  )
})

/** The text of an answer, as far as its stream was read. */
function contentIn(stream: string): string {
  return stream
    .split('\n')
    .slice(0, -1)
    .flatMap((line) => {
      if (!line.startsWith('data: {')) return []
      const { choices = [] } = JSON.parse(line.slice('data: '.length)) as {
        readonly choices?: readonly { readonly delta?: { readonly content?: string | null } }[]
      }
      return choices[0]?.delta?.content ?? ''
    })
    .join('')
}
