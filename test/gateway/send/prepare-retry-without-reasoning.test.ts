import { afterAll, beforeAll, expect, test } from 'vitest'
import type { JsonObject } from '../../../src/core/json/json.ts'
import { responsesDialect } from '../../../src/dialects/responses/responses-dialect.ts'
import { NO_HISTORY } from '../../../src/gateway/history/loaded-history.ts'
import { prepareRequest } from '../../../src/gateway/prompt/prepare-request.ts'
import { prepareRetryWithoutReasoning } from '../../../src/gateway/send/prepare-retry-without-reasoning.ts'
import { startGateway, upstreams } from '../../support/gateway.ts'
import { show } from '../../support/talk.ts'

let gateway: Awaited<ReturnType<typeof startGateway>>
const baseUrl = 'http://127.0.0.1:9/v1'
beforeAll(async () => {
  gateway = await startGateway(
    upstreams(
      { name: 'openai', wire: 'responses', baseUrl, models: ['gpt-*'] },
      { name: 'claude', wire: 'anthropic', baseUrl, models: ['claude-*'] },
    ),
  )
})
afterAll(() => gateway.close())

function prepare(model: string, input: readonly JsonObject[]) {
  const { dependencies } = gateway
  const account = dependencies.accounts.find(({ models }) =>
    models[0]?.startsWith(model.slice(0, 3)),
  )
  if (account === undefined) throw new Error('There is no such account.')
  const body = { model, input, store: false }
  const clientRequest = responsesDialect.parse(body)
  return prepareRequest({ account, model }, { clientRequest, history: NO_HISTORY }, dependencies)
}

const HI = { role: 'user', content: 'Hi.' }
const SO = { role: 'assistant', id: 'msg_1', content: [{ type: 'output_text', text: 'So.' }] }
const THOUGHT = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAAA' }
const ORPHAN = { type: 'function_call_output', call_id: 'gone', output: 'x' }

test('the retry of a request without reasoning drops all reasoning items, with a note for each', () => {
  const first = prepare('gpt-5', [HI, ORPHAN, THOUGHT, SO, HI, { ...THOUGHT, id: 'rs_2' }, SO, HI])
  const second = prepareRetryWithoutReasoning(first)
  expect(show(second?.prompt.items ?? [])).toBe(
    'user: Hi.\nassistant: So.\nuser: Hi.\nassistant: So.\nuser: Hi.',
  )
  const notes = second?.notes.filter(({ why }) => why === 'reasoning-refused')
  expect(notes?.map(({ did, at }) => [did, at])).toEqual([
    ['dropped', 2],
    ['dropped', 5],
  ])
  expect(second?.wasReasoningRejected).toBe(true)
})

test('the retry of a request without reasoning removes the message ids to which the upstream links reasoning', () => {
  const first = prepare('gpt-5', [HI, THOUGHT, SO, HI])
  expect(new TextDecoder().decode(first.encoded.bytes)).toContain('msg_1')
  expect(JSON.stringify(prepareRetryWithoutReasoning(first)?.encoded.body)).not.toContain('msg_1')
})

test('the retry of a request without reasoning keeps the notes of transforms and replaces those of the encoder', () => {
  const first = prepare('claude-opus-5-5', [HI, ORPHAN, THOUGHT, SO, HI])
  const second = prepareRetryWithoutReasoning(first)
  const codes = (of: typeof second) => of?.notes.map(({ why, at }) => `${why} ${at}`)
  expect(codes(first)).toEqual(['output-without-call 1', 'reasoning-of-another-provider 2'])
  expect(codes(second)).toEqual(['output-without-call 1', 'reasoning-refused 2'])
})

test('a request that has no reasoning is not retried without reasoning', () => {
  expect(prepareRetryWithoutReasoning(prepare('gpt-5', [HI, SO, HI]))).toBeNull()
})
