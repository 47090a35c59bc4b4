/** Tool rounds: two calls at once, then one, with every model and form of request. */
import type { Body, GoldenCase, GoldenGroup } from '../golden-case.ts'
import { callsIn } from '../read-answer.ts'
import {
  ask,
  askWithTools,
  FOUR_WIRES,
  MODELS,
  outputFor,
  responses,
  RESPONSES_TOOLS,
  WAYS,
} from './ways.ts'

const QUESTION = 'Look at Rome and Oslo, then at Graz.'
const [WHOLE, STREAMED, WHOLE_CHAT, STREAMED_CHAT] = WAYS

export const TOOLS: GoldenGroup = {
  name: 'tools',
  cases: [
    ...MODELS.flatMap((model, at) =>
      // Two of the four forms for each model, so that all are covered.
      [WHOLE, STREAMED, WHOLE_CHAT, STREAMED_CHAT]
        .filter((_, number) => number % 2 === at % 2)
        .flatMap((way) => way ?? [])
        .map((way): GoldenCase => ({
          name: `${model}: ${way.name}`,
          play: (player) => askWithTools(player, way, model, QUESTION),
        })),
    ),
    ...FOUR_WIRES.map((model): GoldenCase => ({
      name: `${model}: all items are sent back by hand, nothing is kept`,
      async play({ send }) {
        const include = ['reasoning.encrypted_content']
        const body = { model, tools: RESPONSES_TOOLS, store: false, include }
        const question = { role: 'user', content: QUESTION }
        const first = await send(responses({ ...body, input: [question] }))
        const outputs = callsIn(first).map(({ id, args }) => ({
          type: 'function_call_output',
          call_id: id,
          output: outputFor(args),
        }))
        const output = first.json['output'] as readonly Body[]
        const input = [question, ...output, ...outputs]
        await send(responses({ ...body, input }))
      },
    })),
    ...FOUR_WIRES.map((model): GoldenCase => ({
      name: `${model}: an output is missing, another comes late, a third has no call`,
      play: ({ send }) =>
        send(
          responses({
            model,
            tools: RESPONSES_TOOLS,
            input: [
              { role: 'user', content: 'Look at Rome and Oslo.' },
              callOf('call_a', 'Rome'),
              callOf('call_b', 'Oslo'),
              { role: 'assistant', content: 'One moment.' },
              { type: 'function_call_output', call_id: 'call_b', output: 'Oslo: cold' },
              { type: 'function_call_output', call_id: 'call_x', output: 'Nobody asked.' },
              { role: 'user', content: 'And now?' },
            ],
          }),
        ),
    })),
    ...FOUR_WIRES.slice(2).map((model): GoldenCase => ({
      name: `${model}: tools are offered and not used, then forgotten`,
      async play({ send }) {
        const [way] = WAYS
        if (way === undefined) return
        const first = await send(ask(way, model, 'Hello!', { tools: RESPONSES_TOOLS }))
        await send(ask(way, model, 'And you?', { previous_response_id: first.id }))
      },
    })),
  ],
}

function callOf(id: string, at: string): Body {
  return { type: 'function_call', call_id: id, name: 'look', arguments: JSON.stringify({ at }) }
}
