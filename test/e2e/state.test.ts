/** Every operation of the stateful API with the official SDK, on Node and inside workerd. */
import type OpenAI from 'openai'
import { APIError } from 'openai'
import type { ResponseInputItem } from 'openai/resources/responses/responses'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/core/json/json.ts'
import { openaiFor } from '../support/gateway.ts'
import { schemaFaults } from '../support/openapi.ts'
import { sharedExists } from '../support/shared-files.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'
import { answerWith } from '../support/answer-formats.ts'
import { HOSTS, type Host } from './hosts.ts'

const model = 'demo'
const nowhere = '00000000000000000000'

/** Returns the status and message of a rejected promise. */
async function refusal(promise: PromiseLike<unknown>): Promise<unknown> {
  try {
    await promise
  } catch (error) {
    if (!(error instanceof APIError)) throw error
    const { status, code, param, message } = error as APIError<number, Headers, object>
    return { status, code, param, message }
  }
  return 'no refusal'
}

function user(text: string): ResponseInputItem {
  return { role: 'user', content: text }
}

/** Returns the texts of items in order. */
function textsIn(items: readonly unknown[]): readonly string[] {
  return items.flatMap((item) => {
    const { content } = item as { content?: readonly { text?: string }[] }
    return content?.flatMap(({ text }) => text ?? []) ?? []
  })
}

async function all<Item>(pages: AsyncIterable<Item>): Promise<readonly Item[]> {
  const items: Item[] = []
  for await (const item of pages) items.push(item)
  return items
}

