/** Explain is reality: what is said of an answer is what the upstream was sent for it. */
import { describe, expect, test } from 'vitest'
import { openaiFor, startGateway, upstreams } from '../support/gateway.ts'
import { expectExplained, pictureOf, type Explained } from '../support/explained.ts'
import { answerJson, startUpstream } from '../support/upstream.ts'
import { serviceTown } from '../support/services/service-town.ts'
import { LOOK, WIRE_MODELS } from '../support/wire-models.ts'

const town = serviceTown()

const TOOL = { type: 'function' as const, ...LOOK, strict: true }
const LENGTHY = 'degrees '.repeat(300)

interface Turn {
  readonly id: string
  readonly calls: readonly string[]
}

async function respond(body: Record<string, unknown>, isStreamed: boolean): Promise<Turn> {
  const { responses } = town.gateway.openai
  const asked = { tools: [TOOL], instructions: 'Be brief.', ...body } as never
  const response = isStreamed
    ? await responses.stream(asked).finalResponse()
    : await responses.create(asked)
  const { id, output } = response as { id: string; output: { type: string; call_id?: string }[] }
  const calls = output.flatMap(({ call_id: call }) => (call === undefined ? [] : [call]))
  return { id, calls }
}

/** A conversation of three turns, each compared with what arrived. */
async function explainedTurns(model: string, isStreamed: boolean): Promise<readonly Explained[]> {
  const explain = (id: string) => expectExplained(town.gateway, town.services, id)
  const first = await respond({ model, input: 'Look at Oslo, please.' }, isStreamed)
  const told = [await explain(first.id)]
  const outputs = first.calls.map((call) => {
    return { type: 'function_call_output', call_id: call, output: LENGTHY }
  })
  const input = outputs.length > 0 ? outputs : 'And then?'
  const second = await respond({ model, input, previous_response_id: first.id }, isStreamed)
  told.push(await explain(second.id))
  const third = await respond(
    {
      model,
      input: 'Thanks! 😀',
      previous_response_id: second.id,
      backstory: { outputs: { keep_turns: 0, step: 1 } },
    },
    isStreamed,
  )
  told.push(await explain(third.id))
  return told
}

describe.each(WIRE_MODELS)('$model', ({ model }) => {
  test.each([false, true])('responses, streamed: %s (C36, C45)', async (isStreamed) => {
    const [first, second, third] = await explainedTurns(model, isStreamed)
    expect(first?.cache).toMatchObject({ previous: null, first_difference: null })
    expect(second?.cache['cause']).toMatchObject({ who: 'nobody' })
    // What was cut since broke the prefix, and is named as what did.
    expect(third?.cache['cause']).toMatchObject({
      who: 'gateway',
      by: 'shorten-tool-outputs',
      why: 'output-too-old',
    })
    const { byte = -1 } = (third?.cache['first_difference'] ?? {}) as { byte?: number }
    const [before, now] = town.services.received.slice(-2).map(({ text }) => Buffer.from(text))
    expect(now?.subarray(byte, byte + 40)).not.toEqual(before?.subarray(byte, byte + 40))
  })

  test.each([false, true])('chat, streamed: %s', async (isStreamed) => {
    const body = {
      model,
      store: true,
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Say hello.' },
      ],
      stream: isStreamed,
    }
    const answer = await town.gateway.post('/v1/chat/completions', body)
    const [id = ''] = /chatcmpl-\w+/.exec(await answer.text()) ?? []
    const told = await expectExplained(town.gateway, town.services, id)
    expect(told.items.list.map(({ role }) => role)).toEqual(['system', 'user'])
    expect(told['usage']).toMatchObject({ input_tokens: 100 })
  })
})

test('a text client’s turn is explained with what was remembered for it', async () => {
  const headers = { 'user-agent': 'Open WebUI', 'x-openwebui-chat-id': 'explained' }
  const ask = async (messages: unknown[]) => {
    const body = { model: 'claude-sonnet-5', reasoning_effort: 'high', messages, stream: false }
    const answer = await town.gateway.post('/v1/chat/completions', body, headers)
    return (await answer.json()) as { id: string; choices: { message: { content: string } }[] }
  }
  const question = { role: 'user', content: 'Think about Oslo.' }
  const first = await ask([question])
  await expectExplained(town.gateway, town.services, first.id)
  const said = { role: 'assistant', content: first.choices[0]?.message.content }
  const second = await ask([question, said, { role: 'user', content: 'And Bergen?' }])
  const told = await expectExplained(town.gateway, town.services, second.id)
  expect(told.items.list).toContainEqual(
    expect.objectContaining({ type: 'reasoning', from: 'memory', fate: 'added' }),
  )
})

