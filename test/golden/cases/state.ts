/** Stored objects: chained responses, conversations, stored chats, compaction. */
import type { Body, GoldenCase, GoldenGroup, Player } from '../golden-case.ts'
import { ask, chat, FOUR_WIRES, responses, WAYS, type Way } from './ways.ts'

const [WHOLE, STREAMED] = WAYS.filter(({ api }) => api === 'responses') as [Way, Way]

function get(path: string) {
  return { method: 'GET', path }
}

function remove(path: string) {
  return { method: 'DELETE', path }
}

async function talk({ send }: Player, model: string, questions: readonly string[], way = WHOLE) {
  let previous = {}
  const ids: string[] = []
  for (const question of questions) {
    const { id } = await send(ask(way, model, question, previous))
    previous = { previous_response_id: id }
    ids.push(id)
  }
  return ids
}

async function newConversation({ send }: Player, more: Body = {}): Promise<string> {
  const { id } = await send({ path: '/v1/conversations', body: more })
  return id
}

const CASES: Readonly<Record<string, GoldenCase['play']>> = {
  'responses: a branch from the first of three': async (player) => {
    const [first = ''] = await talk(player, 'claude-sonnet-5', ['One?', 'Two?', 'Three?'])
    await player.send(ask(WHOLE, 'claude-sonnet-5', 'Or two?', { previous_response_id: first }))
  },
  'responses: read, listed, deleted': async (player) => {
    const [first = '', second = ''] = await talk(player, 'gpt-5', ['One?', 'Two?'])
    await player.send(get(`/v1/responses/${second}`))
    await player.send(get(`/v1/responses/${second}/input_items`))
    await player.send(get(`/v1/responses/${second}/input_items?order=asc&limit=1`))
    await player.send(remove(`/v1/responses/${first}`))
    await player.send(get(`/v1/responses/${first}`))
    await player.send(remove(`/v1/responses/${first}`))
    await player.send(ask(WHOLE, 'gpt-5', 'Three?', { previous_response_id: second }))
    await player.send(ask(WHOLE, 'gpt-5', 'Three?', { previous_response_id: first }))
  },
  'responses: nothing is kept of store false': async ({ send }) => {
    const input = [{ role: 'user', content: 'One?' }]
    const { id } = await send(responses({ model: 'gpt-5', input, store: false }))
    await send(get(`/v1/responses/${id}`))
    await send(ask(WHOLE, 'gpt-5', 'Two?', { previous_response_id: id }))
  },
  'responses: instructions are not handed on': async ({ send }) => {
    const { id } = await send(ask(WHOLE, 'gpt-5', 'One?', { instructions: 'Be brief.' }))
    await send(ask(WHOLE, 'gpt-5', 'Two?', { previous_response_id: id, instructions: 'Be long.' }))
  },
  'responses: references to items that were kept': async ({ send }) => {
    const { id, json } = await send(ask(WHOLE, 'claude-sonnet-5', 'One?'))
    const output = json['output'] as readonly Body[]
    const input = [
      ...output.map((item) => ({ type: 'item_reference', id: item['id'] })),
      { role: 'user', content: 'Two?' },
    ]
    await send(responses({ model: 'claude-sonnet-5', input }))
    await send(get(`/v1/responses/${id}/input_items`))
  },
  'responses: the model changes, and changes back': async ({ send }) => {
    let previous = {}
    for (const model of ['gpt-5', 'claude-sonnet-5', 'gemini-3.8-flash', 'chat-model', 'gpt-5']) {
      const { id } = await send(ask(WHOLE, model, `Hello ${model}!`, previous))
      previous = { previous_response_id: id }
    }
  },
  'responses: a stream that can be taken up again': async ({ send }) => {
    const { id } = await send({
      ...ask(STREAMED, 'claude-sonnet-5', 'One?'),
      headers: { 'x-backstory-resumable': 'true' },
    })
    await send(get(`/v1/responses/${id}?stream=true&starting_after=12`))
  },
  'responses: how many tokens': async ({ send }) => {
    for (const model of FOUR_WIRES) {
      const body = { model, input: 'How long is this?', instructions: 'Count.' }
      await send({ path: '/v1/responses/input_tokens', body })
    }
  },
  'responses: cancelling what was not begun in the background': async ({ send }) => {
    const { id } = await send(ask(WHOLE, 'gpt-5', 'One?'))
    await send({ path: `/v1/responses/${id}/cancel` })
  },
  'conversations: items come and go': async (player) => {
    const { send } = player
    const id = await newConversation(player, {
      metadata: { topic: 'a' },
      items: [{ type: 'message', role: 'user', content: 'My name is Ada.' }],
    })
    const path = `/v1/conversations/${id}`
    await send(ask(WHOLE, 'claude-sonnet-5', 'Who am I?', { conversation: id }))
    const list = await send(get(`${path}/items`))
    await send({ path: `${path}/items`, body: { items: [{ role: 'user', content: 'And more.' }] } })
    await send(get(`${path}/items?limit=2&order=asc`))
    const [item] = list.json['data'] as readonly Body[]
    await send(get(`${path}/items/${String(item?.['id'])}`))
    await send(remove(`${path}/items/${String(item?.['id'])}`))
    await send(ask(STREAMED, 'gpt-5', 'And now?', { conversation: { id } }))
    await send({ path, body: { metadata: { topic: 'b' } } })
    await send(get(path))
    await send(remove(path))
    await send(get(path))
    await send(ask(WHOLE, 'gpt-5', 'And now?', { conversation: id }))
  },
  'conversations: a context of its own, and a new beginning': async (player) => {
    const { send } = player
    const id = await newConversation(player, { backstory: { policy: 'lean' } })
    const context = `/v1/conversations/${id}/context`
    await send(get(context))
    const notes = { entries: [{ text: 'Be brief.', depth: 1 }] }
    await send({ path: context, body: { policy: 'replay', notes } })
    await send(ask(WHOLE, 'chat-model', 'One?', { conversation: id }))
    await send(ask(WHOLE, 'chat-model', 'Two?', { conversation: id }))
    await send({ path: `/v1/conversations/${id}/reset`, body: {} })
    await send(ask(WHOLE, 'chat-model', 'Three?', { conversation: id }))
    await send(get(`/v1/conversations/${id}/items`))
  },
  'chats: kept, listed, labelled, deleted': async ({ send }) => {
    const messages = [{ role: 'user', content: 'One?' }]
    const body = { model: 'claude-sonnet-5', messages, store: true, metadata: { a: 'b' } }
    const { id } = await send(chat(body))
    await send(chat({ ...body, model: 'gpt-5', stream: true }))
    const path = `/v1/chat/completions/${id}`
    await send(get(path))
    await send(get(`${path}/messages`))
    await send({ path, body: { metadata: { a: 'c' } } })
    await send(get('/v1/chat/completions?metadata[a]=c'))
    await send(get('/v1/chat/completions?limit=1'))
    await send(remove(path))
    await send(get(path))
  },
  'a turn is forgotten with its conversation': async (player) => {
    const [first = '', second = ''] = await talk(player, 'gpt-5', ['One?', 'Two?'])
    await player.send(remove(`/v1/memory/turns/${second}`))
    await player.send(get(`/v1/responses/${first}`))
    await player.send(remove('/v1/memory/users/nobody'))
  },
  'keys have memories of their own': async ({ send }) => {
    const ada = { authorization: 'Bearer sk-ada' }
    const { id } = await send({ ...ask(WHOLE, 'gpt-5', 'One?'), headers: ada })
    const grace = { authorization: 'Bearer sk-grace' }
    await send({ method: 'GET', path: `/v1/responses/${id}`, headers: grace })
    await send({ method: 'GET', path: `/v1/responses/${id}`, headers: ada })
    await send(get(`/v1/responses/${id}`))
    await send({ ...ask(WHOLE, 'gpt-5', 'Two?'), headers: { authorization: 'Bearer sk-no' } })
  },
}

