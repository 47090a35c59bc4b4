/** Every wire and the demo on Node and inside workerd, whose transports differ. */
import type {
  FunctionTool,
  Response,
  ResponseInput,
  ResponseInputItem,
} from 'openai/resources/responses/responses'
import { afterEach, describe, expect, test } from 'vitest'
import {
  readClientAnswer,
  PATHS,
  greetingRequest,
  type Dialect,
} from '../support/read-client-answer.ts'
import { STREAM_FAULTS } from '../support/stream-faults.ts'
import { LOOK_TOOL, WIRE_MODELS, runToolCalls } from '../support/wire-models.ts'
import { HOSTS } from './hosts.ts'
import { useHostWithServices } from './service-host.ts'
import { sampleCases } from '../support/sample.ts'

const MODELS = ['gpt-5', 'chat-model', 'claude-sonnet-5', 'gemini-3.8-flash']
const tools: FunctionTool[] = [{ type: 'function', strict: true, ...LOOK_TOOL }]
const QUESTION = 'Look at Rome and Oslo.'

describe.each(HOSTS)('OpenAI SDK clients of a gateway on %s', (_, start) => {
  const at = useHostWithServices(start)
  afterEach(() => {
    at.services.spoil = null
    at.services.cut = null
    expect(at.services.refusals.splice(0)).toEqual([])
  })

  describe.each(sampleCases([...MODELS, 'demo'], 2))('tool loops with the model %s', (model) => {
    // The demo calls a tool once, with arguments and an answer of its own.
    const answer = model === 'demo' ? 'The tools said: fog.' : 'The tools said: fog · fog'

    test('a tool loop runs over previous_response_id, streamed in chunks of 11 bytes', async () => {
      at.services.cut = 11
      const called = await at.openai.responses
        .stream({ model, tools, input: QUESTION })
        .finalResponse()
      const input = runToolCalls(called, () => 'fog')
      const request = { model, tools, input, previous_response_id: called.id }
      const answered = await at.openai.responses.stream(request).finalResponse()
      expect(answered.output_text).toBe(answer)
      expect(answered.output.map(({ type }) => type)).toEqual(['reasoning', 'message'])
      expect(answered.usage?.total_tokens).toBeGreaterThan(0)
    })

    test('a tool loop runs for a client that sends all items', async () => {
      const input: ResponseInput = [{ role: 'user', content: QUESTION }]
      const include = ['reasoning.encrypted_content' as const]
      const called = await at.openai.responses.create({
        model,
        tools,
        input,
        include,
        store: false,
      })
      input.push(...(called.output as ResponseInputItem[]), ...runToolCalls(called, () => 'fog'))
      const answered = await at.openai.responses.create({
        model,
        tools,
        input,
        include,
        store: false,
      })
      expect(answered.output_text).toBe(answer)
    })

    test('the tool runner of the OpenAI SDK runs a tool loop', async () => {
      const runner = at.openai.chat.completions.runTools({
        model,
        stream: true,
        messages: [{ role: 'user', content: QUESTION }],
        tools: [
          {
            type: 'function',
            function: { ...LOOK_TOOL, parse: JSON.parse, function: () => 'fog' },
          },
        ],
      })
      expect(await runner.finalContent()).toBe(answer)
    })
  })

  test('one conversation uses all models in turn', async () => {
    let previous: string | null = null
    for (const [turn, model] of [...MODELS, 'demo', ...MODELS].entries()) {
      const answer: Response = await at.openai.responses
        .stream({ model, input: 'Servus', previous_response_id: previous })
        .finalResponse()
      expect(answer.output_text).toContain(turn === 0 ? 'Servus' : `remember ${turn} earlier`)
      previous = answer.id
    }
  })

  const kinds = WIRE_MODELS.filter(({ model }) => MODELS.includes(model))
  const spoils = STREAM_FAULTS.filter(({ fails }) => fails !== null)
  test.each(sampleCases(kinds, 2))(
    'a broken stream of $model is reported as one failure',
    async ({ model, wire }) => {
      for (const { frames, fails, said = /./ } of spoils) {
        at.services.spoil = (told) => frames(told, wire)
        for (const dialect of ['responses', 'chat'] satisfies Dialect[]) {
          const body = JSON.stringify(greetingRequest(dialect, model, true))
          const response = await fetch(at.host.url + PATHS[dialect], { method: 'POST', body })
          const { failure, text } = await readClientAnswer(dialect, response)
          expect(failure).toMatch(fails ?? /./)
          expect(text).toMatch(said)
        }
      }
    },
  )
})
