/** The Responses API of the official SDK over every wire, each served by a strict upstream. */
import { makeParseableTextFormat } from 'openai/lib/parser'
import type {
  FunctionTool,
  Response,
  ResponseInput,
  ResponseInputItem,
  ResponseOutputItem,
} from 'openai/resources/responses/responses'
import { afterEach, describe, expect, test } from 'vitest'
import { REFUSAL, USAGE } from '../support/services/model.ts'
import { serviceTown } from '../support/services/service-town.ts'
import { ANSWER_SCHEMA, degreesAt, LOOK, WIRE_MODELS } from '../support/wire-models.ts'

const town = serviceTown()
afterEach(() => {
  town.services.manner = 'plain'
  town.services.cut = null
  expect(town.services.refusals.splice(0)).toEqual([])
})

const tools: FunctionTool[] = [{ type: 'function', strict: true, ...LOOK }]
const reasoning = { effort: 'low' } as const
const QUESTION = 'Look at Rome and Oslo, then at Graz.'
const ANSWER = 'The tools said: Rome: 4 degrees · Oslo: 4 degrees · Graz: 4 degrees'

function outputsFor(output: readonly ResponseOutputItem[]): ResponseInputItem[] {
  return output.flatMap((item): ResponseInputItem[] =>
    item.type === 'function_call'
      ? [
          {
            type: 'function_call_output',
            call_id: item.call_id,
            output: degreesAt(item.arguments),
          },
        ]
      : [],
  )
}

describe.each(WIRE_MODELS)('$model', ({ model, thinks, refuses, returned }) => {
  const thought = thinks ? ['reasoning'] : []
  /** What came back of the reasoning in front of the two batches of calls. */
  const reasoningSent = () =>
    town.services.received.at(-1)?.text.match(returned ?? /never/)?.length ?? 0
  const allOfIt = returned === null ? 0 : 2

  test('answers, whole', async () => {
    const response = await town.gateway.openai.responses.create({
      model,
      reasoning,
      input: 'Servus',
    })
    expect(response).toMatchObject({
      status: 'completed',
      output_text: 'You said “Servus”. Grüezi 🦊!',
      usage: {
        input_tokens: USAGE.input,
        input_tokens_details: { cached_tokens: USAGE.cached },
        output_tokens: USAGE.output,
        output_tokens_details: { reasoning_tokens: USAGE.reasoning },
      },
    })
    expect(response.output.map(({ type }) => type)).toEqual([...thought, 'message'])
  })

  test.each([
    ['plain', null],
    ['plain', 5],
    ['odd', null],
    ['odd', 7],
  ] as const)('says streamed what it says whole (%s, cut %s)', async (manner, cut) => {
    const asked = { model, reasoning, tools, input: QUESTION }
    const whole = await town.gateway.openai.responses.create(asked)
    Object.assign(town.services, { manner, cut })
    const streamed = await town.gateway.openai.responses.stream(asked).finalResponse()
    expect(shown(streamed)).toEqual(shown(whole))
    const sealed = model.startsWith('gemini') ? thought : []
    expect(streamed.output.map(({ type }) => type)).toEqual([
      ...thought,
      'message',
      // Gemini signs the call, and a client without memory is given the signature in front of it.
      ...sealed,
      'function_call',
      'function_call',
    ])
  })

  test('runs a tool loop over previous_response_id', async () => {
    let response: Response = await town.gateway.openai.responses
      .stream({ model, reasoning, tools, input: QUESTION })
      .finalResponse()
    for (let step = 0; step < 2; step++) {
      response = await town.gateway.openai.responses
        .stream({
          model,
          reasoning,
          tools,
          previous_response_id: response.id,
          input: outputsFor(response.output),
        })
        .finalResponse()
    }
    expect(response.output_text).toBe(ANSWER)
    expect(reasoningSent()).toBe(allOfIt)
    const after = await town.gateway.openai.responses.create({
      model,
      reasoning,
      tools,
      previous_response_id: response.id,
      input: 'Thanks.',
    })
    expect(after.output_text).toContain('I remember 1 earlier')
  })

  test.each([true, false])(
    'runs a tool loop for a client without memory (streamed: %s)',
    async (streams) => {
      const input: ResponseInput = [{ role: 'user', content: QUESTION }]
      const ask = () => {
        const asked = {
          model,
          reasoning,
          tools,
          input,
          store: false,
          include: ['reasoning.encrypted_content' as const],
        }
        return streams
          ? town.gateway.openai.responses.stream(asked).finalResponse()
          : town.gateway.openai.responses.create(asked)
      }
      let response = await ask()
      for (let step = 0; step < 2; step++) {
        input.push(...(response.output as ResponseInputItem[]), ...outputsFor(response.output))
        response = await ask()
      }
      expect(response.output_text).toBe(ANSWER)
      expect(reasoningSent()).toBe(allOfIt)
      input.push(...(response.output as ResponseInputItem[]), { role: 'user', content: 'Thanks.' })
      expect((await ask()).output_text).toContain('I remember 1 earlier')
    },
  )

  test('answers in the shape that was asked for', async () => {
    const format = makeParseableTextFormat<Record<string, unknown>>(
      { type: 'json_schema', name: 'weather', strict: true, schema: ANSWER_SCHEMA },
      (text) => JSON.parse(text) as Record<string, unknown>,
    )
    const asked = { model, reasoning, text: { format }, input: 'Answer in JSON.' }
    const parsed = await town.gateway.openai.responses.parse(asked)
    expect(parsed.output_parsed).toMatchObject({ place: 'so', degrees: 7, hours: [7] })
    const streamed = await town.gateway.openai.responses.stream(asked).finalResponse()
    expect(streamed.output_parsed).toEqual(parsed.output_parsed)
  })

  test('refuses in its own way', async () => {
    const asked = { model, reasoning, input: 'Refuse this.' }
    const response = await town.gateway.openai.responses.stream(asked).finalResponse()
    expect(response).toMatchObject(
      refuses === 'in words'
        ? { status: 'completed' }
        : { status: 'incomplete', incomplete_details: { reason: 'content_filter' } },
    )
    const words = response.output.flatMap((item) => (item.type === 'message' ? item.content : []))
    expect(words).toMatchObject(
      refuses === 'filtered' ? [] : [{ type: 'refusal', refusal: REFUSAL }],
    )
    const next = await town.gateway.openai.responses.create({
      model,
      reasoning,
      previous_response_id: response.id,
      input: 'Then this.',
    })
    expect(next.output_text).toContain('I remember 1 earlier')
  })

  test('says when it was cut off, and goes on', async () => {
    const asked = { model, reasoning, max_output_tokens: 2000, input: 'Go on for ever.' }
    const response = await town.gateway.openai.responses.stream(asked).finalResponse()
    expect(response).toMatchObject({
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
      output_text: 'It goes on and',
    })
    const next = await town.gateway.openai.responses.create({
      model,
      reasoning,
      previous_response_id: response.id,
      input: 'And?',
    })
    expect(next.output_text).toContain('I remember 1 earlier')
  })
})

/** What is the same whether it was streamed or not: all but ids and seals. */
function shown({ output, usage }: Response): unknown {
  return {
    usage,
    output: output.map((item) => {
      switch (item.type) {
        case 'message':
          return item.content.map((part) => (part.type === 'refusal' ? part.refusal : part.text))
        case 'function_call':
          return [item.name, item.arguments]
        case 'reasoning':
          return [
            item.summary.map(({ text }) => text),
            (item.content ?? []).map(({ text }) => text),
          ]
        default:
          return item.type
      }
    }),
  }
}
