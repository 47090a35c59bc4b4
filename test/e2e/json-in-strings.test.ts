/**
 * JSON inside the strings of a request has limits of its own, so that no arguments, outputs or encrypted contents take
 * more memory than the request is counted with, or overflow the stack. Text beyond the limits is sent as text.
 */
import { describe, expect, test } from 'vitest'
import { useGatewayWithServices } from '../support/services/gateway-with-services.ts'
import { WIRE_MODELS } from '../support/wire-models.ts'

const setup = useGatewayWithServices()

const user = { type: 'message', role: 'user', content: 'Servus' }
const call = (id: string, text: string, more = {}) => ({
  type: 'function_call',
  call_id: id,
  name: 'look',
  arguments: text,
  ...more,
})
const output = (id: string, text: string) => ({
  type: 'function_call_output',
  call_id: id,
  output: text,
})

const MANY = `{"a":[${'{},'.repeat(100_000)}{}]}`
const DEEP = '{"a":'.repeat(20_000) + '1' + '}'.repeat(20_000)
const UNFINISHED = '['.repeat(300_000)
const ANSWERED = { status: 200, ending: 'completed' }
const TEXTS = { MANY, DEEP, UNFINISHED }

const models = WIRE_MODELS.filter(
  ({ wire }, index) => WIRE_MODELS.findIndex((other) => other.wire === wire) === index,
)

describe.each(models)('JSON in strings over $wire', ({ model }) => {
  const ask = async (input: readonly object[]) => {
    const response = await setup.gateway.post('/v1/responses', {
      model,
      input: [user, ...input, user],
    })
    const { status: ending } = (await response.json()) as { status?: string }
    return { status: response.status, ending }
  }

  test.each(Object.entries(TEXTS))(
    'arguments and outputs with %s are sent as text',
    async (_, text) => {
      expect(await ask([call('call_1', text), output('call_1', text)])).toEqual(ANSWERED)
    },
  )

  test.each(Object.entries(TEXTS))('copies of a call with %s are recognized', async (_, text) => {
    const copy = call('call_1', text, { id: 'fc_1' })
    expect(await ask([copy, copy, output('call_1', 'done')])).toEqual(ANSWERED)
  })

  test('many calls whose arguments are each below the limit are answered', async () => {
    const text = `{"a":[${'[],'.repeat(19_000)}[]]}`
    const items = Array.from({ length: 30 }, (_, at) => [
      call(`call_${at}`, text),
      output(`call_${at}`, text),
    ])
    expect(await ask(items.flat())).toEqual(ANSWERED)
  })

  test('encrypted contents with too many values are answered like unreadable ones', async () => {
    const encoded = Buffer.from(MANY).toString('base64')
    const contents = [`backstory:${encoded}`, `anthropic:compaction:${encoded}`]
    for (const content of contents) {
      const unreadable = content.slice(0, content.lastIndexOf(':') + 1) + 'AAAA'
      const compaction = (text: string) => ({
        type: 'compaction',
        id: 'cmp_1',
        encrypted_content: text,
      })
      const { status } = await ask([compaction(content)])
      expect(status).toBe((await ask([compaction(unreadable)])).status)
      expect(status).toBeLessThan(500)
    }
    const details = (text: string) => ({
      type: 'reasoning',
      id: 'rs_1',
      summary: [],
      encrypted_content: `chat:1:a:b:${text}`,
    })
    for (const text of [`[${'{},'.repeat(100_000)}{}]`, DEEP, UNFINISHED])
      expect(await ask([details(text)])).toEqual(ANSWERED)
  })
})