test('after a fallback it is the request of the upstream that answered', async () => {
  const broken = await startUpstream(answerJson(500, {}))
  const [account] = upstreamsOf(town.services.environment)
  const gateway = await startGateway({
    ...upstreams(
      { name: 'broken', wire: 'chat', models: ['other'], baseUrl: broken.url },
      { ...account, models: ['gpt-*'] },
    ),
    MODELS: JSON.stringify({ best: ['other', 'gpt-5'] }),
  })
  const response = await gateway.openai.responses.create({ model: 'best', input: 'Say hello.' })
  const told = await expectExplained(gateway, town.services, response.id)
  expect(told.upstream).toMatchObject({ name: account?.['name'], model: 'gpt-5' })
  expect(broken.received).toHaveLength(1)
  await gateway.close()
  await broken.close()
})

function upstreamsOf({ UPSTREAMS = '[]' }: Readonly<Record<string, string>>) {
  return JSON.parse(UPSTREAMS) as Record<string, unknown>[]
}

test('a window is seen in every item that it leaves out', async () => {
  const messages = Array.from({ length: 21 }, (_, at) => ({
    role: at % 2 === 0 ? 'user' : 'assistant',
    content: `Message ${at}, with some words.`,
  }))
  const body = { model: 'gpt-5', input: messages, backstory: { window: { turns: 3 } } }
  const { id } = await respond(body, false)
  const told = await expectExplained(town.gateway, town.services, id)
  const dropped = told.items.list.filter(({ fate }) => fate === 'dropped')
  expect(dropped.length).toBeGreaterThan(4)
  expect(dropped[0]?.['reasons']).toMatchObject([
    { sentence: expect.stringMatching(/\.$/) as string },
  ])
  expect(told['policy']).toMatchObject({
    changes: [{ field: 'window.turns', value: 3, preset: null, by: 'request' }],
  })
  const picture = await pictureOf(town.gateway, id)
  expect(picture).toContain('window.turns = 3 (request)')
  expect(picture.split('\n').filter((line) => line.startsWith('-'))).toHaveLength(dropped.length)
})

test('the dry run says the same as the answer, the cache included', async () => {
  const first = await respond({ model: 'gpt-5', input: 'Say hello.' }, false)
  const next = {
    tools: [TOOL],
    instructions: 'Be brief.',
    model: 'gpt-5',
    input: 'And again.',
    previous_response_id: first.id,
  }
  const dry = (await (await town.gateway.post('/v1/context/explain', next)).json()) as Explained
  const { id } = await respond(next, false)
  const told = await expectExplained(town.gateway, town.services, id)
  expect(told.upstream).toEqual(dry.upstream)
  expect(told.items).toEqual(dry.items)
  expect(told.cache).toMatchObject(dry.cache)
  expect(told.cache['first_difference']).toMatchObject({ path: 'input[1]' })
})

test('what the provider has counted sets right all that is estimated, alike (C45)', async () => {
  const upstream = await startUpstream(
    answerJson(200, {
      id: 'x',
      object: 'chat.completion',
      model: 'counting',
      choices: [
        { index: 0, message: { role: 'assistant', content: 'Yes.' }, finish_reason: 'stop' },
      ],
      usage: { prompt_tokens: 1000, completion_tokens: 2, total_tokens: 1002 },
    }),
  )
  const quirks = { contextWindow: 9000 }
  const account = { name: 'u', wire: 'chat', baseUrl: upstream.url, models: ['counting'], quirks }
  const gateway = await startGateway(upstreams(account))
  const asked = { model: 'counting', backstory: { policy: 'replay' } }
  const ask = async (body: object) =>
    (await (await gateway.post('/v1/responses', { ...asked, ...body })).json()) as { id: string }
  const first = await ask({ input: 'word '.repeat(400) })
  const next = { input: 'More.', previous_response_id: first.id }
  const dry = await gateway.post('/v1/context/explain', { ...asked, ...next })
  const { size, parts } = (await dry.json()) as Record<'size' | 'parts', Sizes>
  const { id } = await ask(next)
  const told = await expectExplained(gateway, upstream, id)
  expect({ size: told['size'], parts: told['parts'] }).toEqual({ size, parts })

  const { sent, full_replay: whole } = size
  expect(sent?.estimated_tokens).toBeGreaterThan(1000)
  expect(whole).toEqual(sent)
  const tokens = Object.values(parts).reduce((sum, part) => sum + Number(part.tokens), 0)
  expect(tokens).toBe(sent?.estimated_tokens)
  expect(parts['overhead']?.tokens).toBeLessThan(50)
  const ofItems = told.items.list.reduce((sum, item) => sum + Number(item['tokens']), 0)
  expect(Math.abs(ofItems - tokens)).toBeLessThan(100)
  await gateway.close()
  await upstream.close()
})