const KEYS = { BACKSTORY_KEYS: 'ada:sk-ada,grace:sk-grace' }
const LOOK_BACK = ['My name is Ada.', 'I live in Graz.', 'Who am I?']

export const STATE: GoldenGroup = {
  name: 'state',
  cases: [
    ...Object.entries(CASES).map(([name, play]): GoldenCase => ({
      name,
      play,
      ...(name.startsWith('keys') ? { settings: KEYS } : {}),
    })),
    ...FOUR_WIRES.flatMap((model): readonly GoldenCase[] => [
      {
        name: `${model}: three turns by previous_response_id, streamed`,
        play: (player) => talk(player, model, LOOK_BACK, STREAMED),
      },
      {
        name: `${model}: compaction on request, and by itself`,
        async play(player) {
          const { send } = player
          const [, last = ''] = await talk(player, model, [
            'My name is Ada.',
            'And I live in Graz.',
          ])
          const body = { model, previous_response_id: last }
          const { json } = await send({ path: '/v1/responses/compact', body })
          const output = json['output'] as readonly Body[]
          const input = [...output, { role: 'user', content: 'Who am I?' }]
          await send(responses({ model, input }))
          const context_management = [{ type: 'compaction', compact_threshold: 1 }]
          const more = { previous_response_id: last, context_management }
          const { id } = await send(ask(WHOLE, model, 'Where do I live?', more))
          await send(ask(WHOLE, model, 'And now?', { previous_response_id: id }))
        },
      },
    ]),
  ],
}
