import { expect, test } from 'vitest'
import { resolvePolicy } from '../../../../src/core/context-policy.ts'
import type { Origin } from '../../../../src/core/item.ts'
import { NO_HISTORY } from '../../../../src/gateway/history/loaded-history.ts'
import { planToolLoopEnd } from '../../../../src/gateway/prompt/size/end-tool-loop-near-full-window.ts'
import type { Account } from '../../../../src/providers/provider-interface.ts'
import { talk } from '../../../support/talk.ts'

const account: Account = {
  name: 'a',
  wire: 'chat',
  baseUrl: 'http://127.0.0.1:9/v1',
  apiKey: null,
  models: ['*'],
  headers: {},
  quirks: {},
}

test('the model is warned in a tool loop if it has filled the share `budget.warnAt` of its window, unless that is 0 (C61)', () => {
  const origin: Origin = { wire: 'chat', account: 'a', model: 'm', prefixHash: null }
  const [question, ...work] = talk`
    user: look
    call a look
    output a fog
  `
  const items =
    question === undefined ? [] : [question, ...work.map((item) => ({ ...item, origin }))]
  const listWarnings = (warnAt: number) => {
    const policy = resolvePolicy([{ budget: { window: 1000, warnAt } }])
    const history = { ...NO_HISTORY, countReportedTokens: () => 600 }
    const { transforms } = planToolLoopEnd({ account, model: 'm' }, { items, policy, history })
    return transforms.flatMap(({ run }) => run(items).notes.map(({ why }) => why))
  }
  expect(listWarnings(0.5)).toEqual(['budget-warned'])
  expect(listWarnings(0.7)).toEqual([])
  expect(listWarnings(0)).toEqual([])
})
