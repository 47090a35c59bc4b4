/**
 * The user presses Stop at the first text after reasoning, before the gateway had time to store it. A client
 * with any text of the answer has its marker, and the reasoning comes back.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeStoreFail, NO_FAULTS, type FailingStore } from '../../support/failing-store.ts'
import { startGateway } from '../../support/gateway.ts'
import { startTestSetup, type TestSetup } from '../../support/open-webui/test-setup.ts'
import { answerSse, startUpstream, type Upstream } from '../../support/upstream.ts'
import { chatStream } from '../../support/answer-formats.ts'

describe.concurrent.each(['gpt-5', 'claude-opus-5', 'glm-5'])(
  'answers of %s that the user stops at the first text after reasoning',
  (model) => {
    let setup: TestSetup
    beforeAll(async () => void (setup = await startTestSetup('full', {}, 0)))
    afterAll(() => setup.close())

    test.each(['chat', 'responses'] as const)(
      'the gateway recalls the reasoning of stopped answers, over a %s connection',
      async (connection) => {
        const session = setup.session({ connection }, { model })
        await session.ask('R~T')
        await session.ask('RT')
        await session.ask('RTR~T')
        await session.ask('RC|R~T')
        await session.continueAnswer('RC|R~T')
        await session.ask('RT')
        expect(session.problems()).toEqual([])
      },
    )
  },
)

const OPEN_WEBUI = { 'x-backstory-chat': 'c', 'x-backstory-message': 'm' }
const MARKER = /^\[[0-9A-Z]{20}\]: #\n\n/

describe('stopped answers of a chat upstream, whose stream does not mark the end of reasoning', () => {
  let upstream: Upstream
  let gateway: Awaited<ReturnType<typeof startGateway>>
  let memory: FailingStore
  beforeAll(async () => {
    upstream = await startUpstream()
    const account = { name: 'c', wire: 'chat', baseUrl: upstream.url }
    gateway = await startGateway({
      UPSTREAMS: JSON.stringify([{ ...account, quirks: { reasoningField: 'reasoning_content' } }]),
      // Stopping the gateway does not wait for writes that hang.
      DRAIN_SECONDS: '0',
      MARKERS: 'always',
    })
    memory = makeStoreFail(gateway.dependencies)
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

  /** Returns the text that the client has if it stops as soon as it reads the given words. */
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

  test('with MARKERS=always, the first text of an answer has a marker by which its reasoning is recalled', async () => {
    upstream.behave = answerSse(
      chatStream({ reasoning: 'Cold.', text: 'Because' }).slice(0, -3),
      'hang',
    )
    const stored = await stoppedAt('Bec')
    expect(stored).toMatch(MARKER)
    upstream.behave = answerSse(chatStream({ text: 'Yes.' }))
    const answer = { role: 'assistant', content: stored }
    await (await ask([question, answer, { role: 'user', content: 'So?' }])).text()
    expect(upstream.received.at(-1)?.text).toContain('"reasoning_content":"Cold."')
  })

  test.each(['openTurn', 'journalItems'] as const)(
    'a store method %s that hangs does not delay the first text',
    async (verb) => {
      memory.faultRule = (asked) => (asked === verb ? 'hangs' : 'none')
      upstream.behave = answerSse(
        chatStream({ reasoning: 'Cold.', text: 'Because' }).slice(0, -3),
        'hang',
      )
      expect(await stoppedAt('Because')).toBe('Because')
      // The same if the answer is already complete, for which the gateway waits longer.
      upstream.behave = answerSse([chatStream({ reasoning: 'Cold.', text: 'Because' }).join('')])
      expect(await stoppedAt('Because')).toBe('Because')
      memory.faultRule = NO_FAULTS
    },
  )
})

/** Returns the text in the part of a stream that was read. */
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
