/**
 * Summaries that the upstream makes itself (compaction), over both wires that support it and for every way in
 * which a client keeps its conversation.
 */
import type OpenAI from 'openai'
import type { Response, ResponseInputItem } from 'openai/resources/responses/responses'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { isObject, type JsonObject } from '../../src/core/json/json.ts'
import { startGateway } from '../support/gateway.ts'
import { schemaFaults } from '../support/openapi.ts'
import { openChat } from '../support/open-webui/chat.ts'
import { PROFILE_SETTINGS } from '../support/open-webui/headers.ts'
import { shownText } from '../support/open-webui/stored-item.ts'
import { startServices, type Services } from '../support/services/start-services.ts'
import { answerJson } from '../support/upstream.ts'
import { runLookTool, LOOK_TOOL } from '../support/wire-models.ts'

let services: Services
let gateway: Awaited<ReturnType<typeof startGateway>>
let openai: OpenAI
beforeAll(async () => {
  services = await startServices()
  gateway = await startGateway(environment())
  openai = gateway.openai
})
afterAll(async () => {
  await gateway.close()
  await services.close()
})
beforeEach(() => {
  services.behaveWell()
  gateway.log.splice(0)
  for (const list of [services.received, services.refusals, services.dropped]) list.splice(0)
})
afterEach(() => expect([services.refusals, services.dropped]).toEqual([[], []]))

/** Each wire has one account that compacts and one that does not. */
function environment() {
  const account = (name: string, wire: string, models: string, quirks: object, key = '') => ({
    name,
    wire,
    models: [models],
    quirks,
    baseUrl: `${services.url}/${name}`,
    apiKey: `sk-upstream${key}`,
  })
  return {
    UPSTREAMS: JSON.stringify([
      account('claude', 'anthropic', 'claude-*', { compact: true }),
      account('claude-plain', 'anthropic', 'claude-*', {}, '-another'),
      account('openai', 'responses', 'gpt-*', { compact: true }),
      account('openai-plain', 'responses', 'gpt-*', {}, '-another'),
    ]),
    MODELS: JSON.stringify({
      'any-claude': ['claude/claude-opus-5-5', 'claude-plain/claude-opus-5-5'],
      'any-gpt': ['openai/gpt-5.6', 'openai-plain/gpt-5.6'],
    }),
  }
}

interface CompactingUpstream {
  readonly model: string
  /** A model served by this account and by one without compaction. */
  readonly modelWithFallback: string
  readonly above: number
}

const UPSTREAMS: readonly CompactingUpstream[] = [
  { model: 'claude/claude-opus-5-5', modelWithFallback: 'any-claude', above: 50_000 },
  { model: 'claude/claude-sonnet-5', modelWithFallback: 'any-claude', above: 50_000 },
  { model: 'openai/gpt-5.6', modelWithFallback: 'any-gpt', above: 1000 },
]

const HEADER = '[Summary of the earlier part of this conversation.'
const policyWithSummaries = (above: number, more: object = {}) => ({
  summaries: { trigger: 'tokens', by: 'upstream', above, keep_turns: 1, keep_tokens: 0, ...more },
})
/** A text above the threshold that begins with its name. */
const longOf = (name: string, above: number) => `${name} ${'lorem ipsum '.repeat(above / 2)}`

const sent = (): JsonObject => services.received.at(-1)?.json as JsonObject
const textSent = () => services.received.at(-1)?.text ?? ''
const listSent = () => (sent()['messages'] ?? sent()['input']) as readonly JsonObject[]
const partsSent = (...types: string[]) =>
  listSent()
    .flatMap(({ content, ...item }): readonly unknown[] =>
      Array.isArray(content) ? content : [item],
    )
    .filter((part) => isObject(part) && types.includes(String(part['type'])))
const blocksSent = () => partsSent('compaction')
const thoughtsSent = () => partsSent('thinking', 'reasoning')

/**
 * Summaries made by the gateway. The model behind the services repeats its prompt, so assistant messages are
 * ignored.
 */
const summariesSent = () =>
  [sent()['system'], ...listSent().filter(({ role }) => role !== 'assistant')].filter((told) =>
    JSON.stringify(told ?? '').includes(HEADER),
  )

const typesIn = ({ output }: Response) => output.map(({ type }) => type)