type Sizes = Readonly<
  Record<string, { readonly tokens?: number; readonly estimated_tokens?: number }>
>

test('a header tells it in one line, and only who asks is told (C102)', async () => {
  const body = { model: 'gpt-5', input: 'Say hello.', stream: true }
  const headers = { 'x-backstory-explain': 'true' }
  const answer = await town.gateway.post('/v1/responses', body, headers)
  expect(await answer.text()).toContain('response.completed')
  expect(answer.headers.get('x-backstory-context')).toMatch(
    /^policy=retain; items=1; sent=1; changed=0; added=0; dropped=0; tokens=\d+; cached=0$/,
  )
  const silent = await town.gateway.post('/v1/responses', body)
  expect(await silent.text()).toContain('response.completed')
  expect(silent.headers.get('x-backstory-context')).toBeNull()
})

test('nobody else’s request is there, and none that was deleted or never was', async () => {
  const gateway = await startGateway({
    ...town.services.environment,
    BACKSTORY_KEYS: 'ada:one,bob:two',
    TRUST_USER_HEADERS: 'on',
  })
  const explained = (id: string, key: string, user?: string) =>
    fetch(`${gateway.url}/v1/context/explain/${id}`, {
      headers: {
        authorization: `Bearer ${key}`,
        ...(user === undefined ? {} : { 'x-backstory-user': user }),
      },
    })
  const ada = openaiFor(gateway.url, 'one')
  const { id } = await ada.responses.create({ model: 'gpt-5', input: 'Say hello.' })
  expect((await explained(id, 'one')).status).toBe(200)
  for (const answer of [
    await explained(id, 'two'),
    await explained(id, 'one', 'eve'),
    await explained('resp_01KQZ3V8M6T2X9R4B7C9', 'one'),
    await explained('nonsense', 'one'),
  ]) {
    expect(answer.status).toBe(404)
    expect(await answer.json()).toMatchObject({ error: { type: 'invalid_request_error' } })
  }
  const odd = await fetch(`${gateway.url}/v1/context/explain/${id}?format=odd`, {
    headers: { authorization: 'Bearer one' },
  })
  expect(odd.status).toBe(400)
  expect(await odd.json()).toMatchObject({ error: { param: 'format' } })
  await ada.responses.delete(id)
  expect((await explained(id, 'one')).status).toBe(404)
  await gateway.close()
})

test('with EXPLAIN_KEEP=off nothing is kept, and answers are as ever', async () => {
  const gateway = await startGateway({ ...town.services.environment, EXPLAIN_KEEP: 'off' })
  const { id } = await gateway.openai.responses.create({ model: 'gpt-5', input: 'Say hello.' })
  expect((await fetch(`${gateway.url}/v1/context/explain/${id}`)).status).toBe(404)
  await gateway.close()
})

test('a request that cannot be kept costs its answer nothing', async () => {
  const unexplained = 'Keeping requests fails on purpose.'
  const gateway = await startGateway(town.services.environment, { unexplained })
  const { requests } = gateway.dependencies
  Object.assign(requests, { keepRequest: () => Promise.reject(new Error('The disk is full.')) })
  const response = await gateway.openai.responses.create({ model: 'gpt-5', input: 'Say hello.' })
  expect(response.status).toBe('completed')
  expect(gateway.log).toContainEqual(
    expect.objectContaining({ level: 'warn', event: 'request-not-kept' }),
  )
  await gateway.close()
})
