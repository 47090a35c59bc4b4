/**
 * The default policy sends only the beginning and the end of long tool outputs of old turns, whether the
 * turns are stored or sent by the client each time (C14).
 */
import type { ChatCompletionMessageParam } from 'openai/resources/chat/completions'
import type { Response } from 'openai/resources/responses/responses'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startGateway, upstreams } from '../support/gateway.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'
import { answerWith } from '../support/answer-formats.ts'

let upstream: Upstream
let gateway: Awaited<ReturnType<typeof startGateway>>
beforeAll(async () => {
  let calls = 0
  upstream = await startUpstream((response, received) => {
    const { input } = received.json as { readonly input: readonly { readonly output?: unknown }[] }
    if (input.at(-1)?.output !== undefined) return answerWith({ text: 'Seen.' })(response, received)
    calls += 1
    const call = { id: `call_${calls}`, name: 'look', arguments: '{}' }
    return answerWith({ calls: [call] })(response, received)
  })
  const account = { name: 'r', wire: 'responses', baseUrl: upstream.url, apiKey: 'k' }
  // Otherwise a conversation of this length would not be shortened.
  gateway = await startGateway({ ...upstreams(account), CONTEXT: '{"cuts":{"min_chars":0}}' })
})
afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

const TURNS = 16
/** Two long outputs of 3,000 characters, then one of 800, which is too short to be shortened. */
const outputOf = (turn: number) => `${turn % 3} `.repeat(1500).slice(0, turn % 3 === 2 ? 800 : 3000)
const short = (turn: number) => {
  const long = outputOf(turn)
  if (long.length <= 800) return long
  const note = '[2616 characters of this tool output were left out here]'
  return `${long.slice(0, 256)}\n${note}\n${long.slice(-128)}`
}
const turns = Array.from({ length: TURNS }, (_, turn) => turn)
const whole = turns.map(outputOf)
/** What a request of the last turn contains: only the output of that turn is complete. */
const shortened = turns.map((turn) => (turn < TURNS - 1 ? short(turn) : outputOf(turn)))
const shortenedBefore = turns
  .slice(0, -1)
  .map((turn) => (turn < TURNS - 2 ? short(turn) : outputOf(turn)))

function outputsSent(): readonly unknown[] {
  const { input } = upstream.received.at(-1)?.json ?? {}
  return (input as readonly { readonly output?: unknown }[]).flatMap(({ output }) => output ?? [])
}

test('old tool outputs of a stored conversation are shortened in the prompt, but not in the store (C14)', async () => {
  const { responses } = gateway.openai
  let previous: string | null = null
  const sent: (readonly unknown[])[] = []
  for (const turn of turns) {
    const request = { model: 'gpt-5', previous_response_id: previous }
    const called: Response = await responses.create({ ...request, input: `Question ${turn}?` })
    const call_id = called.output.find((item) => item.type === 'function_call')?.call_id ?? ''
    const answered: Response = await responses.create({
      model: 'gpt-5',
      previous_response_id: called.id,
      input: [{ type: 'function_call_output', call_id, output: outputOf(turn) }],
    })
    previous = answered.id
    sent.push(outputsSent())
  }
  expect(sent.at(-2)).toEqual(shortenedBefore)
  expect(sent.at(-1)).toEqual(shortened)
  const { data } = await responses.inputItems.list(previous ?? '', { limit: 100, order: 'asc' })
  expect(
    data.flatMap((item) => (item.type === 'function_call_output' ? [item.output] : [])),
  ).toEqual(whole)
})

test('old tool outputs are shortened in a chat that its client sends completely each time (C14)', async () => {
  const chat = (count: number) =>
    turns.slice(0, count).flatMap((turn): ChatCompletionMessageParam[] => {
      const made = { name: 'look', arguments: '{}' }
      const call = { id: `own_${turn}`, type: 'function' as const, function: made }
      return [
        { role: 'user', content: `Question ${turn}?` },
        { role: 'assistant', content: null, tool_calls: [call] },
        { role: 'tool', tool_call_id: call.id, content: outputOf(turn) },
      ]
    })
  const { completions } = gateway.openai.chat
  await completions.create({ model: 'gpt-5', messages: chat(TURNS - 1) })
  expect(outputsSent()).toEqual(shortenedBefore)
  await completions.create({ model: 'gpt-5', messages: chat(TURNS) })
  expect(outputsSent()).toEqual(shortened)
})
