/** One conversation, another model in every turn: what one wire said is lawful on the next. */
import type { ChatCompletionMessageParam } from 'openai/resources/chat/completions'
import type {
  FunctionTool,
  Response,
  ResponseInput,
  ResponseInputItem,
  ResponseOutputItem,
} from 'openai/resources/responses/responses'
import { afterEach, expect, test } from 'vitest'
import { serviceTown } from '../support/services/service-town.ts'
import { degreesAt, LOOK, WIRE_MODELS } from '../support/wire-models.ts'

const town = serviceTown()
afterEach(() => expect(town.services.refusals.splice(0)).toEqual([]))

const MODELS = WIRE_MODELS.map(({ model }) => model)
const tools: FunctionTool[] = [{ type: 'function', strict: true, ...LOOK }]
const reasoning = { effort: 'low' } as const
const LOOKED = 'The tools said: Rome: 4 degrees · Oslo: 4 degrees'

function outputsFor(output: readonly ResponseOutputItem[]): ResponseInputItem[] {
  return output.flatMap((item): ResponseInputItem[] =>
    item.type === 'function_call'
      ? [{ type: 'function_call_output', call_id: item.call_id, output: degreesAt(item.arguments) }]
      : [],
  )
}

test('a chain of responses goes through every model, with a tool loop in each (C10, C98)', async () => {
  let previous: string | null = null
  const ask = async (model: string, input: string | ResponseInput): Promise<Response> => {
    const response = await town.gateway.openai.responses
      .stream({ model, reasoning, tools, input, previous_response_id: previous })
      .finalResponse()
    previous = response.id
    return response
  }
  for (const [turn, model] of [...MODELS, ...MODELS.toReversed()].entries()) {
    const called = await ask(model, 'Look at Rome and Oslo.')
    const answered = await ask(model, outputsFor(called.output))
    expect(answered.output_text).toBe(LOOKED)
    const heard = await ask(model, 'Thanks.')
    expect(heard.output_text).toContain(`I remember ${turn * 2 + 1} earlier`)
  }
})

test.each(MODELS)('what %s called for is answered by every other', async (caller) => {
  for (const model of MODELS) {
    const called = await town.gateway.openai.responses.create({
      model: caller,
      reasoning,
      tools,
      input: 'Look at Rome and Oslo.',
    })
    const answered = await town.gateway.openai.responses.create({
      model,
      reasoning,
      tools,
      previous_response_id: called.id,
      input: outputsFor(called.output),
    })
    expect([model, answered.output_text]).toEqual([model, LOOKED])
  }
})

test.each(MODELS)('a client without memory takes what %s said to every other', async (caller) => {
  for (const model of MODELS) {
    const input: ResponseInput = [{ role: 'user', content: 'Look at Rome and Oslo.' }]
    const ask = (model: string) =>
      town.gateway.openai.responses.create({
        model,
        reasoning,
        tools,
        input,
        store: false,
        include: ['reasoning.encrypted_content'],
      })
    const called = await ask(caller)
    input.push(...(called.output as ResponseInputItem[]), ...outputsFor(called.output))
    const answered = await ask(model)
    expect([model, answered.output_text]).toEqual([model, LOOKED])
    input.push(...(answered.output as ResponseInputItem[]), { role: 'user', content: 'Thanks.' })
    expect((await ask(caller)).output_text).toContain('I remember 1 earlier')
  }
})

test.each(MODELS)('a chat begun with %s goes on with every other (C10)', async (caller) => {
  for (const model of MODELS) {
    const messages: ChatCompletionMessageParam[] = [
      { role: 'user', content: 'Look at Rome and Oslo.' },
    ]
    const ask = async (model: string) => {
      const { choices } = await town.gateway.openai.chat.completions.create({
        model,
        reasoning_effort: 'low',
        messages,
        tools: [{ type: 'function', function: LOOK }],
      })
      const message = choices[0]?.message
      if (message === undefined) throw new Error('There is no answer.')
      messages.push(message)
      for (const call of message.tool_calls ?? []) {
        const args = call.type === 'function' ? call.function.arguments : ''
        messages.push({ role: 'tool', tool_call_id: call.id, content: degreesAt(args) })
      }
      return message.content
    }
    await ask(caller)
    expect([model, await ask(model)]).toEqual([model, LOOKED])
    messages.push({ role: 'user', content: 'Thanks.' })
    expect(await ask(caller)).toContain('I remember 1 earlier')
  }
})
