/** Summaries, facts, working memory and gateway tools. */
import type { Body, GoldenCase, GoldenGroup, Player } from '../golden-case.ts'
import { messageIn } from '../read-answer.ts'
import { ask, chat, FOUR_WIRES, responses, RESPONSES_TOOLS, WAYS, type Way } from './ways.ts'

const [WHOLE, STREAMED, WHOLE_CHAT, STREAMED_CHAT] = WAYS as [Way, Way, Way, Way]
const PORT = 'The server of the shop listens on port 8080'
const LONG = Array.from({ length: 100 }, (_, at) => `line ${at}`).join('\n')

const FACTS = { layers: { facts: true, scope: 'user' } }
const NOTEBOOK = { layers: { working_memory: true } }
const ADA = { 'x-backstory-user': 'ada' }
const TRUSTING = { TRUST_USER_HEADERS: 'on' }

function as(way: Way, model: string, question: string, backstory: Body) {
  const more = { backstory, ...(way.api === 'chat' ? { store: true } : {}) }
  return { ...ask(way, model, question, more), headers: ADA }
}

/** Calls a gateway tool and a client tool at once. */
async function usesBoth({ send }: Player, model: string): Promise<void> {
  const body = { model, tools: RESPONSES_TOOLS, backstory: FACTS }
  const input = `Use remember({"text":"${PORT}"}) and look({"at":"Rome"}).`
  const first = await send(responses({ ...body, input }, ADA))
  const output = first.json['output'] as readonly Body[]
  const call = output.find(({ type }) => type === 'function_call')
  const result = { type: 'function_call_output', call_id: call?.['call_id'], output: 'Rome: 4' }
  await send(responses({ ...body, input: [result], previous_response_id: first.id }, ADA))
}

async function summarized({ send, upstreamHasHad }: Player, model: string): Promise<void> {
  const summaries = { trigger: 'turns', above: 3, keep_turns: 1, keep_tokens: 0 }
  const messages: Body[] = []
  for (const content of ['My name is Ada.', 'I live in Graz.', 'I like fog.', 'Who am I?']) {
    messages.push({ role: 'user', content })
    const answer = await send(chat({ model, messages, backstory: { summaries } }))
    messages.push(messageIn(answer))
    // The summary is made after the third answer.
    if (messages.length === 6) await upstreamHasHad(4)
  }
}

