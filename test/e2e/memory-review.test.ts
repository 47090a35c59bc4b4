/** What a close look at the memory for text clients has found. */
import { expect, test } from 'vitest'
import { openEngine } from '../../src/store/open-store.ts'
import { createStores } from '../../src/store/stores.ts'
import { startGateway, upstreams } from '../support/gateway.ts'
import { answerJson, startUpstream, type Upstream } from '../support/upstream.ts'
import { assistant, ending, newTurn, placed, user } from '../store/turns.ts'

const MODEL = 'gpt-5'

function answering(words: string, thought: string | null) {
  return answerJson(200, {
    id: 'c1',
    object: 'chat.completion',
    created: 1,
    model: MODEL,
    choices: [
      {
        index: 0,
        finish_reason: 'stop',
        message: {
          role: 'assistant',
          content: words,
          ...(thought === null ? {} : { reasoning_content: thought }),
        },
      },
    ],
  })
}

async function withGateway(
  run: (gateway: Awaited<ReturnType<typeof startGateway>>, upstream: Upstream) => Promise<void>,
  environment = {},
): Promise<void> {
  const upstream = await startUpstream()
  const gateway = await startGateway({
    ...upstreams({
      name: 'up',
      wire: 'chat',
      baseUrl: upstream.url,
      apiKey: 'k',
      quirks: { reasoningField: 'reasoning_content' },
    }),
    ...environment,
  })
  try {
    await run(gateway, upstream)
  } finally {
    await gateway.close()
    await upstream.close()
  }
}

const said = (role: string, content: string) => ({ role, content })

test('a turn at hand is recalled though the cache is full', async () => {
  const stores = createStores(await openEngine('sqlite::memory:'))
  const keep = async (size: number) => {
    const turn = newTurn({ tenant: 't', input: [user('q')] })
    await stores.store.openTurn(turn)
    await stores.store.closeTurn(
      ending(turn, { items: placed([assistant('x'.repeat(size))]) }),
    )
    return turn.id
  }
  const find = async (turnIds: readonly string[]) => {
    const keys = { tenant: 't', user: null, turnIds, callIds: [], fingerprints: [] }
    return (await stores.recall.findTurns(keys)).map(({ id }) => id).toSorted()
  }
  const chat = [await keep(3_000_000), await keep(3_000_000)].toSorted()
  expect(await find(chat)).toEqual(chat)
  // Others fill the cache.
  for (let other = 0; other < 3; other += 1) await find([await keep(3_300_000)])
  const later = [...chat, await keep(3_000_000)].toSorted()
  expect(await find(later)).toEqual(later)
})

test('reasoning about one text is not given to a chat about another', async () => {
  await withGateway(async (gateway, upstream) => {
    const rule = 'Answer only yes or no.'
    upstream.behave = answering('Yes.', 'The secret of Alice is in her text.')
    await gateway.post('/v1/chat/completions', {
      model: MODEL,
      messages: [said('user', `Is 7 a prime?\n${rule}`)],
    })
    upstream.behave = answering('Good.', null)
    await gateway.post('/v1/chat/completions', {
      model: MODEL,
      messages: [
        said('user', `Is Paris in France?\n${rule}`),
        said('assistant', 'Yes.'),
        said('user', 'Good.'),
      ],
    })
    expect(upstream.received.at(-1)?.text).not.toContain('secret of Alice')
  })
})

test('an edit of blanks in an answer is the edit that is sent', async () => {
  await withGateway(async (gateway, upstream) => {
    const answer = '```python\nfor x in y:\nprint(x)\n```'
    const edited = '```python\nfor x in y:\n    print(x)\n```'
    upstream.behave = answering(answer, 'Thought.')
    await gateway.post('/v1/chat/completions', { model: MODEL, messages: [said('user', 'Code?')] })
    const messages = [said('user', 'Code?'), said('assistant', edited), said('user', 'Run it.')]
    const explained = await gateway.post('/v1/context/explain', { model: MODEL, messages })
    console.log(JSON.stringify(((await explained.json()) as any).notes))
    await gateway.post('/v1/chat/completions', { model: MODEL, messages })
    expect(upstream.received.at(-1)?.text).toContain('    print(x)')
  })
})

