import { expect, test } from 'vitest'
import { createUpstreamKnowledge } from '../../src/upstream/upstream-knowledge.ts'
import { ACCOUNT } from '../support/responses-kit.ts'

const target = { account: ACCOUNT, model: 'gpt-5' }
const DAY_MS = 24 * 60 * 60 * 1000

test('a rejected parameter is remembered for one model of one account, and for a day', () => {
  let now = 1000
  const knowledge = createUpstreamKnowledge(() => now)
  knowledge.saveRejection(target, 'reasoning.summary auto')
  expect(knowledge.hasRejected(target, 'reasoning.summary auto')).toBe(true)
  expect(knowledge.hasRejected(target, 'reasoning.effort none')).toBe(false)
  expect(knowledge.hasRejected({ ...target, model: 'o4-mini' }, 'reasoning.summary auto')).toBe(
    false,
  )
  const other = { ...target, account: { ...ACCOUNT, name: 'azure' } }
  expect(knowledge.hasRejected(other, 'reasoning.summary auto')).toBe(false)
  now += DAY_MS
  expect(knowledge.hasRejected(target, 'reasoning.summary auto')).toBe(false)
})

test('many rejections of models that clients invent displace only the oldest', () => {
  const knowledge = createUpstreamKnowledge(() => 0)
  for (let at = 0; at <= 1000; at += 1) {
    knowledge.saveRejection({ ...target, model: `model-${at}` }, 'reasoning.effort none')
  }
  const isKnown = (model: string) =>
    knowledge.hasRejected({ ...target, model }, 'reasoning.effort none')
  expect(['model-0', 'model-1', 'model-1000'].map(isKnown)).toEqual([false, true, true])
})
