/** Explain endpoint: the explanation of an answer matches the request that the upstream received for it. */
import { describe, expect, test } from 'vitest'
import { openaiFor, startGateway, upstreams } from '../support/gateway.ts'
import { expectExplained, textViewOf, type Explanation } from '../support/compare-explanations.ts'
import { answerJson, startUpstream } from '../support/upstream.ts'
import { useGatewayWithServices } from '../support/services/gateway-with-services.ts'
import { LOOK_TOOL, WIRE_MODELS } from '../support/wire-models.ts'

const setup = useGatewayWithServices()

const TOOL = { type: 'function' as const, ...LOOK_TOOL, strict: true }
const LENGTHY = 'degrees '.repeat(1500)

interface Turn {
  readonly id: string
  readonly calls: readonly string[]
}

async function respond(body: Record<string, unknown>, isStreamed: boolean): Promise<Turn> {
  const { responses } = setup.gateway.openai
  const requestFields = { tools: [TOOL], instructions: 'Be brief.', ...body } as never
  const response = isStreamed
    ? await responses.stream(requestFields).finalResponse()
    : await responses.create(requestFields)
  const { id, output } = response as { id: string; output: { type: string; call_id?: string }[] }
  const calls = output.flatMap(({ call_id: call }) => (call === undefined ? [] : [call]))
  return { id, calls }
}

/**
 * Plays a conversation of three turns and compares each explanation with the request that the upstream
 * received.
 */
async function playExplainedTurns(
  model: string,
  isStreamed: boolean,
): Promise<readonly Explanation[]> {
  const explain = (id: string) => expectExplained(setup.gateway, setup.services, id)
  const first = await respond({ model, input: 'Look at Oslo, please.' }, isStreamed)
  const result = [await explain(first.id)]
  const outputs = first.calls.map((call) => {
    return { type: 'function_call_output', call_id: call, output: LENGTHY }
  })
  const input = outputs.length > 0 ? outputs : 'And then?'
  const second = await respond({ model, input, previous_response_id: first.id }, isStreamed)
  result.push(await explain(second.id))
  const third = await respond(
    {
      model,
      input: 'Thanks! 😀',
      previous_response_id: second.id,
      backstory: { outputs: { keep_turns: 0, step: 1 }, cuts: { min_chars: 0 } },
    },
    isStreamed,
  )
  result.push(await explain(third.id))
  return result
}

describe.each(WIRE_MODELS)('explanations of requests to $model', ({ model }) => {
  test.each([false, true])(
    'explain shows the items, notes and cache of responses (streamed: %s) (C36, C45)',
    async (isStreamed) => {
      const [first, second, third] = await playExplainedTurns(model, isStreamed)
      expect(first?.cache).toMatchObject({ previous: null, first_difference: null })
      expect(second?.cache['cause']).toMatchObject({ who: 'nobody' })
      // The tool output that was shortened since then changed the prefix, and explain names that transform.
      expect(third?.cache['cause']).toMatchObject({
        who: 'gateway',
        by: 'shorten-tool-outputs',
        why: 'output-too-old',
      })
      const { byte = -1 } = (third?.cache['first_difference'] ?? {}) as { byte?: number }
      const [before, now] = setup.services.received.slice(-2).map(({ text }) => Buffer.from(text))
      expect(now?.subarray(byte, byte + 40)).not.toEqual(before?.subarray(byte, byte + 40))
    },
  )

  test.each([false, true])(
    'explain shows the items, notes and cache of stored chats (streamed: %s)',
    async (isStreamed) => {
      const body = {
        model,
        store: true,
        messages: [
          { role: 'system', content: 'Be brief.' },
          { role: 'user', content: 'Say hello.' },
        ],
        stream: isStreamed,
      }
      const answer = await setup.gateway.post('/v1/chat/completions', body)
      const [id = ''] = /chatcmpl-\w+/.exec(await answer.text()) ?? []
      const result = await expectExplained(setup.gateway, setup.services, id)
      expect(result.items.list.map(({ role }) => role)).toEqual(['system', 'user'])
      expect(result['usage']).toMatchObject({ input_tokens: 100 })
    },
  )
})

test('explain shows the recalled items in a turn of a client that sends only text', async () => {
  const headers = { 'user-agent': 'Open WebUI', 'x-openwebui-chat-id': 'explained' }
  const ask = async (messages: unknown[]) => {
    const body = { model: 'claude-sonnet-5', reasoning_effort: 'high', messages, stream: false }
    const answer = await setup.gateway.post('/v1/chat/completions', body, headers)
    return (await answer.json()) as { id: string; choices: { message: { content: string } }[] }
  }
  const question = { role: 'user', content: 'Think about Oslo.' }
  const first = await ask([question])
  await expectExplained(setup.gateway, setup.services, first.id)
  const reply = { role: 'assistant', content: first.choices[0]?.message.content }
  const second = await ask([question, reply, { role: 'user', content: 'And Bergen?' }])
  const result = await expectExplained(setup.gateway, setup.services, second.id)
  expect(result.items.list).toContainEqual(
    expect.objectContaining({ type: 'reasoning', from: 'memory', fate: 'added' }),
  )
})

test('after a fallback, explain shows the request to the upstream that answered', async () => {
  const broken = await startUpstream(answerJson(500, {}))
  const [account] = upstreamsOf(setup.services.environment)
  const gateway = await startGateway({
    ...upstreams(
      { name: 'broken', wire: 'chat', models: ['other'], baseUrl: broken.url },
      { ...account, models: ['gpt-*'] },
    ),
    MODELS: JSON.stringify({ best: ['other', 'gpt-5'] }),
  })
  const response = await gateway.openai.responses.create({ model: 'best', input: 'Say hello.' })
  const result = await expectExplained(gateway, setup.services, response.id)
  expect(result.upstream).toMatchObject({ name: account?.['name'], model: 'gpt-5' })
  expect(broken.received).toHaveLength(1)
  await gateway.close()
  await broken.close()
})

