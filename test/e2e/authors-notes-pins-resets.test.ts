/** Authors, notes, pins and resets, over every wire, each served by a strict upstream. */
import { APIError } from 'openai'
import type { ChatCompletionMessageParam } from 'openai/resources/chat/completions'
import type { ResponseInputItem } from 'openai/resources/responses/responses'
import { beforeEach, describe, expect, test } from 'vitest'
import { useGatewayWithServices } from '../support/services/gateway-with-services.ts'
import { WIRE_MODELS } from '../support/wire-models.ts'

const setup = useGatewayWithServices()
beforeEach(() => {
  setup.services.received.splice(0)
  setup.services.refusals.splice(0)
})

const ann = { author: { id: 'u1', name: 'Ann' } }
const eve = { author: { id: 'u2', name: 'Eve' } }

interface AuthoredMessage {
  readonly role: 'user' | 'assistant'
  readonly content: string
  readonly backstory?: object
  readonly reasoning_details?: readonly object[]
}

const GROUP: readonly AuthoredMessage[] = [
  { role: 'user', content: 'secret plan', backstory: eve },
  { role: 'user', content: 'Tea or coffee?', backstory: ann },
  { role: 'assistant', content: 'Tea.' },
  { role: 'user', content: 'And you, Bo?', backstory: ann },
]

const notes = { entries: [{ text: 'Speak like a pirate.', depth: 1 }] }

/** Returns the last request to the upstream as text. */
function sent(): string {
  return setup.services.received.at(-1)?.text ?? ''
}

function takeRefusals(): readonly unknown[] {
  return setup.services.refusals
}

/** Adds the `backstory` field, which the SDK's types do not have. */
const backstoryField = (backstory: object): object => ({ backstory })

const askChat = (model: string, messages: readonly AuthoredMessage[], backstory: object) =>
  setup.gateway.openai.chat.completions.create({
    model,
    messages: messages as readonly ChatCompletionMessageParam[] as ChatCompletionMessageParam[],
    ...backstoryField(backstory),
  })
const askResponses = (model: string, input: readonly AuthoredMessage[], more: object) =>
  setup.gateway.openai.responses.create({
    model,
    input: input as readonly ResponseInputItem[] as ResponseInputItem[],
    ...more,
  })

describe.each(WIRE_MODELS)('authors, notes, pins and resets in requests to $model', ({ model }) => {
  describe.each([
    ['chat', (group: readonly AuthoredMessage[], wishes: object) => askChat(model, group, wishes)],
    [
      'responses',
      (group: readonly AuthoredMessage[], wishes: object) =>
        askResponses(model, group, { backstory: wishes }),
    ],
  ])('authors, notes, pins and resets in the messages of a %s request', (_, ask) => {
    test("the upstream request contains the author's name (C66), but not the author's id or the field `backstory`", async () => {
      await ask(GROUP, {})
      expect(sent()).toContain('Ann')
      expect(sent()).not.toContain('backstory')
      expect(sent()).not.toContain('u1')
      expect(takeRefusals()).toEqual([])
    })

    test("the gateway's reference of a turn is never sent, whatever message it stands in", async () => {
      const reference = { type: 'reasoning.encrypted', data: '01KQZ3V8M6T2X9R4B7C9.0', index: 1000 }
      const reasoning_details = [{ ...reference, format: 'backstory-v1' }]
      const group = GROUP.map((message) => ({ ...message, reasoning_details }))
      await ask(group, {})
      await ask(
        group.map(({ role, content }) => ({ role, content, reasoning_details })),
        {},
      )
      for (const { text } of setup.services.received) expect(text).not.toContain('backstory-v1')
      expect(takeRefusals()).toEqual([])
    })

    test('a text from the policy field `notes` is sent once (C68, C82)', async () => {
      await ask(GROUP, { notes })
      const text = sent()
      expect(text.split('Speak like a pirate.')).toHaveLength(2)
      // A wire without system messages inside the conversation gets the note before it.
      expect(text.indexOf('And you, Bo?')).toBeGreaterThan(-1)
      expect(takeRefusals()).toEqual([])
    })

    test('messages of a hidden author are not sent (C70)', async () => {
      await ask(GROUP, { speakers: { hidden: ['u2'] } })
      expect(sent()).not.toContain('secret')
      expect(sent()).not.toContain('Eve')
      expect(sent()).toContain('hidden author')
      expect(takeRefusals()).toEqual([])
    })

    test('consecutive messages of one author are merged into one (C67)', async () => {
      const burst = ['one', 'two'].map((content) => ({
        role: 'user' as const,
        content,
        backstory: ann,
      }))
      await ask(burst, { speakers: { merge: 'same_author', names: 'prefix' } })
      expect(sent()).toContain(String.raw`Ann: one\ntwo`)
      expect(takeRefusals()).toEqual([])
    })

    test('a message of another assistant is sent as a user message (C65)', async () => {
      const group = [
        GROUP[1]!,
        { role: 'assistant' as const, content: 'Coffee!', backstory: { author: { name: 'Bo' } } },
        GROUP[3]!,
      ]
      await ask(group, { speakers: { persona: 'Ada', names: 'prefix' } })
      expect(sent()).toContain('Bo: Coffee!')
      expect(sent()).not.toMatch(/"role":"(assistant|model)"/)
      expect(takeRefusals()).toEqual([])
    })

    test('messages before a reset are not sent (C71)', async () => {
      const [first, second, third, fourth] = GROUP
      const fresh = { ...fourth!, backstory: { ...ann, reset: true } }
      await ask([first!, second!, third!, fresh], {})
      expect(sent()).not.toContain('Tea')
      expect(sent()).toContain('And you, Bo?')
    })

    test("a pinned message is sent even if the policy's window drops its round (C30)", async () => {
      const pinned = { ...GROUP[1]!, backstory: { ...ann, pin: true } }
      const many = Array.from({ length: 30 }, (_, at) => ({
        role: at % 2 === 0 ? ('user' as const) : ('assistant' as const),
        content: `filler ${at}`,
      }))
      await ask([pinned, ...many, GROUP[3]!], { window: { turns: 2 } })
      expect(sent()).toContain('Tea or coffee?')
      expect(sent()).not.toContain('filler 3"')
      expect(takeRefusals()).toEqual([])
    })
  })
})

