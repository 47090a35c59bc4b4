/** A model that speaks of a tag for thinking has its own words again, although Open WebUI cuts them. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startGateway, upstreams } from '../../support/gateway.ts'
import { keptOf } from '../../support/open-webui/think-tags.ts'
import { startUpstream, type Upstream } from '../../support/upstream.ts'
import { speak } from '../../support/wires.ts'

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
  const asked = { model: 'm', stream: true, messages }
  const response = await gateway.post('/v1/chat/completions', asked, headers)
  const lines = (await response.text()).split('\n').filter((line) => line.startsWith('data: {'))
  const chunks = lines.map((line) => JSON.parse(line.slice(6)) as Chunk)
  return chunks.flatMap(({ choices = [] }) => choices[0]?.delta.content ?? '').join('')
}

describe.each([
  ['with a marker', { 'X-Backstory-Chat': 'c', 'X-Backstory-Message': 'm' }],
  ['by its words', {}],
])('%s', (how, headers) => {
  test('it is given what it said, with its thoughts', async () => {
    upstream.behave = speak({ reasoning: 'Hm.', text: WORDS })
    const question = { role: 'user', content: `How do I let it think, ${how}?` }
    const kept = keptOf(await ask([question], headers))
    expect(kept).not.toContain('<think>')
    const next = { role: 'user', content: 'And?' }
    await ask([question, { role: 'assistant', content: kept }, next], headers)
    const said = { role: 'assistant', content: WORDS, reasoning_content: 'Hm.' }
    expect(upstream.received.at(-1)?.json['messages']).toMatchObject([question, said, next])
    // Who edits them is believed.
    const edited = { role: 'assistant', content: `${kept} Always.` }
    await ask([question, edited, next], headers)
    expect(JSON.stringify(upstream.received.at(-1)?.json['messages'])).not.toContain('<think>')
  })
})
