/** One conversation with another model in every turn: the items of one wire are valid on the next. */
import type { ChatCompletionMessageParam } from 'openai/resources/chat/completions'
import type {
  FunctionTool,
  Response,
  ResponseInput,
  ResponseInputItem,
} from 'openai/resources/responses/responses'
import { afterEach, expect, test } from 'vitest'
import { useGatewayWithServices } from '../support/services/gateway-with-services.ts'
import { runLookTool, LOOK_TOOL, WIRE_MODELS, runToolCalls } from '../support/wire-models.ts'

const setup = useGatewayWithServices()
afterEach(() => expect(setup.services.refusals.splice(0)).toEqual([]))

const MODELS = WIRE_MODELS.map(({ model }) => model)
const tools: FunctionTool[] = [{ type: 'function', strict: true, ...LOOK_TOOL }]
const reasoning = { effort: 'low' } as const
const LOOKED = 'The tools said: Rome: 4 degrees · Oslo: 4 degrees'

test('a chain of responses runs a tool loop with every model in turn (C10, C98)', async () => {
  let previous: string | null = null
  const ask = async (model: string, input: string | ResponseInput): Promise<Response> => {
    const response = await setup.gateway.openai.responses
      .stream({ model, reasoning, tools, input, previous_response_id: previous })
      .finalResponse()
    previous = response.id
    return response
  }
  for (const [turn, model] of [...MODELS, ...MODELS.toReversed()].entries()) {
    const called = await ask(model, 'Look at Rome and Oslo.')
    const answered = await ask(model, runToolCalls(called))
    expect(answered.output_text).toBe(LOOKED)
    const answer = await ask(model, 'Thanks.')
    expect(answer.output_text).toContain(`I remember ${turn * 2 + 1} earlier`)
  }
})

test.each(MODELS)('every other model accepts the outputs for tool calls of %s', async (caller) => {
  for (const model of MODELS) {
    const called = await setup.gateway.openai.responses.create({
      model: caller,
      reasoning,
      tools,
      input: 'Look at Rome and Oslo.',
    })
    const answered = await setup.gateway.openai.responses.create({
      model,
      reasoning,
      tools,
      previous_response_id: called.id,
      input: runToolCalls(called),
    })
    expect([model, answered.output_text]).toEqual([model, LOOKED])
  }
})

test.each(MODELS)(
  'a client that sends all items can continue a conversation of %s with every other model',
  async (caller) => {
    for (const model of MODELS) {
      const input: ResponseInput = [{ role: 'user', content: 'Look at Rome and Oslo.' }]
      const ask = (model: string) =>
        setup.gateway.openai.responses.create({
          model,
          reasoning,
          tools,
          input,
          store: false,
          include: ['reasoning.encrypted_content'],
        })
      const called = await ask(caller)
      input.push(...(called.output as ResponseInputItem[]), ...runToolCalls(called))
      const answered = await ask(model)
      expect([model, answered.output_text]).toEqual([model, LOOKED])
      input.push(...(answered.output as ResponseInputItem[]), { role: 'user', content: 'Thanks.' })
      expect((await ask(caller)).output_text).toContain('I remember 1 earlier')
    }
  },
)

test.each(MODELS)(
  'a chat that was started with %s continues with every other model (C10)',
  async (caller) => {
    for (const model of MODELS) {
      const messages: ChatCompletionMessageParam[] = [
        { role: 'user', content: 'Look at Rome and Oslo.' },
      ]
      const ask = async (model: string) => {
        const { choices } = await setup.gateway.openai.chat.completions.create({
          model,
          reasoning_effort: 'low',
          messages,
          tools: [{ type: 'function', function: LOOK_TOOL }],
        })
        const message = choices[0]?.message
        if (message === undefined) throw new Error('There is no answer.')
        messages.push(message)
        for (const call of message.tool_calls ?? []) {
          const args = call.type === 'function' ? call.function.arguments : ''
          messages.push({ role: 'tool', tool_call_id: call.id, content: runLookTool(args) })
        }
        return message.content
      }
      await ask(caller)
      expect([model, await ask(model)]).toEqual([model, LOOKED])
      messages.push({ role: 'user', content: 'Thanks.' })
      expect(await ask(caller)).toContain('I remember 1 earlier')
    }
  },
)