export const MEMORIES: GoldenGroup = {
  name: 'memories',
  cases: [
    ...FOUR_WIRES.flatMap((model, at): readonly GoldenCase[] => [
      {
        name: `facts that a model keeps and is told: ${model}`,
        settings: TRUSTING,
        async play({ send }) {
          const way = WAYS[at] ?? WHOLE
          await send(as(way, model, `Use remember({"text":"${PORT}","importance":0.5}).`, FACTS))
          await send(as(way, model, 'Which port does the server of the shop use?', FACTS))
          await send(as(way, model, 'How are you?', FACTS))
          await send({ method: 'GET', path: '/v1/memory/facts', headers: ADA })
        },
      },
      {
        name: `a notebook: ${model}`,
        async play({ send }) {
          let previous = {}
          const note = 'Use update_working_memory({"changes":{"name":"Ada"}}).'
          for (const question of [note, 'Who am I?']) {
            const way = at % 2 === 0 ? STREAMED : WHOLE
            const more = { backstory: NOTEBOOK, ...previous }
            const { id } = await send(ask(way, model, question, more))
            previous = { previous_response_id: id }
          }
        },
      },
      {
        name: `a tool of the gateway beside one of the client: ${model}`,
        settings: TRUSTING,
        play: (player) => usesBoth(player, model),
      },
      ...[WAYS[at] ?? WHOLE, WAYS[3 - at] ?? WHOLE].map((way): GoldenCase => ({
        name: `the rest of an output is read: ${model}, ${way.name}`,
        settings: { CONTEXT: JSON.stringify({ policy: 'capped', outputs: { cap: 300 } }) },
        play: ({ send }) => send(expanding(way, model)),
      })),
      {
        name: `a summary after three turns: ${model}`,
        play: (player) => summarized(player, model),
      },
    ]),
    {
      name: 'facts by the API',
      async play({ send }) {
        const path = '/v1/memory/facts'
        const { id } = await send({ path, body: { text: PORT, area: 'core', importance: 0.9 } })
        await send({ path, body: { text: 'Ada lives in Graz, near the river.' } })
        await send({ path, body: { text: 'short' } })
        await send({ path, body: { text: PORT, importance: 2 } })
        await send({ method: 'GET', path: `${path}/${id}` })
        await send({ method: 'GET', path: `${path}?query=river` })
        await send(as(WHOLE_CHAT, 'chat-model', 'Where is the river?', FACTS))
        await send({ method: 'DELETE', path: `${path}/${id}` })
        await send({ method: 'GET', path: `${path}/${id}` })
        await send({ method: 'DELETE', path })
      },
    },
    {
      name: 'a fact is forgotten by the model',
      settings: TRUSTING,
      async play({ send }) {
        const body = { text: PORT, importance: 1 }
        const { id } = await send({ path: '/v1/memory/facts', body, headers: ADA })
        await send(as(STREAMED_CHAT, 'gpt-5', `Use forget({"id":"${id}"}).`, FACTS))
        await send(as(STREAMED_CHAT, 'gpt-5', 'Which port?', FACTS))
      },
    },
    {
      name: 'a notebook by the API',
      async play({ send }) {
        const { id } = await send(ask(WHOLE, 'chat-model', 'Hello!', { backstory: NOTEBOOK }))
        const path = `/v1/memory/working?response=${id}`
        await send({ method: 'GET', path })
        await send({ method: 'PUT', path, body: { memory: { name: 'Grace' } } })
        const more = { backstory: NOTEBOOK, previous_response_id: id }
        await send(ask(WHOLE, 'chat-model', 'Who am I?', more))
        await send({ method: 'PUT', path, body: { memory: [] } })
        await send({ method: 'DELETE', path })
        await send({ method: 'GET', path })
      },
    },
    {
      name: 'a notebook with a schema that does not fit',
      play: ({ send }) => {
        const schema = {
          type: 'object',
          properties: { age: { type: 'number' } },
          additionalProperties: false,
        }
        const backstory = { layers: { working_memory: true, schema } }
        const note = 'Use update_working_memory({"changes":{"name":"Ada"}}).'
        return send(ask(WHOLE, 'claude-sonnet-5', note, { backstory }))
      },
    },
    {
      name: 'an image is looked at again',
      play: ({ send }) =>
        send(
          responses({
            model: 'gpt-5',
            backstory: { media: { images: 1, view: true } },
            input: [
              { role: 'user', content: [{ type: 'input_text', text: 'First.' }, IMAGE('A')] },
              { role: 'assistant', content: 'A cat.' },
              {
                role: 'user',
                content: [
                  { type: 'input_text', text: 'Use view_media({"handle":"media_1"}).' },
                  IMAGE('B'),
                ],
              },
            ],
          }),
        ),
    },
    {
      name: 'observations are made behind an answer',
      async play({ send, upstreamHasHad }) {
        const backstory = { layers: { observations: true } }
        const question = `I like fog. ${'It is grey and cold, and nobody is there. '.repeat(260)}`
        const { id } = await send(ask(WHOLE, 'chat-model', question, { backstory }))
        await upstreamHasHad(2)
        await send(ask(WHOLE, 'chat-model', 'And now?', { backstory, previous_response_id: id }))
      },
    },
    {
      name: 'summaries on request: made, listed, used, deleted',
      async play({ send }) {
        const backstory = { summaries: { trigger: 'manual' } }
        const { id } = await send({ path: '/v1/conversations', body: { backstory } })
        for (const question of ['My name is Ada.', 'I live in Graz.', 'I like fog.']) {
          await send(ask(WHOLE, 'chat-model', question, { conversation: id }))
        }
        const path = `/v1/conversations/${id}`
        const body = { model: 'claude-sonnet-5', keep_turns: 1, keep_tokens: 0, focus: 'names' }
        await send({ path: `${path}/summarize`, body })
        const list = await send({ method: 'GET', path: `${path}/summaries` })
        await send(ask(STREAMED, 'chat-model', 'Who am I?', { conversation: id }))
        const [summary] = list.json['data'] as readonly Body[]
        await send({ method: 'DELETE', path: `${path}/summaries/${String(summary?.['id'])}` })
        await send(ask(WHOLE, 'chat-model', 'Who am I, really?', { conversation: id }))
      },
    },
    {
      name: 'a summary of a chat that is sent',
      play: ({ send }) =>
        send({
          path: '/v1/context/summarize',
          body: {
            model: 'chat-model',
            messages: ['One?', 'Two?', 'Three?'].flatMap((content) => [
              { role: 'user', content },
              { role: 'assistant', content: `To ${content}` },
            ]),
            backstory: { summaries: { trigger: 'manual', keep_turns: 1, keep_tokens: 0 } },
          },
        }),
    },
    {
      name: 'a summary that is needed first',
      async play({ send }) {
        const summaries = { trigger: 'tokens', above: 0.4, keep_turns: 1, keep_tokens: 0 }
        const backstory = { summaries, budget: { window: 700, reserve: 50, overflow: 'cut' } }
        const filler = 'It is grey and cold. '.repeat(60)
        const { id } = await send(ask(WHOLE, 'chat-model', `My name is Ada. ${filler}`, {}))
        const more = { previous_response_id: id, backstory }
        await send(ask(WHOLE, 'chat-model', `Who am I? ${filler}`, more))
      },
    },
    {
      name: 'a budget that is nearly spent',
      async play({ send }) {
        const backstory = { budget: { window: 180, overflow: 'send', warn_at: 0.5, wrap_up: 1 } }
        let previous: Body = { input: 'Look at Rome, then at Oslo, then at Graz, then at Wien.' }
        for (let step = 0; step < 4; step += 1) {
          const answer = await send(
            responses({ model: 'chat-model', tools: RESPONSES_TOOLS, backstory, ...previous }),
          )
          const output = (answer.json['output'] ?? []) as readonly Body[]
          const call = output.find(({ type }) => type === 'function_call')
          if (call === undefined) return
          const result = { type: 'function_call_output', call_id: call['call_id'], output: 'fog' }
          previous = { previous_response_id: answer.id, input: [result] }
        }
      },
    },
  ],
}

const IMAGE = (name: string) => ({
  type: 'input_image',
  image_url: `data:image/png;base64,iVBORw0KGgo${name.repeat(4)}`,
  detail: 'auto',
})

function expanding({ api, stream }: Way, model: string) {
  const question = 'Use expand_output({"call_id":"call_a","from":200,"to":222}).'
  if (api === 'responses') {
    return responses({
      model,
      stream,
      tools: RESPONSES_TOOLS,
      input: [
        { role: 'user', content: 'Look at Rome.' },
        { type: 'function_call', call_id: 'call_a', name: 'look', arguments: '{"at":"Rome"}' },
        { type: 'function_call_output', call_id: 'call_a', output: LONG },
        { role: 'assistant', content: 'That was long.' },
        { role: 'user', content: question },
      ],
    })
  }
  const made = { name: 'look', arguments: '{"at":"Rome"}' }
  return chat({
    model,
    stream,
    messages: [
      { role: 'user', content: 'Look at Rome.' },
      { role: 'assistant', tool_calls: [{ id: 'call_a', type: 'function', function: made }] },
      { role: 'tool', tool_call_id: 'call_a', content: LONG },
      { role: 'assistant', content: 'That was long.' },
      { role: 'user', content: question },
    ],
  })
}
