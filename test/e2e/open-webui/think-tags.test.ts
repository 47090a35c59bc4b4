/** A model that writes about `<think>` tags gets its full text back, although Open WebUI cuts the tags out. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startGateway, upstreams } from '../../support/gateway.ts'
import { textSentBack } from '../../support/open-webui/think-tags.ts'
import { startUpstream, type Upstream } from '../../support/upstream.ts'
import { answerWith } from '../../support/answer-formats.ts'

const WORDS = 'Use the <think> tag, as <think>x</think> does.'

let upstream: Upstream
let gateway: Awaited<ReturnType<typeof startGateway>>
beforeAll(async () => {
  upstream = await startUpstream()
  const quirks = { reasoningField: 'reasoning_content' }
  const account = { name: 'c', wire: 'chat', baseUrl: upstream.url, apiKey: 'k', quirks }
  gateway = await startGateway({ CONTEXT: 'replay', ...upstreams(account) })
})
afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

interface Chunk {
  readonly choices?: readonly { readonly delta: { readonly content?: string | null } }[]
}

async function ask(messages: readonly object[], headers: object): Promise<string> {
  const request = { model: 'm', stream: true, messages }
  const response = await gateway.post('/v1/chat/completions', request, headers)
  const lines = (await response.text()).split('\n').filter((line) => line.startsWith('data: {'))
  const chunks = lines.map((line) => JSON.parse(line.slice(6)) as Chunk)
  return chunks.flatMap(({ choices = [] }) => choices[0]?.delta.content ?? '').join('')
}

describe.each([
  ['found by its marker', { 'X-Backstory-Chat': 'c', 'X-Backstory-Message': 'm' }],
  ['found by its text', {}],
])('an answer with `<think>` tags that is %s', (how, headers) => {
  test('the gateway restores the text and the reasoning of an answer that writes about `<think>` tags', async () => {
    upstream.behave = answerWith({ reasoning: 'Hm.', text: WORDS })
    const question = { role: 'user', content: `How do I let it think, ${how}?` }
    const storedItem = textSentBack(await ask([question], headers))
    expect(storedItem).not.toContain('<think>')
    const next = { role: 'user', content: 'And?' }
    await ask([question, { role: 'assistant', content: storedItem }, next], headers)
    const reply = { role: 'assistant', content: WORDS, reasoning_content: 'Hm.' }
    expect(upstream.received.at(-1)?.json['messages']).toMatchObject([question, reply, next])
    // An edit of the user replaces the stored text.
    const edited = { role: 'assistant', content: `${storedItem} Always.` }
    await ask([question, edited, next], headers)
    expect(JSON.stringify(upstream.received.at(-1)?.json['messages'])).not.toContain('<think>')
  })
})
