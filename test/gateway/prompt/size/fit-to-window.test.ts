import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import type { JsonObject } from '../../../../src/core/json/json.ts'
import { responsesDialect } from '../../../../src/dialects/responses/responses-dialect.ts'
import { NO_HISTORY } from '../../../../src/gateway/history/loaded-history.ts'
import { prepareRequest } from '../../../../src/gateway/prompt/prepare-request.ts'
import { fitToWindow } from '../../../../src/gateway/prompt/size/fit-to-window.ts'
import { openaiResponses } from '../../../../src/providers/openai-responses/openai-responses.ts'
import { startGateway, upstreams } from '../../../support/gateway.ts'

let gateway: Awaited<ReturnType<typeof startGateway>>
const baseUrl = 'http://127.0.0.1:9/v1'
beforeAll(async () => {
  gateway = await startGateway(
    upstreams({ name: 'there', wire: 'responses', baseUrl, models: ['m'] }),
  )
})
afterAll(() => gateway.close())

function fitRequest(input: readonly JsonObject[]) {
  const { dependencies } = gateway
  const [account] = dependencies.accounts
  if (account === undefined) throw new Error('There is no account.')
  const parsed = responsesDialect.parse({ model: 'm', input })
  const policyOverrides = { budget: { window: 1000, overflow: 'cut', reserve: 0 } } as const
  const planInput = { clientRequest: { ...parsed, policyOverrides }, history: NO_HISTORY }
  return fitToWindow(prepareRequest({ account, model: 'm' }, planInput, dependencies), dependencies)
}

const LONG = 'word '.repeat(900)

test('fitToWindow does not encode a request again if nothing can be dropped from it', () => {
  using encode = vi.spyOn(openaiResponses, 'encode')
  const fitting = fitRequest([{ role: 'user', content: LONG }])
  expect(fitting.prompt.items).toHaveLength(1)
  expect(encode).toHaveBeenCalledTimes(1)
})

test('fitToWindow encodes a request again, without the rounds that it dropped', () => {
  using encode = vi.spyOn(openaiResponses, 'encode')
  const fitting = fitRequest([
    { role: 'user', content: LONG },
    { role: 'assistant', content: 'So.' },
    { role: 'user', content: 'And now?' },
  ])
  expect(fitting.prompt.items).toHaveLength(1)
  expect(fitting.encoded.body['input']).toHaveLength(1)
  expect(encode).toHaveBeenCalledTimes(2)
})