describe.each(HOSTS)('stored objects of the API on %s', (_, start) => {
  let upstream: Upstream
  let host: Host
  let openai: OpenAI
  let other: OpenAI
  beforeAll(async () => {
    upstream = await startUpstream()
    const account = { baseUrl: upstream.url, apiKey: 'sk-upstream' }
    host = await start({
      BACKSTORY_KEYS: 'mine:sk-mine,theirs:sk-theirs',
      // workerd notices that a client has left only when it writes.
      HEARTBEAT_SECONDS: '1',
      UPSTREAMS: JSON.stringify([
        { name: 'demo', wire: 'demo', models: ['demo'], quirks: { delayMs: 0 } },
        { name: 'c', wire: 'chat', models: ['chat-model'], ...account },
        { name: 'r', wire: 'responses', models: ['responses-model'], ...account },
      ]),
    })
    openai = openaiFor(host.url, 'sk-mine')
    other = openaiFor(host.url, 'sk-theirs')
  })
  afterAll(async () => {
    await host.close()
    await upstream.close()
  })
  const sent = () => JSON.stringify(upstream.received.at(-1)?.json ?? {})

  describe('stored responses', () => {
    test.each(['demo', 'chat-model', 'responses-model'])(
      'a stored response of %s is retrieved as it was answered, streamed or not',
      async (model) => {
        upstream.behave = answerWith({ text: 'Sunny.', reasoning: 'Hm.' })
        const request = {
          model,
          input: 'Weather?',
          instructions: 'Be brief.',
          metadata: { topic: 'weather' },
          temperature: 0.5,
          tools: [{ type: 'function' as const, name: 'f', parameters: {}, strict: true }],
          tool_choice: 'none' as const,
        }
        const whole = await openai.responses.create(request)
        const streamed = await openai.responses.stream(request).finalResponse()
        for (const given of [whole, streamed]) {
          const read = await openai.responses.retrieve(given.id)
          // A Responses upstream's own fields are passed through.
          const { output_text, ...said } = model === 'responses-model' ? texts(given) : plain(given)
          expect(read).toMatchObject({
            ...said,
            metadata: { topic: 'weather' },
            instructions: 'Be brief.',
            store: true,
          })
          expect(read.output_text).toBe(output_text)
          expect(read.completed_at).toBeGreaterThanOrEqual(read.created_at)
        }
      },
    )

    test('a stored response has the status and reason with which it ended', async () => {
      const cut = await openai.responses.create({ model, input: '/say It is\n/finish length' })
      expect(await openai.responses.retrieve(cut.id)).toMatchObject({
        status: 'incomplete',
        incomplete_details: { reason: 'max_output_tokens' },
        output: [{ status: 'incomplete' }],
        completed_at: null,
      })
      const filtered = await openai.responses.create({
        model,
        input: '/refuse No.\n/finish content-filter',
      })
      expect(await openai.responses.retrieve(filtered.id)).toMatchObject({
        incomplete_details: { reason: 'content_filter' },
      })
      const ids: string[] = []
      const failing = await openai.responses.create({
        model,
        stream: true,
        input: '/say Well\n/error It broke.',
      })
      await refusal(
        (async () => {
          for await (const event of failing) {
            if (event.type === 'response.created') ids.push(event.response.id)
          }
        })(),
      )
      expect(await openai.responses.retrieve(ids[0] ?? '')).toMatchObject({
        status: 'failed',
        error: { code: 'server_error', message: 'upstream demo: It broke.' },
        output: [{ type: 'message' }],
      })
    })

    test('a response in progress has that status, and can be neither deleted nor continued', async () => {
      const stream = await openai.responses.create({ model, input: '/say a\n/hang', stream: true })
      let id = ''
      for await (const event of stream) {
        if (event.type === 'response.created') id = event.response.id
        if (!event.type.endsWith('delta')) continue
        const running = await openai.responses.retrieve(id)
        expect(running).toMatchObject({ status: 'in_progress', completed_at: null, usage: null })
        expect(await refusal(openai.responses.delete(id))).toMatchObject({
          status: 400,
          message: expect.stringContaining('Cannot delete an in-flight response.') as string,
        })
        const goesOn = openai.responses.create({ model, input: 'x', previous_response_id: id })
        expect(await refusal(goesOn)).toMatchObject({
          status: 400,
          param: 'previous_response_id',
          message: expect.stringContaining('is still in progress') as string,
        })
        break
      }
      await expect
        .poll(async () => (await openai.responses.retrieve(id)).status, { timeout: 10_000 })
        .toBe('cancelled')
      expect(await refusal(openai.responses.delete(id))).toBe('no refusal')
    })

    test('a retrieved response includes encrypted reasoning and logprobs only on request', async () => {
      upstream.behave = answerWith({ text: 'Sunny.', reasoning: 'Hm.' })
      const { id } = await openai.responses.create({
        model: 'responses-model',
        input: 'x',
        include: ['reasoning.encrypted_content'],
      })
      expect(JSON.stringify((await openai.responses.retrieve(id)).output)).not.toContain('sealed')
      const read = await openai.responses.retrieve(id, { include: ['reasoning.encrypted_content'] })
      expect(read.output[0]).toMatchObject({ encrypted_content: 'sealed' })
      const next = await openai.responses.create({ model, input: 'y', previous_response_id: id })
      const listed = await openai.responses.inputItems.list(next.id, {
        include: ['reasoning.encrypted_content'],
      })
      expect(JSON.stringify(listed.data)).toContain('sealed')
    })

    test('a deleted response is not found, but responses that continue it still contain its items', async () => {
      const first = await openai.responses.create({ model, input: 'My name is Ada.' })
      const second = await openai.responses.create({
        model,
        input: 'And I am 36.',
        previous_response_id: first.id,
      })
      const deleted = await fetch(`${host.url}/v1/responses/${first.id}`, {
        method: 'DELETE',
        headers: { authorization: 'Bearer sk-mine' },
      })
      expect(await deleted.json()).toEqual({ id: first.id, object: 'response', deleted: true })
      const gone = {
        status: 404,
        message: expect.stringContaining(`Response with id '${first.id}' not found.`) as string,
      }
      expect(await refusal(openai.responses.retrieve(first.id))).toMatchObject(gone)
      expect(await refusal(openai.responses.delete(first.id))).toMatchObject(gone)
      expect(await refusal(openai.responses.inputItems.list(first.id))).toMatchObject(gone)
      const after = openai.responses.create({ model, input: 'x', previous_response_id: first.id })
      expect(await refusal(after)).toMatchObject({
        status: 400,
        code: 'previous_response_not_found',
        param: 'previous_response_id',
      })
      const third = await openai.responses.create({
        model,
        input: 'Who am I?',
        previous_response_id: second.id,
      })
      expect(third.output_text).toContain('I remember 2 earlier of your messages')
      const items = await all(openai.responses.inputItems.list(third.id, { order: 'asc' }))
      expect(textsIn(items)).toContain('My name is Ada.')
    })

    test('a response of another key, of a chat or without storage is not found', async () => {
      const { id } = await openai.responses.create({ model, input: 'x' })
      const unstored = await openai.responses.create({ model, input: 'x', store: false })
      const chat = await openai.chat.completions.create({
        model,
        store: true,
        messages: [{ role: 'user', content: 'x' }],
      })
      const chatAsResponse = chat.id.replace('chatcmpl-', 'resp_')
      for (const [client, id_] of [
        [other, id],
        [openai, unstored.id],
        [openai, chatAsResponse],
        [openai, `resp_${nowhere}`],
        [openai, 'resp_?'],
      ] as const) {
        expect(await refusal(client.responses.retrieve(id_))).toMatchObject({ status: 404 })
        expect(await refusal(client.responses.delete(id_))).toMatchObject({ status: 404 })
        const goesOn = client.responses.create({ model, input: 'y', previous_response_id: id_ })
        expect(await refusal(goesOn)).toMatchObject({ code: 'previous_response_not_found' })
      }
      expect((await openai.responses.retrieve(id)).id).toBe(id)
    })

    test('a response lists its input items completely, in both orders and by page', async () => {
      const first = await openai.responses.create({
        model,
        input: [user('one'), { ...user('two'), id: 'msg_mine' }],
      })
      const { id } = await openai.responses.create({
        model,
        input: 'three',
        previous_response_id: first.id,
      })
      const newest = await openai.responses.inputItems.list(id)
      expect(textsIn(newest.data)[0]).toBe('three')
      const pages = openai.responses.inputItems.list(id, { order: 'asc', limit: 2 })
      const oldest = await all(pages)
      expect(oldest.map((item) => item.id)).toEqual(newest.data.map((item) => item.id).toReversed())
      expect(new Set(oldest.map((item) => item.id)).size).toBe(oldest.length)
      expect(oldest.slice(0, 2)).toMatchObject([
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'one' }] },
        { id: 'msg_mine', status: 'completed' },
      ])
      expect(oldest.map((item) => item.id)).toContain(first.output.at(-1)?.id)
      const page = (await pages).data
      expect(page).toHaveLength(2)
      expect(await pages).toMatchObject({ has_more: true })
    })
  })

  describe('item references in a request', () => {
    test('an item reference is replaced by the item and never reaches an upstream', async () => {
      upstream.behave = answerWith({ text: 'Hello Ada.', reasoning: 'Hm.' })
      const first = await openai.responses.create({ model: 'responses-model', input: 'I am Ada.' })
      const [asked] = (await openai.responses.inputItems.list(first.id)).data
      for (const model of ['chat-model', 'responses-model']) {
        const second = await openai.responses.create({
          model,
          input: [
            { type: 'item_reference', id: asked?.id ?? '' },
            ...first.output.map(({ id }) => ({ type: 'item_reference' as const, id: id ?? '' })),
            user('Who am I?'),
          ],
        })
        expect(sent()).toMatch(/I am Ada\..*Hello Ada\..*Who am I\?/)
        expect(sent()).not.toContain('item_reference')
        const items = await all(openai.responses.inputItems.list(second.id, { order: 'asc' }))
        expect(textsIn(items)).toEqual(['I am Ada.', 'Hello Ada.', 'Who am I?'])
      }
    })

    test('an item reference must name an item of the same API key', async () => {
      const { output } = await openai.responses.create({ model, input: 'x' })
      const id = output.at(-1)?.id ?? ''
      const refer = (client: OpenAI, to: string) =>
        client.responses.create({ model, input: [{ type: 'item_reference', id: to }, user('y')] })
      expect(await refusal(refer(openai, id))).toBe('no refusal')
      for (const [client, to] of [
        [other, id],
        [openai, 'msg_nope'],
      ] as const) {
        expect(await refusal(refer(client, to))).toMatchObject({
          status: 404,
          param: 'input',
          message: expect.stringContaining(`Item with id '${to}' not found.`) as string,
        })
      }
    })
  })

  describe('stored conversations', () => {
    test('a conversation can be created, retrieved, updated and deleted', async () => {
      const made = await openai.conversations.create({ metadata: { topic: 'demo' } })
      expect(made).toMatchObject({ object: 'conversation', metadata: { topic: 'demo' } })
      expect(made.id).toMatch(/^conv_[0-9A-Z]{20}$/)
      expect(await openai.conversations.retrieve(made.id)).toEqual(made)
      const updated = await openai.conversations.update(made.id, { metadata: { topic: 'x' } })
      expect(updated).toEqual({ ...made, metadata: { topic: 'x' } })
      expect(await openai.conversations.retrieve(made.id)).toEqual(updated)
      expect(await refusal(other.conversations.retrieve(made.id))).toMatchObject({ status: 404 })
      expect(await refusal(other.conversations.delete(made.id))).toMatchObject({ status: 404 })
      expect(await openai.conversations.delete(made.id)).toEqual({
        id: made.id,
        object: 'conversation.deleted',
        deleted: true,
      })
      expect(await refusal(openai.conversations.retrieve(made.id))).toMatchObject({
        status: 404,
        message: expect.stringContaining(`Conversation with id '${made.id}' not found.`) as string,
      })
      expect((await openai.conversations.create()).metadata).toEqual({})
    })

    test('the items of a conversation can be added, listed, retrieved and deleted', async () => {
      const { id } = await openai.conversations.create({ items: [user('one')] })
      const added = await openai.conversations.items.create(id, {
        items: [user('two'), { type: 'message', role: 'assistant', content: 'three' }],
      })
      expect(added).toMatchObject({
        object: 'list',
        has_more: false,
        data: [
          { role: 'user', status: 'completed', content: [{ type: 'input_text', text: 'two' }] },
          { role: 'assistant', content: [{ type: 'output_text', text: 'three' }] },
        ],
      })
      const listed = await all(openai.conversations.items.list(id, { limit: 1 }))
      expect(textsIn(listed)).toEqual(['three', 'two', 'one'])
      const [, two] = listed
      expect(added.first_id).toBe(two?.id)
      const place = { conversation_id: id }
      expect(await openai.conversations.items.retrieve(two?.id ?? '', place)).toEqual(two)
      expect(await openai.conversations.items.delete(two?.id ?? '', place)).toMatchObject({
        id,
        object: 'conversation',
      })
      const left = await all(openai.conversations.items.list(id, { order: 'asc' }))
      expect(textsIn(left)).toEqual(['one', 'three'])
      // A page after an item that was deleted meanwhile still works.
      const behind = await all(openai.conversations.items.list(id, { after: two?.id ?? '' }))
      expect(textsIn(behind)).toEqual(['one'])
      for (const [client, item] of [
        [openai, two?.id ?? ''],
        [openai, 'msg_nope'],
        [other, left[0]?.id ?? ''],
      ] as const) {
        expect(await refusal(client.conversations.items.retrieve(item, place))).toMatchObject({
          status: 404,
        })
      }
      const response = await openai.responses.create({ model, input: 'Go on', conversation: id })
      expect(response.output_text).toContain('I remember 1 earlier of your messages')
    })

    test('a conversation continues with each response, given as a string or an object, and through forks', async () => {
      const { id } = await openai.conversations.create()
      const first = await openai.responses.create({ model, input: 'one', conversation: id })
      expect(first).toMatchObject({ conversation: { id }, previous_response_id: null })
      const second = await openai.responses
        .stream({ model, input: 'two', conversation: { id } })
        .finalResponse()
      expect(second.output_text).toContain('I remember 1 earlier')
      expect(await openai.responses.retrieve(second.id)).toMatchObject({ conversation: { id } })
      const aside = await openai.responses.create({
        model,
        input: 'aside',
        previous_response_id: first.id,
      })
      expect(aside.output_text).toContain('I remember 1 earlier')
      const third = await openai.responses.create({ model, input: 'three', conversation: id })
      expect(third.output_text).toContain('I remember 2 earlier')
      const listed = await all(openai.conversations.items.list(id, { order: 'asc' }))
      const request = textsIn(listed.filter((item) => 'role' in item && item.role === 'user'))
      expect(request).toEqual(['one', 'two', 'three'])
      expect(listed.map((item) => item.id)).toContain(second.output.at(-1)?.id)

      await openai.conversations.delete(id)
      expect(await refusal(openai.responses.retrieve(third.id))).toMatchObject({ status: 404 })
      const further = await openai.responses.create({
        model,
        input: 'x',
        previous_response_id: aside.id,
      })
      expect(further.output_text).toContain('I remember 2 earlier')
    })

    test('a response with `store: false` reads its conversation and adds nothing to it', async () => {
      const { id } = await openai.conversations.create({ items: [user('one')] })
      const request = { model, input: 'two', conversation: id, store: false }
      expect((await openai.responses.create(request)).output_text).toContain('I remember 1 earlier')
      expect((await openai.conversations.items.list(id)).data).toHaveLength(1)
    })

    test('a failed or cancelled response adds nothing to its conversation and does not leave it locked', async () => {
      const { id } = await openai.conversations.create({ items: [user('one')] })
      for (const input of ['/status 500 no', '/say a\n/error no', '/say a\n/break']) {
        await refusal(openai.responses.create({ model, input, conversation: id }))
      }
      await refusal(openai.responses.create({ model: 'nope', input: 'x', conversation: id }))
      const hanging = await openai.responses.create({
        model,
        input: '/say a\n/hang',
        conversation: id,
        stream: true,
      })
      for await (const event of hanging) if (event.type.endsWith('delta')) break
      await expect
        .poll(() => refusal(openai.responses.create({ model, input: 'two', conversation: id })), {
          timeout: 10_000,
        })
        .toBe('no refusal')
      const listed = await all(openai.conversations.items.list(id, { order: 'asc' }))
      expect(textsIn(listed).slice(0, 2)).toEqual(['one', 'two'])
    })

    test('a conversation runs one response at a time', async () => {
      const { id } = await openai.conversations.create({ items: [user('one')] })
      const running = await openai.responses.create({
        model,
        input: '/say a\n/hang',
        conversation: id,
        stream: true,
      })
      for await (const event of running) {
        if (!event.type.endsWith('delta')) continue
        const locked = {
          status: 400,
          code: 'conversation_locked',
          param: 'conversation',
          message: expect.stringContaining(
            'Another process is currently operating on this conversation. Please retry in a few seconds.',
          ) as string,
        }
        const request = { model, input: 'two', conversation: id }
        expect(await refusal(openai.responses.create(request))).toMatchObject(locked)
        const items = openai.conversations.items.create(id, { items: [user('x')] })
        expect(await refusal(items)).toMatchObject(locked)
        expect(await refusal(openai.conversations.delete(id))).toMatchObject(locked)
        expect((await openai.conversations.items.list(id)).data).toHaveLength(1)
        break
      }
    })

    test('a conversation contains exactly the successful ones of many concurrent responses, in one sequence', async () => {
      const { id } = await openai.conversations.create()
      const answered = await Promise.all(
        Array.from({ length: 6 }, (_, at) =>
          refusal(openai.responses.create({ model, input: `run ${at}`, conversation: id })),
        ),
      )
      const succeeded = answered.filter((came) => came === 'no refusal')
      expect(succeeded.length).toBeGreaterThan(0)
      const listed = await all(openai.conversations.items.list(id))
      const request = listed.filter((item) => 'role' in item && item.role === 'user')
      expect(request).toHaveLength(succeeded.length)
    })
  })

  describe('stored chat completions', () => {
    const ask = (messages: OpenAI.ChatCompletionMessageParam[], topic: string, stream = false) =>
      openai.chat.completions.create({ model, store: true, messages, metadata: { topic }, stream })
    const whole = async (messages: OpenAI.ChatCompletionMessageParam[], topic: string) =>
      (await ask(messages, topic)) as OpenAI.ChatCompletion

    test('a stored chat completion can be listed, retrieved, updated and deleted', async () => {
      const topic = `list ${host.url}`
      const one = await whole([{ role: 'user', content: 'one' }], topic)
      const two = await whole([{ role: 'user', content: 'two' }], topic)
      await openai.chat.completions.create({ model, messages: [{ role: 'user', content: 'x' }] })
      const listed = await all(openai.chat.completions.list({ metadata: { topic }, limit: 1 }))
      expect(listed.map(({ id }) => id)).toEqual([one.id, two.id])
      const newest = await openai.chat.completions.list({ metadata: { topic }, order: 'desc' })
      expect(newest.data.map(({ id }) => id)).toEqual([two.id, one.id])
      expect((await openai.chat.completions.list({ model: 'other' })).data).toEqual([])
      expect((await other.chat.completions.list()).data).toEqual([])

      const read = await openai.chat.completions.retrieve(one.id)
      expect(read).toMatchObject({ ...one })
      const labelled = await openai.chat.completions.update(one.id, { metadata: { topic: 'new' } })
      expect(labelled).toMatchObject({ ...one, metadata: { topic: 'new' } })
      const left = await openai.chat.completions.list({ metadata: { topic } })
      expect(left.data.map(({ id }) => id)).toEqual([two.id])
      const cleared = await openai.chat.completions.update(one.id, { metadata: null })
      expect(cleared).toMatchObject({ metadata: {} })

      expect(await openai.chat.completions.delete(one.id)).toEqual({
        id: one.id,
        object: 'chat.completion.deleted',
        deleted: true,
      })
      for (const [client, id] of [
        [openai, one.id],
        [other, two.id],
        [openai, `chatcmpl-${nowhere}`],
        [openai, 'nonsense'],
      ] as const) {
        const { completions } = client.chat
        expect(await refusal(completions.retrieve(id))).toMatchObject({ status: 404 })
        expect(await refusal(completions.update(id, { metadata: {} }))).toMatchObject({
          status: 404,
        })
        expect(await refusal(completions.delete(id))).toMatchObject({ status: 404 })
        expect(await refusal(completions.messages.list(id))).toMatchObject({ status: 404 })
      }
    })

    test('a stored chat completion lists all of its messages, and each is stored once', async () => {
      const messages: OpenAI.ChatCompletionMessageParam[] = [
        { role: 'system', content: 'Be kind.' },
        { role: 'user', name: 'ada', content: [{ type: 'text', text: 'one' }] },
      ]
      const first = await whole(messages, 'messages')
      const reply = first.choices[0]?.message
      const second = await whole(
        [...messages, reply as OpenAI.ChatCompletionMessageParam, { role: 'user', content: 'two' }],
        'messages',
      )
      await openai.chat.completions.delete(first.id)
      const listed = openai.chat.completions.messages.list(second.id, { limit: 3 })
      const result = await all(listed)
      expect(result.map(({ id }) => id)).toEqual([0, 1, 2, 3].map((n) => `${second.id}-${n}`))
      expect(result).toMatchObject([
        { role: 'system', content: 'Be kind.' },
        { role: 'user', content: 'one', name: 'ada' },
        { role: 'assistant', content: reply?.content },
        { role: 'user', content: 'two' },
      ])
      const newest = await openai.chat.completions.messages.list(second.id, {
        order: 'desc',
        limit: 1,
      })
      expect(newest.data).toMatchObject([{ content: 'two' }])
    })

    test('a streamed chat completion can be stored', async () => {
      const topic = `stream ${host.url}`
      const stream = await ask([{ role: 'user', content: 'one' }], topic, true)
      let id = ''
      for await (const chunk of stream as AsyncIterable<OpenAI.ChatCompletionChunk>) id = chunk.id
      expect((await openai.chat.completions.retrieve(id)).choices[0]).toMatchObject({
        finish_reason: 'stop',
        message: { role: 'assistant' },
      })
    })
  })

  describe.skipIf(!sharedExists)('published schemas of stored objects', () => {
    const expectLawful = (name: string, value: unknown) =>
      expect(schemaFaults('openai', name, value)).toEqual([])

    test('responses and their lists match the published schemas', async () => {
      upstream.behave = answerWith({ text: 'a', reasoning: 'b', calls: CALLS })
      const first = await openai.responses.create({ model: 'chat-model', input: 'x' })
      const { id } = await openai.responses.create({
        model,
        previous_response_id: first.id,
        input: [
          ...CALLS.map((call) => ({
            type: 'function_call_output' as const,
            call_id: call.id,
            output: 'yes',
          })),
          user('go on'),
        ],
      })
      const raw = async (path: string) =>
        (await (
          await fetch(`${host.url}/v1${path}`, { headers: { authorization: 'Bearer sk-mine' } })
        ).json()) as JsonObject
      const response = await raw(`/responses/${id}`)
      // The schema's own example has no user either.
      const { user: _user, ...lawful } = response
      expectLawful('Response', lawful)
      expect(schemaFaults('open-responses', 'ResponseResource', response)).toEqual([])
      expectLawful('ResponseItemList', await raw(`/responses/${id}/input_items`))
      expectLawful('ResponseItemList', await raw(`/responses/${id}/input_items?limit=1`))
    })

    test('conversations and their lists match the published schemas', async () => {
      const made = await openai.conversations.create({ metadata: { a: 'b' } })
      expectLawful('ConversationResource', made)
      expectLawful('ConversationItemList', await raw(`/conversations/${made.id}/items`))
      const added = await openai.conversations.items.create(made.id, {
        items: [user('a'), { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' }],
      })
      expectLawful('ConversationItemList', added)
      await openai.responses.create({
        model,
        conversation: made.id,
        input: [{ type: 'function_call_output', call_id: 'c', output: '1' }],
      })
      const listed = await raw(`/conversations/${made.id}/items`)
      expectLawful('ConversationItemList', listed)
      for (const item of listed['data'] as readonly JsonObject[]) {
        expectLawful('ConversationItem', item)
      }
      expectLawful('DeletedConversationResource', await openai.conversations.delete(made.id))
    })

    test('stored chat completions and their lists match the published schemas', async () => {
      const { id } = await openai.chat.completions.create({
        model,
        store: true,
        messages: [{ role: 'user', content: 'one' }],
      })
      expectLawful('CreateChatCompletionResponse', await raw(`/chat/completions/${id}`))
      expectLawful('ChatCompletionList', await raw('/chat/completions'))
      // The schema allows only assistant messages, but its example has another one.
      const { data, ...list } = await raw(`/chat/completions/${id}/messages`)
      expectLawful('ChatCompletionMessageList', { ...list, data: [] })
      expect(data).toMatchObject([{ id: `${id}-0`, role: 'user', content: 'one' }])
      expectLawful('ChatCompletionDeleted', await openai.chat.completions.delete(id))
    })

    const raw = async (path: string): Promise<JsonObject> => {
      const headers = { authorization: 'Bearer sk-mine' }
      return (await (await fetch(`${host.url}/v1${path}`, { headers })).json()) as JsonObject
    }
  })
})

const CALLS = [{ id: 'call_a', name: 'f', arguments: '{}' }]

type Given = OpenAI.Responses.Response

/** Returns the response as it was on the wire, without its end time. */
function plain({ completed_at: _at, ...given }: Given): Omit<Given, 'completed_at'> {
  const json = JSON.stringify(given, (key, value: unknown) =>
    key === 'parsed' || key === 'output_parsed' ? undefined : value,
  )
  return JSON.parse(json) as Given
}

function texts({ id, model, output, output_text, status, usage }: Given) {
  const types = output.map((item) => ({ id: item.id, type: item.type }))
  return { id, model, output: types, output_text, status, usage }
}
