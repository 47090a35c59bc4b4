/** Every wire and the demo on both hosts: the ways that a token takes there are different ones. */
import type {
  FunctionTool,
  Response,
  ResponseInput,
  ResponseInputItem,
} from 'openai/resources/responses/responses'
import { afterEach, describe, expect, test } from 'vitest'
import { heard, PATHS, servus, type Dialect } from '../support/heard.ts'
import { SPOILS } from '../support/spoiled-streams.ts'
import { LOOK, WIRE_MODELS } from '../support/wire-models.ts'
import { HOSTS } from './hosts.ts'
import { serviceHost } from './service-host.ts'

const MODELS = ['gpt-5', 'chat-model', 'claude-sonnet-5', 'gemini-3.8-flash']
const tools: FunctionTool[] = [{ type: 'function', strict: true, ...LOOK }]
const QUESTION = 'Look at Rome and Oslo.'

function outputsFor({ output }: Response): ResponseInputItem[] {
  return output.flatMap((item): ResponseInputItem[] =>
    item.type === 'function_call'
      ? [{ type: 'function_call_output', call_id: item.call_id, output: 'fog' }]
      : [],
  )
}

describe.each(HOSTS)('on %s', (_, start) => {
  const at = serviceHost(start)
  afterEach(() => {
    at.services.spoil = null
    at.services.cut = null
    expect(at.services.refusals.splice(0)).toEqual([])
  })

  describe.each([...MODELS, 'demo'])('over %s', (model) => {
    // The demo calls a tool once, with arguments of its own, and says it in its own words.
    const answer = model === 'demo' ? 'The tools said: fog.' : 'The tools said: fog · fog'

    test('a tool loop over previous_response_id, streamed in crumbs', async () => {
      at.services.cut = 11
      const called = await at.openai.responses
        .stream({ model, tools, input: QUESTION })
        .finalResponse()
      const input = outputsFor(called)
      const asked = { model, tools, input, previous_response_id: called.id }
      const answered = await at.openai.responses.stream(asked).finalResponse()
      expect(answered.output_text).toBe(answer)
      expect(answered.output.map(({ type }) => type)).toEqual(['reasoning', 'message'])
      expect(answered.usage?.total_tokens).toBeGreaterThan(0)
    })

    test('a tool loop of a client without memory', async () => {
      const input: ResponseInput = [{ role: 'user', content: QUESTION }]
      const include = ['reasoning.encrypted_content' as const]
      const called = await at.openai.responses.create({
        model,
        tools,
        input,
        include,
        store: false,
      })
      input.push(...(called.output as ResponseInputItem[]), ...outputsFor(called))
      const answered = await at.openai.responses.create({
        model,
        tools,
        input,
        include,
        store: false,
      })
      expect(answered.output_text).toBe(answer)
    })

    test('a chat that runs tools', async () => {
      const runner = at.openai.chat.completions.runTools({
        model,
        stream: true,
        messages: [{ role: 'user', content: QUESTION }],
        tools: [
          { type: 'function', function: { ...LOOK, parse: JSON.parse, function: () => 'fog' } },
        ],
      })
      expect(await runner.finalContent()).toBe(answer)
    })
  })

  test('one conversation through all of them', async () => {
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
  const spoils = SPOILS.filter(({ fails }) => fails !== null)
  test.each(kinds)('streams of $model that break', async ({ model, wire }) => {
    for (const { frames, fails, said = /./ } of spoils) {
      at.services.spoil = (told) => frames(told, wire)
      for (const dialect of ['responses', 'chat'] satisfies Dialect[]) {
        const body = JSON.stringify(servus(dialect, model, true))
        const response = await fetch(at.host.url + PATHS[dialect], { method: 'POST', body })
        const { failure, text } = await heard(dialect, response)
        expect(failure).toMatch(fails ?? /./)
        expect(text).toMatch(said)
      }
    }
  })
})
