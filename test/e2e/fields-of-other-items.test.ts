/**
 * An item may have a field of another item type with any value, because some clients write unions of all
 * fields. Such a field is passed on or rejected by name, over every wire.
 */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { useGatewayWithServices } from '../support/services/gateway-with-services.ts'
import { WIRE_MODELS } from '../support/wire-models.ts'

const setup = useGatewayWithServices()

const ITEMS: readonly object[] = [
  { role: 'user', content: 'Servus' },
  { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Grüezi' }] },
  { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAAA' },
  { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{}' },
  { type: 'function_call_output', call_id: 'c1', output: '1' },
  { type: 'custom_tool_call', call_id: 'c2', name: 'g', input: 'x' },
  { type: 'custom_tool_call_output', call_id: 'c2', output: [{ type: 'input_text', text: '2' }] },
]
const FIELDS =
  `id call_id output content summary encrypted_content name arguments input role phase status raw native
  origin parts text`.split(/\s+/)
const JUNK: readonly unknown[] = [null, 5, true, 'x', {}, [], [null], { type: 'x' }]

const strays = fc.tuple(
  fc.nat(ITEMS.length - 1),
  fc.constantFrom(...FIELDS),
  fc.constantFrom(...JUNK),
)

test.each(WIRE_MODELS)(
  'an item with a field of another item type is passed on to $model, or the field is rejected by name',
  async ({ model }) => {
    await fc.assert(
      fc.asyncProperty(fc.array(strays, { minLength: 1, maxLength: 3 }), async (told) => {
        const input = ITEMS.map((item, at) => {
          const own = told.filter(([place, field]) => place === at && !(field in item))
          return { ...item, ...Object.fromEntries(own.map(([, field, junk]) => [field, junk])) }
        })
        const body = { model, input, reasoning: { effort: 'low' } }
        const answer = await setup.gateway.post('/v1/context/explain', body)
        const json = (await answer.json()) as { error?: { param?: string } }
        expect([200, 400]).toContain(answer.status)
        if (answer.status === 400) expect(json.error?.param).toMatch(/^input\[\d\]/)
      }),
      { numRuns: 150 },
    )
  },
)