const OWUI = { 'x-backstory-chat': 'c-1', 'x-backstory-message': 'm-1' }

test('housekeeping on a responses connection leaves no turn', async () => {
  await withGateway(async (gateway, upstream) => {
    upstream.behave = answering('{"title":"T"}', null)
    const asked = await gateway.post(
      '/v1/responses',
      { model: MODEL, input: 'Title?' },
      { ...OWUI, 'x-backstory-task': 'title_generation' },
    )
    const { id } = (await asked.json()) as { id: string }
    const found = await fetch(`${gateway.url}/v1/responses/${id}`)
    expect(found.status).toBe(404)
  })
})

test('a temporary chat on a responses connection is not kept for ever', async () => {
  await withGateway(async (gateway, upstream) => {
    upstream.behave = answering('Hello', 'Thought.')
    const asked = await gateway.post(
      '/v1/responses',
      { model: MODEL, input: 'Hi' },
      { 'x-backstory-chat': 'local:tab' },
    )
    const { id } = (await asked.json()) as { id: string }
    const chain = await gateway.world.store.loadChain('local', id.slice('resp_'.length))
    console.log(chain?.map((turn) => [turn.tenant, turn.isTemporary]))
    const tenants = ['local', 'default', '']
    const chains = await Promise.all(
      tenants.map((tenant) => gateway.world.store.loadChain(tenant, id.slice(5))),
    )
    expect(chains.find((one) => one !== null)?.at(-1)?.isTemporary).toBe(true)
  })
})

test('a response of another user is not gone on from', async () => {
  await withGateway(
    async (gateway, upstream) => {
      upstream.behave = answering('Hello', 'The secret of Alice.')
      const asked = await gateway.post(
        '/v1/responses',
        { model: MODEL, input: 'Hi' },
        { 'x-backstory-user': 'alice' },
      )
      const { id } = (await asked.json()) as { id: string }
      const bob = { 'x-backstory-user': 'bob' }
      const next = await gateway.post(
        '/v1/responses',
        { model: MODEL, input: 'What was said?', previous_response_id: id },
        bob,
      )
      const read = await fetch(`${gateway.url}/v1/responses/${id}`, { headers: bob })
      console.log('next', next.status, 'read', read.status, upstream.received.at(-1)?.text)
      const gone = await fetch(`${gateway.url}/v1/responses/${id}`, { method: 'DELETE', headers: bob })
      console.log('delete', gone.status)
      expect([next.status, read.status]).toEqual([400, 404])
    },
    { TRUST_USER_HEADERS: 'on' },
  )
})

test('a chat on a responses connection is stored once', async () => {
  await withGateway(async (gateway, upstream) => {
    const input: unknown[] = []
    const sizes: number[] = []
    for (let turn = 0; turn < 5; turn += 1) {
      input.push({ type: 'message', role: 'user', content: [{ type: 'input_text', text: `Q${turn}` }] })
      upstream.behave = answering(`A${turn}`, `T${turn}`)
      const response = await gateway.post('/v1/responses', { model: MODEL, input }, OWUI)
      const body = (await response.json()) as { id: string; output: any[] }
      const text = body.output.find((item) => item.type === 'message').content[0].text
      // As Open WebUI sends it back.
      input.push({ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: text.trim() }] })
      const chain = await gateway.world.store.loadChain('local', body.id.slice(5)) ?? await gateway.world.store.loadChain('default', body.id.slice(5))
      sizes.push(chain?.at(-1)?.input.length ?? -1)
      console.log(JSON.stringify(text), JSON.stringify(chain?.map((t) => [t.depth, t.input])))
    }
    expect(sizes).toEqual([1, 1, 1, 1, 1])
  })
})

test('explain says what is sent to Open WebUI\'s request', async () => {
  await withGateway(async (gateway, upstream) => {
    upstream.behave = answering('Hello', 'Thought.')
    const body = { model: MODEL, stream: true, messages: [said('user', 'Hi')] }
    await (await gateway.post('/v1/chat/completions', body, OWUI)).text()
    const explained = await gateway.post('/v1/context/explain', body, OWUI)
    const { upstream: would } = (await explained.json()) as { upstream: { body: unknown } }
    expect(would.body).toEqual(upstream.received.at(-1)?.json)
  })
})