/** The upstream request does not depend on whether the client streams. */
type Ask = (question: string | string[], fields?: object) => Promise<Answer>

interface Answer {
  readonly text: string
  readonly types: readonly string[]
}

const asUser = (question: string | string[]) =>
  [question].flat().map((content) => ({ role: 'user' as const, content }))

function byResponseId({ model, above }: CompactingUpstream, isStreamed: boolean): Ask {
  let previous_response_id: string | null = null
  return async (question, fields = {}) => {
    const input = asUser(question)
    const body = {
      model,
      input,
      previous_response_id,
      backstory: policyWithSummaries(above),
      ...fields,
    }
    const response = isStreamed
      ? await openai.responses.stream(body).finalResponse()
      : await openai.responses.create(body)
    previous_response_id = response.id
    return { text: response.output_text, types: typesIn(response) }
  }
}

function byWholeInput({ model, above }: CompactingUpstream, isStreamed: boolean): Ask {
  const reply: ResponseInputItem[] = []
  return async (question, fields = {}) => {
    const input: ResponseInputItem[] = [...reply, ...asUser(question)]
    const body = { model, input, backstory: policyWithSummaries(above), ...fields }
    const response = isStreamed
      ? await openai.responses.stream(body).finalResponse()
      : await openai.responses.create(body)
    reply.push(...asUser(question), ...(response.output as ResponseInputItem[]))
    return { text: response.output_text, types: typesIn(response) }
  }
}

function byChat({ model, above }: CompactingUpstream, isStreamed: boolean): Ask {
  const messages: { role: 'user' | 'assistant'; content: string }[] = []
  return async (question, fields = {}) => {
    const requestFields = [...messages, ...asUser(question)]
    const body = {
      model,
      messages: requestFields,
      backstory: policyWithSummaries(above),
      ...fields,
    }
    const completion = isStreamed
      ? await openai.chat.completions.stream(body).finalChatCompletion()
      : await openai.chat.completions.create(body)
    const text = completion.choices[0]?.message.content ?? ''
    messages.push(...asUser(question), { role: 'assistant', content: text })
    return { text, types: [] }
  }
}

describe.each(UPSTREAMS)('compaction by $model', (upstream) => {
  const { above, model } = upstream

  describe.each([
    ['a chain of responses', byResponseId],
    ['a conversation that its client sends completely', byWholeInput],
    ['a chat', byChat],
  ])('compaction of %s', (kind, begin) => {
    test.each([false, true])(
      'the upstream compacts a long conversation, which continues from the compaction (streamed: %s) (C54, C57)',
      async (isStreamed) => {
        const ask = begin(upstream, isStreamed)
        const long = longOf(`${kind} ${model} ${isStreamed}`, above)
        expect((await ask('First?')).types).not.toContain('compaction')
        const { text, types } = await ask([long, 'What of it?'])
        expect(text).toContain('What of it?')
        if (begin !== byChat) expect(types).toEqual(['compaction', 'reasoning', 'message'])

        const before: JsonObject[][] = []
        for (const question of ['Third?', 'Fourth?', 'Fifth?']) {
          expect((await ask(question)).text).toContain(question)
          before.push([...listSent()])
          expect(blocksSent()).toHaveLength(1)
          expect(summariesSent()).toEqual([])
        }
        // All reasoning after the compaction is sent; that of the first answer is before it.
        expect(thoughtsSent()).toHaveLength(3)
        for (const [at, list] of before.slice(0, -1).entries()) {
          const next = before[at + 1]?.slice(0, list.length)
          expect(unmarked(next)).toEqual(unmarked(list))
        }
        if (!model.startsWith('openai')) expect(textSent()).not.toContain('lorem ipsum')
      },
    )
  })
})

