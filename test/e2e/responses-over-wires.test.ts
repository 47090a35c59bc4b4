/** The Responses API with the official SDK over every wire, each served by a strict upstream. */
import { makeParseableTextFormat } from 'openai/lib/parser'
import type {
  FunctionTool,
  Response,
  ResponseInput,
  ResponseInputItem,
} from 'openai/resources/responses/responses'
import { afterEach, describe, expect, test } from 'vitest'
import { REFUSAL, USAGE } from '../support/services/simulated-model.ts'
import { useGatewayWithServices } from '../support/services/gateway-with-services.ts'
import { ANSWER_SCHEMA, LOOK_TOOL, WIRE_MODELS, runToolCalls } from '../support/wire-models.ts'

const setup = useGatewayWithServices()
afterEach(() => {
  setup.services.manner = 'plain'
  setup.services.cut = null
  expect(setup.services.refusals.splice(0)).toEqual([])
})

const tools: FunctionTool[] = [{ type: 'function', strict: true, ...LOOK_TOOL }]
const reasoning = { effort: 'low' } as const
const QUESTION = 'Look at Rome and Oslo, then at Graz.'
const ANSWER = 'The tools said: Rome: 4 degrees · Oslo: 4 degrees · Graz: 4 degrees'

describe.each(WIRE_MODELS)(
  'the Responses API for $model',
  ({ model, thinks, refusalForm, returnedReasoning }) => {
    const thought = thinks ? ['reasoning'] : []
    /** Counts the reasoning that was sent back before the two batches of calls. */
    const reasoningSent = () =>
      setup.services.received.at(-1)?.text.match(returnedReasoning ?? /never/)?.length ?? 0
    const allOfIt = returnedReasoning === null ? 0 : 2

    test('a non-streamed Responses request is answered in the format of the published API', async () => {
      const response = await setup.gateway.openai.responses.create({
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
    ] as const)(
      'a Responses stream has the same answer as the non-streamed one (stream format: %s, bytes per chunk: %s)',
      async (manner, cut) => {
        const request = { model, reasoning, tools, input: QUESTION }
        const whole = await setup.gateway.openai.responses.create(request)
        Object.assign(setup.services, { manner, cut })
        const streamed = await setup.gateway.openai.responses.stream(request).finalResponse()
        expect(comparableParts(streamed)).toEqual(comparableParts(whole))
        const sealed = model.startsWith('gemini') ? thought : []
        expect(streamed.output.map(({ type }) => type)).toEqual([
          ...thought,
          'message',
          // Gemini signs the call; a client without `previous_response_id` gets the signature as an item before it.
          ...sealed,
          'function_call',
          'function_call',
        ])
      },
    )

    test('a Responses client runs a tool loop over previous_response_id', async () => {
      let response: Response = await setup.gateway.openai.responses
        .stream({ model, reasoning, tools, input: QUESTION })
        .finalResponse()
      for (let step = 0; step < 2; step++) {
        response = await setup.gateway.openai.responses
          .stream({
            model,
            reasoning,
            tools,
            previous_response_id: response.id,
            input: runToolCalls(response),
          })
          .finalResponse()
      }
      expect(response.output_text).toBe(ANSWER)
      expect(reasoningSent()).toBe(allOfIt)
      const after = await setup.gateway.openai.responses.create({
        model,
        reasoning,
        tools,
        previous_response_id: response.id,
        input: 'Thanks.',
      })
      expect(after.output_text).toContain('I remember 1 earlier')
    })

    test.each([true, false])(
      'a client that sends all items runs a tool loop (streamed: %s)',
      async (streams) => {
        const input: ResponseInput = [{ role: 'user', content: QUESTION }]
        const ask = () => {
          const request = {
            model,
            reasoning,
            tools,
            input,
            store: false,
            include: ['reasoning.encrypted_content' as const],
          }
          return streams
            ? setup.gateway.openai.responses.stream(request).finalResponse()
            : setup.gateway.openai.responses.create(request)
        }
        let response = await ask()
        for (let step = 0; step < 2; step++) {
          input.push(...(response.output as ResponseInputItem[]), ...runToolCalls(response))
          response = await ask()
        }
        expect(response.output_text).toBe(ANSWER)
        expect(reasoningSent()).toBe(allOfIt)
        input.push(...(response.output as ResponseInputItem[]), {
          role: 'user',
          content: 'Thanks.',
        })
        expect((await ask()).output_text).toContain('I remember 1 earlier')
      },
    )

    test('the model answers in the requested JSON schema', async () => {
      const format = makeParseableTextFormat<Record<string, unknown>>(
        { type: 'json_schema', name: 'weather', strict: true, schema: ANSWER_SCHEMA },
        (text) => JSON.parse(text) as Record<string, unknown>,
      )
      const request = { model, reasoning, text: { format }, input: 'Answer in JSON.' }
      const parsed = await setup.gateway.openai.responses.parse(request)
      expect(parsed.output_parsed).toMatchObject({ place: 'so', degrees: 7, hours: [7] })
      const streamed = await setup.gateway.openai.responses.stream(request).finalResponse()
      expect(streamed.output_parsed).toEqual(parsed.output_parsed)
    })

    test('a refusal in words becomes a refusal part, and a filtered answer is reported as incomplete', async () => {
      const request = { model, reasoning, input: 'Refuse this.' }
      const response = await setup.gateway.openai.responses.stream(request).finalResponse()
      expect(response).toMatchObject(
        refusalForm === 'in words'
          ? { status: 'completed' }
          : { status: 'incomplete', incomplete_details: { reason: 'content_filter' } },
      )
      const words = response.output.flatMap((item) => (item.type === 'message' ? item.content : []))
      expect(words).toMatchObject(
        refusalForm === 'filtered' ? [] : [{ type: 'refusal', refusal: REFUSAL }],
      )
      const next = await setup.gateway.openai.responses.create({
        model,
        reasoning,
        previous_response_id: response.id,
        input: 'Then this.',
      })
      expect(next.output_text).toContain('I remember 1 earlier')
    })

    test('an answer that was cut off is reported as incomplete and can be continued', async () => {
      const request = { model, reasoning, max_output_tokens: 2000, input: 'Go on for ever.' }
      const response = await setup.gateway.openai.responses.stream(request).finalResponse()
      expect(response).toMatchObject({
        status: 'incomplete',
        incomplete_details: { reason: 'max_output_tokens' },
        output_text: 'It goes on and',
      })
      const next = await setup.gateway.openai.responses.create({
        model,
        reasoning,
        previous_response_id: response.id,
        input: 'And?',
      })
      expect(next.output_text).toContain('I remember 1 earlier')
    })
  },
)

/**
 * Returns all that must be equal for streamed and non-streamed answers: everything but ids and encrypted
 * content.
 */
function comparableParts({ output, usage }: Response): unknown {
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