describe('requests that are passed through unchanged except for the field `backstory`', () => {
  const post = (path: string, body: object) => setup.gateway.post(path, body)
  test('a chat request that is passed through loses only the field `backstory`', async () => {
    const message = { role: 'user', content: 'Hi', name: 'Ann' }
    await post('/v1/chat/completions', {
      model: 'chat-model',
      messages: [{ ...message, backstory: { pin: true } }],
      seed: 7,
    })
    expect(setup.services.received.at(-1)?.json).toEqual({
      model: 'chat-model',
      messages: [message],
      seed: 7,
    })
  })

  test('a Responses request that is passed through loses only the field `backstory`', async () => {
    const item = { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hi' }] }
    const body = { model: 'gpt-5', store: false }
    await post('/v1/responses', { ...body, input: [{ ...item, backstory: { pin: true } }] })
    expect(setup.services.received.at(-1)?.json).toMatchObject({ ...body, input: [item] })
    expect(sent()).not.toContain('backstory')
  })
})

describe('policy overrides, resets and authors of a conversation', () => {
  const model = WIRE_MODELS[0]!.model
  const openai = () => setup.gateway.openai
  const context = (id: string, more: object = {}) =>
    fetch(`${setup.gateway.url}/v1/conversations/${id}/context`, more)
  const write = (path: string, body: unknown) =>
    setup.gateway.post(`/v1/conversations/${path}`, JSON.stringify(body))
  const say = (conversation: string, input: string) =>
    openai().responses.create({ model, conversation, input })

  test('forks of a conversation inherit its policy overrides (C35, C69)', async () => {
    const { id } = await openai().conversations.create({})
    const reply = { policy: 'lean', notes }
    const written = await write(`${id}/context`, reply)
    const result = {
      object: 'conversation.context',
      conversation: id,
      context: reply,
      reset_after: null,
    }
    expect(await written.json()).toEqual(result)
    expect(await (await context(id)).json()).toEqual(result)
    const first = await say(id, 'Ahoy')
    expect(sent()).toContain('pirate')
    await openai().responses.create({ model, input: 'Go on', previous_response_id: first.id })
    expect(sent().match(/"Speak like a pirate\./g)).toHaveLength(1)
    const more = { notes: { entries: [{ text: 'Be brief.' }] } }
    await openai().responses.create({
      model,
      conversation: id,
      input: 'And?',
      ...backstoryField(more),
    })
    expect(sent()).toContain('pirate')
    expect(sent()).toContain('Be brief.')
    await write(`${id}/context`, null)
    await say(id, 'Still there?')
    expect(sent()).not.toMatch(/"Speak like a pirate|"Be brief/)
  })

  test('a new conversation accepts policy overrides or the name of a policy', async () => {
    const { id } = await openai().conversations.create(backstoryField({ notes }))
    await say(id, 'Ahoy')
    expect(sent()).toContain('pirate')
    const named = await write(`${id}/context`, 'capped')
    expect(await named.json()).toMatchObject({ context: { policy: 'capped' } })
  })

  test('after a reset of a conversation no earlier item is sent, but earlier items stay listed (C71)', async () => {
    const { id } = await openai().conversations.create({})
    await say(id, 'My name is Rumpelstiltskin')
    expect((await write(`${id}/reset`, {})).status).toBe(200)
    await say(id, 'Who am I?')
    expect(sent()).not.toContain('Rumpelstiltskin')
    const next = await say(id, 'And who are you?')
    expect(sent()).not.toContain('Rumpelstiltskin')
    expect(sent()).toContain('Who am I?')
    await openai().responses.create({ model, input: 'Well?', previous_response_id: next.id })
    expect(sent()).not.toContain('Rumpelstiltskin')
    const { data } = await openai().conversations.items.list(id, { order: 'asc' })
    expect(data.filter(({ type }) => type === 'message')).toHaveLength(6)
    expect(JSON.stringify(data)).toContain('Rumpelstiltskin')
    expect(JSON.stringify(data)).not.toContain('backstory')
  })

  test.each([
    [{ turns: 3 }, 'turns'],
    [{ after: 'msg_1' }, 'after'],
    [[], null],
    ['all', null],
  ])('the reset endpoint rejects the body %j and names the invalid field', async (body, param) => {
    const { id } = await openai().conversations.create({})
    await say(id, 'My name is Rumpelstiltskin')
    const refused = await write(`${id}/reset`, body)
    expect(refused.status).toBe(400)
    expect(await refused.json()).toMatchObject({ error: { param } })
    await say(id, 'Who am I?')
    expect(sent()).toContain('Rumpelstiltskin')
    const url = `${setup.gateway.url}/v1/conversations/${id}/reset`
    expect((await fetch(url, { method: 'POST' })).status).toBe(200)
    await say(id, 'Who am I?')
    expect(sent()).not.toContain('Rumpelstiltskin')
  })

  test('a conversation stores the author of each item', async () => {
    const { id } = await openai().conversations.create({})
    await askResponses(model, [{ role: 'user', content: 'one', backstory: ann }], {
      conversation: id,
    })
    const added = [{ role: 'user', content: 'two', backstory: eve }]
    await openai().conversations.items.create(id, { items: added as ResponseInputItem[] })
    const hidden = { speakers: { hidden: ['Eve'] } }
    await openai().responses.create({
      model,
      conversation: id,
      input: 'three',
      ...backstoryField(hidden),
    })
    expect(sent()).toContain('Ann')
    expect(sent()).not.toContain('two')
  })

  test.each([
    [{ window: { turns: 0 } }, 'context.window.turns'],
    [{ windows: {} }, 'context.windows'],
    [7, 'context'],
    ['fat', 'context'],
  ])('the endpoint for conversations rejects the policy overrides %j', async (body, param) => {
    const { id } = await openai().conversations.create({})
    const answer = await write(`${id}/context`, body)
    expect(answer.status).toBe(400)
    expect(await answer.json()).toMatchObject({ error: { param } })
  })

  test('a request for an unknown conversation or with a malformed JSON body gets an error', async () => {
    const nowhere = `conv_${'0'.repeat(20)}`
    for (const answer of [
      await context(nowhere),
      await write(`${nowhere}/context`, null),
      await write(`${nowhere}/reset`, {}),
    ]) {
      expect(answer.status).toBe(404)
      expect(await answer.json()).toMatchObject({ error: { type: 'invalid_request_error' } })
    }
    const torn = await setup.gateway.post(`/v1/conversations/${nowhere}/context`, '{"a')
    expect(torn.status).toBe(400)
  })

  test('an item with an invalid author is not added to a conversation, and the error names the path of the author', async () => {
    const { id } = await openai().conversations.create({})
    const items = [{ role: 'user', content: 'x', backstory: { author: { name: 3 } } }]
    const refusal = await openai()
      .conversations.items.create(id, { items: items as unknown as ResponseInputItem[] })
      .catch((error: unknown) => error)
    expect(refusal).toBeInstanceOf(APIError)
    expect(refusal).toMatchObject({ status: 400, param: 'items[0].backstory.author.name' })
  })
})
