/** Compaction and token counts with the official SDK, over every wire, on Node and inside workerd. */
import type {
  FunctionTool,
  Response,
  ResponseInput,
  ResponseInputItem,
} from 'openai/resources/responses/responses'
import { afterEach, describe, expect, test } from 'vitest'
import { schemaFaults } from '../support/openapi.ts'
import { LOOK_TOOL, runToolCalls } from '../support/wire-models.ts'
import { HOSTS } from './hosts.ts'
import { useHostWithServices } from './service-host.ts'
import { sampleCases } from '../support/sample.ts'

const MODELS = ['gpt-5', 'chat-model', 'claude-sonnet-5', 'gemini-3.8-flash', 'demo']
const tools: FunctionTool[] = [{ type: 'function', strict: true, ...LOOK_TOOL }]
const COMPACT_ALWAYS = [{ type: 'compaction', compact_threshold: 1 }]

const typesIn = ({ output }: { readonly output: readonly { readonly type: string }[] }) =>
  output.map(({ type }) => type)

describe.each(HOSTS)('compaction of conversations on %s', (_, start) => {
  const at = useHostWithServices(start)
  afterEach(() => expect(at.services.refusals.splice(0)).toEqual([]))

  describe.each(sampleCases(MODELS, 2))('compaction of conversations over %s', (model) => {
    /** Returns the last request to the upstream; null for the demo, which runs inside the gateway. */
    const sent = () => (model === 'demo' ? null : (at.services.received.at(-1)?.text ?? ''))
    const expectSummaryOnly = () => {
      if (sent() === null) return
      expect(sent()?.split('[Summary of the conversation').length).toBe(2)
      expect(sent()).not.toMatch(/"tool_result"|"role":"tool"|call_output|functionResponse/)
      const summing = at.services.received.findLast(({ text }) => text.includes('<conversation>'))
      expect(summing?.text).toContain('fog at dawn')
    }

    async function talked(): Promise<Response> {
      const called = await at.openai.responses.create({ model, tools, input: 'Look at Rome.' })
      const input = runToolCalls(called, () => 'fog at dawn')
      return at.openai.responses.create({ model, tools, input, previous_response_id: called.id })
    }

    test('a compacted conversation can be continued from the result of the compaction', async () => {
      const { id } = await talked()
      const compacted = await at.openai.responses.compact({ model, previous_response_id: id })
      expect(schemaFaults('openai', 'CompactResource', compacted)).toEqual([])
      expect(typesIn(compacted)).toEqual(['message', 'compaction'])
      expect(compacted.output[0]).toMatchObject({
        role: 'user',
        status: 'completed',
        content: [{ type: 'input_text', text: 'Look at Rome.' }],
      })
      expect(compacted.usage.total_tokens).toBeGreaterThan(50)

      const input = [...compacted.output, { role: 'user', content: 'And now?' }] as ResponseInput
      const { output_text } = await at.openai.responses.create({ model, input })
      expect(output_text).toContain('And now?')
      expectSummaryOnly()
      // A compaction result is not a response.
      await expect(
        at.openai.responses.create({ model, input: 'x', previous_response_id: compacted.id }),
      ).rejects.toThrow('not found')
    })

    test.each([false, true])(
      'a conversation above the threshold is compacted automatically (streamed: %s)',
      async (isStreamed) => {
        const { id } = await talked()
        const requestFields = { model, input: 'And now?', previous_response_id: id, tools }
        const first = isStreamed
          ? await at.openai.responses
              .stream({ ...requestFields, context_management: COMPACT_ALWAYS })
              .finalResponse()
          : await at.openai.responses.create({
              ...requestFields,
              context_management: COMPACT_ALWAYS,
            })
        expect(typesIn(first)[0]).toBe('compaction')
        expect(typesIn(first).filter((type) => type === 'compaction')).toHaveLength(1)
        expectSummaryOnly()

        const input = runToolCalls(first, () => 'fog at dawn')
        const question: ResponseInputItem = { role: 'user', content: 'And then?' }
        const next = await at.openai.responses.create({
          model,
          input: [...input, question],
          previous_response_id: first.id,
        })
        expect(typesIn(next)).not.toContain('compaction')
        expect(next.status).toBe('completed')
      },
    )

    test('a conversation below the threshold is not compacted', async () => {
      const { id } = await talked()
      const response = await at.openai.responses.create({
        model,
        input: 'And now?',
        previous_response_id: id,
        context_management: [{ type: 'compaction', compact_threshold: 100_000 }],
      })
      expect(typesIn(response)).not.toContain('compaction')
    })

    test('a request with a compaction trigger is answered with only the compaction', async () => {
      const { id } = await talked()
      const input: ResponseInputItem[] = [{ type: 'compaction_trigger' }]
      const requestFields = { model, input, previous_response_id: id }
      const compacted = await at.openai.responses.stream(requestFields).finalResponse()
      expect(compacted.status).toBe('completed')
      expect(typesIn(compacted)).toEqual(['compaction'])
      const next = await at.openai.responses.create({
        model,
        input: 'And now?',
        previous_response_id: compacted.id,
      })
      expect(next.output_text).toContain('And now?')
      expectSummaryOnly()
    })

    test('the token count of a request includes everything that would be sent', async () => {
      const count = async (more: object) =>
        (await at.openai.responses.inputTokens.count({ model, ...more })).input_tokens
      const counted = await at.openai.responses.inputTokens.count({ model, input: 'Servus' })
      expect(schemaFaults('openai', 'TokenCountsResource', counted)).toEqual([])
      const short = await count({ input: 'Servus' })
      expect(short).toBeGreaterThan(0)
      expect(await count({ input: 'Servus', tools })).toBeGreaterThan(short)
      const long = await count({ input: 'Servus '.repeat(4000) })
      expect(long).toBeGreaterThan(5500)
      expect(long).toBeLessThan(8000)
      const { id } = await talked()
      expect(await count({ previous_response_id: id })).toBeGreaterThan(short)
    })
  })
})