describe('upstreams without compaction', () => {
  const down = (account: string) => {
    const { behave } = services
    services.behave = (response, received) =>
      received.path.includes(`/${account}/`)
        ? answerJson(503, { error: { message: 'Overloaded' } })(response, received)
        : behave(response, received)
  }

  test.each(UPSTREAMS)(
    'an upstream that did not make the compaction is sent the complete conversation ($model) (C52)',
    async (upstream) => {
      const { modelWithFallback: model, above } = upstream
      // The policy keeps 50 turns, so the gateway has nothing to summarize.
      const backstory = policyWithSummaries(above, { keep_turns: 50 })
      const ask: Ask = (question) => byTurns(question, { model, backstory })
      const byTurns = byResponseId(upstream, false)
      const long = longOf(`To be sent to another: ${upstream.model}`, above)
      await ask('First?')
      expect((await ask([long, 'What of it?'])).types[0]).toBe('compaction')
      await ask('Third?')
      expect([blocksSent().length, thoughtsSent().length]).toEqual([1, 1])
      down(upstream.model.split('/')[0] ?? '')
      expect((await ask('Fourth?')).text).toContain('Fourth?')
      expect(services.received.at(-1)?.path).toContain('-plain/')
      expect(textSent()).toContain('First?')
      expect(textSent()).toContain(long)
      expect([blocksSent(), thoughtsSent()]).toEqual([[], []])
      expect(sent()['context_management']).toBeUndefined()
    },
  )

  test('the gateway summarizes if an upstream cannot compact, and no prompt has a summary and a compaction of the same turns (C55, C57)', async () => {
    const upstream = UPSTREAMS[2] as CompactingUpstream
    const { modelWithFallback: model, above } = upstream
    const ask = byResponseId(upstream, false)
    await ask([longOf('To be told once', above), 'What of it?'], { model })
    await ask('Second?', { model })
    expect(blocksSent()).toHaveLength(1)
    down('openai')
    await ask('Third?', { model })
    await summarised()
    services.behaveWell()
    // The summary now covers the compacted turns.
    const fourth = await ask('Fourth?', { model })
    expect(summariesSent()).toHaveLength(1)
    expect(blocksSent()).toEqual([])
    // The compaction repeats the question, so it is over the threshold again.
    expect(fourth.types[0]).toBe('compaction')
    await ask('Fifth?', { model })
    expect(blocksSent()).toHaveLength(1)
    expect(summariesSent()).toEqual([])
  })

  test('the gateway summarizes for the trigger `turns`, which no provider supports', async () => {
    const upstream = UPSTREAMS[2] as CompactingUpstream
    const ask = byResponseId(upstream, false)
    const backstory = policyWithSummaries(1, { trigger: 'turns', above: 2 })
    for (const question of ['One?', 'Two?']) await ask(question, { backstory })
    expect(sent()['context_management']).toBeUndefined()
    await summarised()
    await ask('Three?', { backstory })
    expect(summariesSent()).toHaveLength(1)
  })

  /** Waits for the summary, which is made after the answer. */
  async function summarised(): Promise<void> {
    for (let waits = 0; !gateway.log.some(({ event }) => event === 'summarised'); waits += 1) {
      if (waits > 300) throw new Error(`There is no summary: ${JSON.stringify(gateway.log)}`)
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
    gateway.log.splice(0)
  }
})

describe('the compaction threshold in the upstream request', () => {
  const requestFields = async (model: string, above: number, more: object = {}) => {
    const backstory = policyWithSummaries(above)
    const body = { model, input: 'Servus', store: false, backstory, ...more }
    await openai.responses.create(body)
    return sent()['context_management']
  }
  const compactAt = (compact_threshold: number) => [{ type: 'compaction', compact_threshold }]
  const editAt = (value: number) => ({
    edits: [{ type: 'compact_20260112', trigger: { type: 'input_tokens', value } }],
  })

  test("the compaction threshold is a number of tokens or a share of the window, and never below the provider's minimum (C46)", async () => {
    expect(await requestFields('openai/gpt-5.6', 70_000)).toEqual(compactAt(70_000))
    expect(await requestFields('openai/gpt-5', 0.5)).toEqual(compactAt(136_000))
    expect(await requestFields('openai/gpt-5', 0.001)).toEqual(compactAt(1000))
    expect(await requestFields('claude/claude-sonnet-5', 70_000)).toEqual(editAt(70_000))
    expect(await requestFields('claude/claude-sonnet-5', 0.64)).toEqual(editAt(640_000))
    expect(await requestFields('claude/claude-sonnet-5', 8000)).toEqual(editAt(50_000))
  })

  test("the compaction threshold is omitted for upstreams without compaction, and if the window is below the provider's minimum", async () => {
    expect(await requestFields('openai-plain/gpt-5', 5000)).toBeUndefined()
    expect(await requestFields('claude-plain/claude-sonnet-5', 70_000)).toBeUndefined()
    expect(await requestFields('claude/claude-sonnet-4-5', 70_000)).toBeUndefined()
    const budget = { window: 40_000 }
    const backstory = { ...policyWithSummaries(0.5), budget }
    expect(await requestFields('claude/claude-sonnet-5', 0.5, { backstory })).toBeUndefined()
    expect(await requestFields('openai/gpt-5', 0.5, { backstory })).toEqual(compactAt(20_000))
  })

  test('the compaction threshold is omitted unless the policy requests compaction by the upstream', async () => {
    const by = { by: 'gateway' }
    for (const model of ['openai/gpt-5', 'claude/claude-sonnet-5']) {
      expect(
        await requestFields(model, 70_000, { backstory: policyWithSummaries(70_000, by) }),
      ).toBeUndefined()
      expect(await requestFields(model, 70_000, { backstory: {} })).toBeUndefined()
    }
  })

  test('the compaction threshold is omitted if the compaction could not be stored', async () => {
    const messages = asUser('Servus')
    const backstory = policyWithSummaries(70_000)
    const body = { model: 'openai/gpt-5', messages, backstory }
    await openai.chat.completions.create(body)
    expect(sent()['context_management']).toEqual(compactAt(70_000))
    await openai.chat.completions.create({ ...body, store: false })
    expect(sent()['context_management']).toBeUndefined()
  })

  test("the client's compaction threshold replaces the policy's; Claude gets none, because the gateway compacts itself", async () => {
    const context_management = compactAt(3000)
    expect(await requestFields('openai/gpt-5', 70_000, { context_management })).toEqual(
      compactAt(3000),
    )
    // The gateway compacts for the client here, so the upstream must not compact too.
    const own = await requestFields('claude/claude-sonnet-5', 70_000, { context_management })
    expect(own).toBeUndefined()
  })
})

test.each(UPSTREAMS)(
  'a round with client tools continues after a compaction by $model',
  async ({ model, above }) => {
    const tools = [{ type: 'function' as const, strict: true, ...LOOK_TOOL }]
    const backstory = policyWithSummaries(above)
    let input: ResponseInputItem[] = [{ role: 'user', content: 'Look at Rome, then at Graz.' }]
    let previous_response_id: string | null = null
    const types: string[] = []
    for (let round = 0; round < 6 && input.length > 0; round += 1) {
      const body = { model, tools, input, previous_response_id, backstory }
      const response: Response = await openai.responses.create(body)
      previous_response_id = response.id
      types.push(...typesIn(response))
      if (round > 2) expect(blocksSent()).toHaveLength(1)
      const isFirst = round === 0
      input = response.output.flatMap((item) =>
        item.type !== 'function_call'
          ? []
          : [
              {
                type: 'function_call_output',
                call_id: item.call_id,
                output: runLookTool(item.arguments) + (isFirst ? longOf('', above) : ''),
              },
            ],
      )
      if (input.length === 0) expect(response.output_text).toContain('Graz: 4 degrees')
    }
    expect(input).toEqual([])
    expect(types.filter((type) => type === 'compaction').length).toBeGreaterThan(0)
  },
)

test.each([
  {},
  { notes: { entries: [{ text: 'It is raining.', depth: 50, role: 'developer' }] } },
  // The prompt is far below the budget after the compaction.
  { budget: { window: 100_000, warn_at: 0.5 } },
])(
  'reasoning after a compaction stays valid across gateway tool rounds, with the policy fields %j',
  async (more) => {
    const [{ model, above } = UPSTREAMS[0] as CompactingUpstream] = UPSTREAMS
    const backstory = {
      ...policyWithSummaries(above),
      policy: 'capped',
      outputs: { cap: 300 },
      ...more,
    }
    const tools = [{ type: 'function' as const, strict: true, ...LOOK_TOOL }]
    let previous_response_id: string | null = null
    const ask = async (input: ResponseInputItem[]) => {
      const body = { model, tools, input, previous_response_id, backstory }
      const response: Response = await openai.responses.create(body)
      previous_response_id = response.id
      return response
    }
    await ask([
      ...asUser('Go.'),
      { type: 'function_call', call_id: 'call_a', name: LOOK_TOOL.name, arguments: '{}' },
      { type: 'function_call_output', call_id: 'call_a', output: 'abcdefghij'.repeat(100) },
      ...asUser('First?'),
    ])
    const piece = (to: number) => `expand_output({"call_id":"call_a","to":${to}})`
    const long = longOf(`Between rounds ${JSON.stringify(more)}`, above)
    const second = await ask(asUser([long, `Use ${piece(10)}, then ${piece(20)}.`]))
    expect(second.output_text).toContain('Characters 0 to 20')
    await ask(asUser('Third?'))
    expect(blocksSent()).toHaveLength(1)
    // One reasoning item for each round, none of them rejected.
    expect(thoughtsSent()).toHaveLength(3)
    const raining = textSent().split('It is raining.').length - 1
    expect(raining).toBe('notes' in more ? 1 : 0)
  },
)

test.each(UPSTREAMS)(
  'a compaction by $model is not sent any more once one of its authors is hidden (C70)',
  async ({ model, above }) => {
    const hidden = { speakers: { hidden: ['Eve'] } }
    let previous_response_id: string | null = null
    const ask = async (input: object[], more: object = {}) => {
      const backstory = { ...policyWithSummaries(above), ...more }
      const body = { model, input, previous_response_id, backstory }
      const response = (await openai.responses.create(body as never)) as Response
      previous_response_id = response.id
      return typesIn(response)
    }
    const eve = { role: 'user', content: 'I am the spy.', backstory: { author: { name: 'Eve' } } }
    const long = longOf(`Of whom it tells ${model}`, above)
    expect(await ask([eve, ...asUser([long, 'Well?'])])).toContain('compaction')
    await ask(asUser('Second?'))
    expect(blocksSent()).toHaveLength(1)
    const made = blocksSent()
    // Everything but the hidden author's messages is sent and compacted again.
    expect(await ask(asUser('Third?'), hidden)).toContain('compaction')
    expect(blocksSent()).toEqual([])
    expect(textSent()).toContain(long)
    expect(textSent()).not.toContain('spy')
    await ask(asUser('Fourth?'), hidden)
    expect(blocksSent()).toHaveLength(1)
    expect(blocksSent()).not.toEqual(made)
    expect(textSent()).not.toContain('spy')
  },
)

test('a tool round whose prompt is built again keeps the reasoning after the compaction', async () => {
  const [{ model, above } = UPSTREAMS[0] as CompactingUpstream] = UPSTREAMS
  const budget = { window: 60_000, reserve: 2000, overflow: 'cut' }
  const backstory = {
    ...policyWithSummaries(above),
    policy: 'capped',
    outputs: { cap: 9000 },
    budget,
  }
  const tools = [{ type: 'function' as const, strict: true, ...LOOK_TOOL }]
  const piece = '{"call_id":"call_a","to":8900}'
  const calls = Array.from({ length: 3 }, () => `expand_output(${piece})`).join(' and ')
  const input: ResponseInputItem[] = [
    ...asUser('Go.'),
    { type: 'function_call', call_id: 'call_a', name: LOOK_TOOL.name, arguments: '{}' },
    { type: 'function_call_output', call_id: 'call_a', output: 'abcdefghij'.repeat(5000) },
    { role: 'assistant', content: 'Seen.' },
    ...asUser([longOf('Nearly too long', above * 0.75), `Use ${calls}.`]),
  ]
  const { output } = await openai.responses.create({ model, tools, input, backstory } as never)
  expect(output[0]?.type).toBe('compaction')
  // The planned prompt does not include the items that the compaction replaces.
  expect(textSent()).not.toContain('lorem ipsum')
  expect([blocksSent().length, thoughtsSent().length]).toEqual([1, 1])
})

test('policy notes that still apply are sent after the compaction, and reasoning after it stays valid', async () => {
  const [upstream = UPSTREAMS[0] as CompactingUpstream] = UPSTREAMS
  const { model, above } = upstream
  const notes = { entries: [{ text: 'It is raining.', depth: 50, role: 'developer' }] }
  const backstory = { ...policyWithSummaries(above), notes }
  let previous_response_id: string | null = null
  const ask = async (input: ResponseInputItem[]) => {
    const body = { model, input, previous_response_id, backstory }
    const response: Response = await openai.responses.create(body)
    previous_response_id = response.id
    return response
  }
  const pinned = { role: 'user', content: 'My name is Ada.', backstory: { pin: true } } as const
  await ask([{ role: 'developer', content: 'Be brief.' }, pinned, ...asUser('First?')])
  const rule: ResponseInputItem = { role: 'developer', content: 'Never in June.' }
  const long = longOf('A rule in the middle', above)
  expect((await ask([rule, ...asUser([long, 'Second?'])])).output[0]?.type).toBe('compaction')
  for (const question of ['Third?', 'Fourth?']) await ask(asUser(question))
  expect(sent()['system']).toMatchObject([{ text: 'Be brief.' }])
  const [answer, next] = listSent()
  expect(JSON.stringify(answer)).toContain('compaction')
  const { content: parts } = next as { content: JsonObject[] }
  const result = parts.map(({ text }) => text)
  const inPlace = (text: string) => `<system>\n${text}\n</system>`
  const expected = ['My name is Ada.', inPlace('Never in June.'), inPlace('It is raining.')]
  expect(new Set(result)).toEqual(new Set([...expected, 'Third?']))
  expect(result.at(-1)).toBe('Third?')
  expect(thoughtsSent()).toHaveLength(2)
})

test.each(UPSTREAMS)(
  "a compaction by $model has the published format of OpenAI's item, and explain shows it",
  async (upstream) => {
    const { model, above } = upstream
    const input = [longOf(`Explained ${model}`, above), 'Well?']
    const body = { model, input: asUser(input), backstory: policyWithSummaries(above) }
    const first = await openai.responses.create(body)
    const compaction = first.output[0] as unknown as JsonObject
    expect(schemaFaults('openai', 'CompactionBody', compaction)).toEqual([])
    expect(Object.keys(compaction).toSorted()).toEqual(['encrypted_content', 'id', 'type'])
    const next = {
      model,
      input: 'And?',
      previous_response_id: first.id,
      backstory: policyWithSummaries(above),
    }
    const answer = await fetch(`${gateway.url}/v1/context/explain`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(next),
    })
    const { notes } = (await answer.json()) as { notes: { why: string; field?: string }[] }
    const whys = notes.map(({ why }) => why)
    expect(whys).toContain('compaction-asked')
    expect(whys.includes('compacted')).toBe(model.startsWith('claude'))
  },
)

