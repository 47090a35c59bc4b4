import { afterAll, beforeAll, expect, test } from 'vitest'
import { hashPromptPrefix } from '../../../src/context/reasoning/hash-prompt-prefix.ts'
import type { Item } from '../../../src/core/item.ts'
import { responsesDialect } from '../../../src/dialects/responses/responses-dialect.ts'
import { NO_HISTORY } from '../../../src/gateway/history/loaded-history.ts'
import { prepareRequest } from '../../../src/gateway/prompt/prepare-request.ts'
import { collectAnswerMetadata } from '../../../src/gateway/record/collect-answer-metadata.ts'
import { startGateway, upstreams } from '../../support/gateway.ts'

let gateway: Awaited<ReturnType<typeof startGateway>>
beforeAll(async () => {
  const baseUrl = 'http://127.0.0.1:9/v1'
  gateway = await startGateway(
    upstreams({ name: 'there', wire: 'responses', baseUrl, models: ['m'] }),
  )
})
afterAll(() => gateway.close())

test('the prompt before encrypted reasoning is hashed when `origin` is called for the first time, and only then', () => {
  const { dependencies } = gateway
  const [account] = dependencies.accounts
  if (account === undefined) throw new Error('There is no account.')
  const body = { model: 'm', input: 'Hi.' }
  const clientRequest = responsesDialect.parse(body)
  const sent = prepareRequest(
    { account, model: 'm' },
    { clientRequest, history: NO_HISTORY },
    dependencies,
  )
  const reasoning: Item = { type: 'reasoning', summary: [], encrypted_content: 'gAAAA' }
  const outcome = {
    finish: 'stop',
    failure: null,
    usage: null,
    upstreamId: null,
    model: null,
  } as const

  let reads = 0
  const { prompt } = sent
  const countingPrompt = {
    ...prompt,
    get items() {
      reads += 1
      return prompt.items
    },
  }
  const { origin } = collectAnswerMetadata(
    { ...sent, prompt: countingPrompt },
    { ...outcome, items: [reasoning] },
  )
  expect(reads).toBe(0)
  expect(origin().prefixHash).toBe(hashPromptPrefix(prompt, 'responses'))
  const readsOnce = reads
  expect(origin()).toBe(origin())
  expect(reads).toBe(readsOnce)
})