function upstreamsOf({ UPSTREAMS = '[]' }: Readonly<Record<string, string>>) {
  return JSON.parse(UPSTREAMS) as Record<string, unknown>[]
}

test('explain marks every item that a window drops', async () => {
  const messages = Array.from({ length: 21 }, (_, at) => ({
    role: at % 2 === 0 ? 'user' : 'assistant',
    content: `Message ${at}, with some words.`,
  }))
  const body = { model: 'gpt-5', input: messages, backstory: { window: { turns: 3 } } }
  const { id } = await respond(body, false)
  const result = await expectExplained(setup.gateway, setup.services, id)
  const dropped = result.items.list.filter(({ fate }) => fate === 'dropped')
  expect(dropped.length).toBeGreaterThan(4)
  expect(dropped[0]?.['reasons']).toMatchObject([
    { sentence: expect.stringMatching(/\.$/) as string },
  ])
  expect(result['policy']).toMatchObject({
    changes: [{ field: 'window.turns', value: 3, preset: null, by: 'request' }],
  })
  const picture = await textViewOf(setup.gateway, id)
  expect(picture).toContain('window.turns = 3 (request)')
  expect(picture.split('\n').filter((line) => line.startsWith('-'))).toHaveLength(dropped.length)
})

test('a dry run shows the same as the explanation of the answer, including the cache', async () => {
  const first = await respond({ model: 'gpt-5', input: 'Say hello.' }, false)
  const next = {
    tools: [TOOL],
    instructions: 'Be brief.',
    model: 'gpt-5',
    input: 'And again.',
    previous_response_id: first.id,
  }
  const dry = (await (await setup.gateway.post('/v1/context/explain', next)).json()) as Explanation
  const { id } = await respond(next, false)
  const result = await expectExplained(setup.gateway, setup.services, id)
  expect(result.upstream).toEqual(dry.upstream)
  expect(result.items).toEqual(dry.items)
  expect(result.cache).toMatchObject(dry.cache)
  expect(result.cache['first_difference']).toMatchObject({ path: 'input[1]' })
})

test("explain scales all estimates by the provider's token count (C45)", async () => {
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
  const requestFields = { model: 'counting', backstory: { policy: 'replay' } }
  const ask = async (body: object) =>
    (await (await gateway.post('/v1/responses', { ...requestFields, ...body })).json()) as {
      id: string
    }
  const first = await ask({ input: 'word '.repeat(400) })
  const next = { input: 'More.', previous_response_id: first.id }
  const dry = await gateway.post('/v1/context/explain', { ...requestFields, ...next })
  const { size, parts } = (await dry.json()) as Record<'size' | 'parts', Sizes>
  const { id } = await ask(next)
  const result = await expectExplained(gateway, upstream, id)
  expect({ size: result['size'], parts: result['parts'] }).toEqual({ size, parts })

  const { sent, full_replay: whole } = size
  expect(sent?.estimated_tokens).toBeGreaterThan(1000)
  expect(whole).toEqual(sent)
  const tokens = Object.values(parts).reduce((sum, part) => sum + Number(part.tokens), 0)
  expect(tokens).toBe(sent?.estimated_tokens)
  expect(parts['overhead']?.tokens).toBeLessThan(50)
  const ofItems = result.items.list.reduce((sum, item) => sum + Number(item['tokens']), 0)
  expect(Math.abs(ofItems - tokens)).toBeLessThan(100)
  await gateway.close()
  await upstream.close()
})

type Sizes = Readonly<
  Record<string, { readonly tokens?: number; readonly estimated_tokens?: number }>
>

test('the header X-Backstory-Context summarizes the explanation for clients that request it (C102)', async () => {
  const body = { model: 'gpt-5', input: 'Say hello.', stream: true }
  const headers = { 'x-backstory-explain': 'true' }
  const answer = await setup.gateway.post('/v1/responses', body, headers)
  expect(await answer.text()).toContain('response.completed')
  expect(answer.headers.get('x-backstory-context')).toMatch(
    /^policy=retain; items=1; sent=1; changed=0; added=0; dropped=0; tokens=\d+; cached=0$/,
  )
  const silent = await setup.gateway.post('/v1/responses', body)
  expect(await silent.text()).toContain('response.completed')
  expect(silent.headers.get('x-backstory-context')).toBeNull()
})

test('explain returns 404 for requests of other users, deleted requests and unknown ids', async () => {
  const gateway = await startGateway({
    ...setup.services.environment,
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

test('EXPLAIN_KEEP=off stores no upstream requests', async () => {
  const gateway = await startGateway({ ...setup.services.environment, EXPLAIN_KEEP: 'off' })
  const { id } = await gateway.openai.responses.create({ model: 'gpt-5', input: 'Say hello.' })
  expect((await fetch(`${gateway.url}/v1/context/explain/${id}`)).status).toBe(404)
  await gateway.close()
})

test('an answer succeeds even if its upstream request cannot be stored', async () => {
  const unexplained = 'Keeping requests fails on purpose.'
  const gateway = await startGateway(setup.services.environment, { unexplained })
  const { requests } = gateway.dependencies
  Object.assign(requests, { saveRequests: () => Promise.reject(new Error('The disk is full.')) })
  const response = await gateway.openai.responses.create({ model: 'gpt-5', input: 'Say hello.' })
  expect(response.status).toBe('completed')
  expect(gateway.log).toContainEqual(
    expect.objectContaining({ level: 'warn', event: 'request-not-kept' }),
  )
  await gateway.close()
})