describe.each(['chat', 'responses'] as const)(
  'compaction for Open WebUI over a %s connection',
  (connection) => {
    test.each(UPSTREAMS)(
      "the upstream's compaction is not displayed in Open WebUI, and the chat continues after it ($model)",
      async ({ model, above }) => {
        const long = longOf(`From a filter ${model} ${connection}`, above)
        const home = await startGateway({ ...environment(), ...PROFILE_SETTINGS.full })
        try {
          const chat = openChat({
            model,
            account: {
              url: home.url,
              connection,
              profile: 'full',
              key: 'any',
              user: 'somebody',
              keepsReasoning: false,
              params: { backstory: policyWithSummaries(above) },
              inlet: (messages) =>
                messages.flatMap((message) =>
                  message.content === 'Second?'
                    ? [{ role: 'user' as const, content: long }, message]
                    : [message],
                ),
            },
          })
          const result: string[] = []
          for (const question of ['First?', 'Second?', 'Third?']) {
            const { node, rounds } = await chat.ask(question)
            result.push(shownText(node.items))
            expect([node.error, rounds.flatMap(({ faults }) => faults)]).toEqual([null, []])
          }
          expect(result.map((text) => /“(.*?)”/.exec(text)?.[1])).toEqual([
            'First?',
            'Second?',
            'Third?',
          ])
          expect(result.join('')).not.toContain('So far:')
          expect([blocksSent().length, thoughtsSent().length]).toEqual([1, 1])
          const third = chat.head() ?? ''
          const [first = ''] = [...chat.tree().values()].flatMap(({ kind, id }) =>
            kind === 'answer' ? [id] : [],
          )
          // The edited text is part of the compaction, which therefore does not apply any more.
          chat.goTo(first)
          chat.editAnswer((text) => text.replace('You said', 'You asked me'))
          chat.goTo(third)
          await chat.ask('Fourth?')
          expect(blocksSent()).toEqual([])
          expect(textSent()).toContain('You asked me')
          expect(textSent()).toContain(long)
        } finally {
          await home.close()
        }
      },
    )
  },
)

/** Removes the cache marks, which move between requests. */
function unmarked(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (name, one: unknown) => (name === 'cache_control' ? undefined : one)),
  )
}
