/** Models, health, pass-through paths, background responses, and the WebSocket mode. */
import type { Body, GoldenGroup, Player } from '../golden-case.ts'
import { answerJson } from '../../support/upstream.ts'
import { callsIn } from '../read-answer.ts'
import {
  accountsWith,
  ask,
  FOUR_WIRES,
  outputFor,
  RESPONSES_TOOLS,
  WAYS,
  type Way,
} from './ways.ts'

const [WHOLE] = WAYS as [Way]

const models = (...ids: readonly string[]) =>
  answerJson(200, {
    object: 'list',
    data: ids.map((id) => ({ id, object: 'model', created: 1, owned_by: 'x' })),
  })

function create(model: string, input: unknown, more: Body = {}): Body {
  return { type: 'response.create', model, input, ...more }
}

async function overSocket({ sendFrame }: Player, model: string): Promise<void> {
  const tools = RESPONSES_TOOLS
  const first = await sendFrame(create(model, 'Look at Rome.', { tools }))
  const outputs = callsIn(first).map(({ id, args }) => ({
    type: 'function_call_output',
    call_id: id,
    output: outputFor(args),
  }))
  const previous = { previous_response_id: first.id, tools }
  const second = await sendFrame(create(model, outputs, previous))
  const more = { previous_response_id: second.id, store: false }
  const third = await sendFrame(create(model, 'And now?', more))
  await sendFrame(create(model, 'Again?', { previous_response_id: third.id, store: false }))
}

export const OTHER_ENDPOINTS: GoldenGroup = {
  name: 'other-endpoints',
  cases: [
    {
      name: 'models of all upstreams',
      settings: (url) => ({
        MODELS: '{"fast":"m1","best":["two/m3","m1"]}',
        ...accountsWith([
          { name: 'one', wire: 'chat', models: ['m1', 'm2*'] },
          { name: 'two', wire: 'responses', models: ['*'] },
          { name: 'three', wire: 'demo', models: ['demo'] },
        ])(url),
      }),
      async play({ send, services }) {
        services.behave = models('m1', 'm2-a', 'm3')
        await send({ method: 'GET', path: '/v1/models/fast' })
        await send({ method: 'GET', path: '/v1/models/m1' })
        await send({ method: 'GET', path: '/healthz' })
        await send({ method: 'GET', path: '/models/best' })
      },
    },
    {
      name: 'models that are listed',
      settings: accountsWith([{ name: 'one', wire: 'chat', models: ['m*'] }]),
      async play({ send, services }) {
        services.behave = models('m1', 'm2', 'other')
        await send({ method: 'GET', path: '/v1/models' })
      },
    },
    {
      name: 'models of an upstream that does not answer',
      settings: accountsWith([{ name: 'one', wire: 'chat', models: ['m1', 'n*'] }]),
      async play({ send, services }) {
        services.behave = answerJson(500, { error: { message: 'No.' } })
        await send({ method: 'GET', path: '/v1/models' })
      },
    },
    {
      name: 'embeddings are passed through',
      async play({ send, services }) {
        services.behave = answerJson(200, { object: 'list', data: [] }, { 'x-own': 'kept' })
        const path = '/v1/embeddings'
        await send({ path, body: { model: 'chat-model', input: 'x', unknown: 1.5 } })
        await send({ path, body: '{ "model" : "chat-model", "input" : 1.0 }' })
        await send({ path, body: { model: 'claude-sonnet-5', input: 'x' } })
        await send({ path: '/v1/images/generations?x=1', body: { model: 'gpt-5', prompt: 'fog' } })
      },
    },
    {
      name: 'bytes of a chat pass through',
      async play({ send }) {
        const body =
          '{ "messages": [{"role":"user","content":"Gr\\u00fcezi"}], "model":"chat-model", "temperature": 1.0, "stop": [ "x" ] }'
        await send({ path: '/v1/chat/completions', body })
        await send({ path: '/chat/completions', body: body.replace('{ ', '{"stream" :true, ') })
      },
    },
    {
      name: 'bytes of a response pass through',
      async play({ send }) {
        const body =
          '{ "input": [{"role":"user","content":"Gr\\u00fcezi"}], "model":"gpt-5", "temperature": 1.0, "store": false, "include":["reasoning.encrypted_content"] }'
        await send({ path: '/v1/responses', body })
        await send({ path: '/v1/responses', body: body.replace('{ ', '{"stream" :true, ') })
      },
    },
    {
      name: 'explained as text and as a body',
      async play({ send }) {
        const { id } = await send(ask(WHOLE, 'claude-sonnet-5', 'One?'))
        const more = {
          previous_response_id: id,
          backstory: { policy: 'lean', cuts: { min_chars: 0 } },
        }
        const second = await send(ask(WHOLE, 'claude-sonnet-5', 'Two?', more))
        const path = `/v1/context/explain/${second.id}`
        await send({ method: 'GET', path: `${path}?format=text` })
        await send({ method: 'GET', path: `${path}?format=body` })
        const body = { model: 'gpt-5', input: 'Three?', previous_response_id: second.id }
        await send({ path: '/v1/context/explain?format=text', body })
      },
    },
    {
      name: 'a response in the background',
      async play({ send }) {
        const { id } = await send({
          ...ask(WHOLE, 'claude-sonnet-5', 'One?', { background: true }),
          explained: 'not at all',
        })
        const stream = `/v1/responses/${id}?stream=true`
        await send({ method: 'GET', path: stream })
        await send({ method: 'GET', path: `/v1/responses/${id}` })
        await send({ path: `/v1/responses/${id}/cancel` })
      },
    },
    ...FOUR_WIRES.map((model) => ({
      name: `over a WebSocket: ${model}`,
      play: (player: Player) => overSocket(player, model),
    })),
    {
      name: 'over a WebSocket: what is refused',
      async play({ sendFrame }) {
        await sendFrame({ type: 'nope' })
        await sendFrame(create('nope', 'x'))
        await sendFrame(create('demo', 5))
        await sendFrame(create('demo', 'x', { previous_response_id: 'resp_nope' }))
      },
    },
  ],
}
