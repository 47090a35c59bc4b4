import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { selectSummarizableItems } from '../../../src/context/summaries/select-summarizable-items.ts'
import type { SummaryRules } from '../../../src/core/context-policy.ts'
import type { JsonObject } from '../../../src/core/json/json.ts'
import { responsesDialect } from '../../../src/dialects/responses/responses-dialect.ts'
import { NO_HISTORY, type LoadedHistory } from '../../../src/gateway/history/loaded-history.ts'
import { prepareRequest } from '../../../src/gateway/prompt/prepare-request.ts'
import { selectSummary } from '../../../src/gateway/summaries/add-summary-to-history.ts'
import {
  decideSummaryAfterAnswer,
  decideSummaryBeforeSending,
} from '../../../src/gateway/summaries/decide-when-to-summarize.ts'
import { hashSummaryPrefixes } from '../../../src/gateway/summaries/hash-summary-prefixes.ts'
import { buildActiveSummary } from '../../../src/gateway/summaries/load-summary.ts'
import { asStored, newSummary } from '../../store/contract-summaries.ts'
import { startGateway, upstreams } from '../../support/gateway.ts'

let gateway: Awaited<ReturnType<typeof startGateway>>
beforeAll(async () => {
  const baseUrl = 'http://127.0.0.1:9/v1'
  gateway = await startGateway(
    upstreams({
      name: 'a',
      wire: 'chat',
      baseUrl,
      models: ['*'],
      quirks: { contextWindow: { 'small*': 10_000 } },
    }),
  )
})
afterAll(() => gateway.close())

/** So many turns of about a hundred tokens each. */
function prepared(
  turns: number,
  summaries: Partial<SummaryRules>,
  { more = {}, history = NO_HISTORY }: { more?: JsonObject; history?: LoadedHistory } = {},
) {
  const { dependencies } = gateway
  const [account] = dependencies.accounts
  if (account === undefined) throw new Error('There is no account.')
  const input = Array.from({ length: turns }).flatMap((_, at) => [
    { role: 'user', content: `q${at} ${'word '.repeat(40)}` },
    { role: 'assistant', content: `a${at} ${'word '.repeat(20)}` },
  ])
  const body = { model: 'small', input, ...more }
  const clientRequest = responsesDialect.parse(body)
  const wished = {
    ...clientRequest,
    policyOverrides: { summaries: { keepTokens: 0, ...summaries } },
  }
  const model = typeof body.model === 'string' ? body.model : 'small'
  const found = prepareRequest({ account, model }, { clientRequest: wished, history }, dependencies)
  return { found, told: selectSummarizableItems(found.items, found.policy) }
}

function due(...given: Parameters<typeof prepared>) {
  const { found, told } = prepared(...given)
  return decideSummaryAfterAnswer(found, told, [])?.turns ?? null
}

describe('C46: what makes a summary', () => {
  test('is tokens, as a number or as a share of what the model can take', () => {
    const keepTurns = 2
    expect(due(40, { trigger: 'tokens', above: 100_000, keepTurns })).toBeNull()
    expect(due(40, { trigger: 'tokens', above: 2_000, keepTurns })).toBe(38)
    expect(due(40, { trigger: 'tokens', above: 0.9, keepTurns })).toBeNull()
    expect(due(40, { trigger: 'tokens', above: 0.2, keepTurns })).toBe(38)
  })

  test('is turns, as many as were told since the summary that there is', () => {
    expect(due(7, { trigger: 'turns', above: 8 })).toBeNull()
    expect(due(8, { trigger: 'turns', above: 8 })).toBe(4)
    // A share of turns is no number of them.
    expect(due(31, { trigger: 'turns' })).toBeNull()
    expect(due(32, { trigger: 'turns' })).toBe(28)
  })

  test('is only one of them, and nothing where it is off or only on request', () => {
    expect(due(40, { trigger: 'off', above: 1 })).toBeNull()
    expect(due(40, { trigger: 'manual', above: 1 })).toBeNull()
    expect(due(40, { trigger: 'turns', above: 50 })).toBeNull()
    expect(due(4, { trigger: 'tokens', above: 2_000, keepTurns: 1 })).toBeNull()
  })
})

test('C47: counted are instructions, tools and images as well', () => {
  const rules = { trigger: 'tokens', above: 2_000, keepTurns: 1 } as const
  expect(due(10, rules)).toBeNull()
  expect(due(10, rules, { more: { instructions: 'word '.repeat(2_000) } })).toBe(9)
  const parameters = { type: 'object', properties: {}, description: 'word '.repeat(2_000) }
  const tools = [{ type: 'function', name: 'look', parameters }]
  expect(due(10, rules, { more: { tools } })).toBe(9)
  const { found, told } = prepared(10, rules)
  const image = { type: 'input_image', image_url: 'data:image/png;base64,AA==' } as const
  const said = { type: 'message', role: 'user', content: [image, image] } as const
  expect(decideSummaryAfterAnswer(found, told, [said])?.turns).toBe(9)
})

test('none is made in the middle of a turn, while tools are at work', () => {
  const { found, told } = prepared(10, { trigger: 'turns', above: 4, keepTurns: 1 })
  const call = { type: 'function_call', call_id: 'a', name: 'look', arguments: '{}' } as const
  const output = { type: 'function_call_output', call_id: 'a', output: 'fog' } as const
  expect(decideSummaryAfterAnswer(found, told, [call])).toBeNull()
  expect(decideSummaryAfterAnswer(found, told, [call, output])?.turns).toBe(9)
})

test('where what is kept is too much by itself, not every turn makes a summary', () => {
  const rules = { trigger: 'tokens', above: 2_000, keepTurns: 30 } as const
  expect(due(32, rules)).toBeNull()
  expect(due(34, rules)).toBe(4)
})

describe('however little is asked for, not every turn makes a summary', () => {
  /** After how many turns one is made, if each goes on from the one before. */
  function madeAfter(turns: number, rules: Partial<SummaryRules>): readonly number[] {
    const made: number[] = []
    let history: LoadedHistory = NO_HISTORY
    for (let count = 1; count <= turns; count += 1) {
      const { found, told } = prepared(count, rules, { history })
      const cut = decideSummaryAfterAnswer(found, told, [])
      const border = hashSummaryPrefixes(told).find(({ at }) => at === cut?.at)
      if (border === undefined) continue
      made.push(count)
      history = { ...NO_HISTORY, summary: buildActiveSummary(told, border, asStored(newSummary())) }
    }
    return made
  }

  test.each<[Partial<SummaryRules>, number]>([
    [{ trigger: 'turns', above: 3, keepTurns: 4 }, 3],
    [{ trigger: 'turns', above: 5, keepTurns: 4 }, 4],
    [{ trigger: 'turns', above: 1.5, keepTurns: 1 }, 2],
    [{ trigger: 'turns', above: 1, keepTurns: 1 }, 2],
    [{ trigger: 'turns', above: 8, keepTurns: 4 }, 4],
    // So many tokens are more turns than are asked for.
    [{ trigger: 'turns', above: 3, keepTurns: 1, keepTokens: 1000 }, 2],
    [{ trigger: 'tokens', above: 300, keepTurns: 2 }, 4],
    [{ trigger: 'tokens', above: 0, keepTurns: 1 }, 4],
  ])('%j', (rules, least) => {
    const made = madeAfter(25, rules)
    expect(made.length).toBeGreaterThan(2)
    for (const [at, count] of made.slice(1).entries()) {
      expect(count - (made[at] ?? 0)).toBeGreaterThanOrEqual(least)
    }
  })
})

test('C56: before it is sent it is made only where the model could not take it', () => {
  const needed = (turns: number, trigger: SummaryRules['trigger'], model = 'small') => {
    const { found, told } = prepared(turns, { trigger, keepTurns: 2 }, { more: { model } })
    return decideSummaryBeforeSending(found, told)?.turns ?? null
  }
  expect(needed(10, 'tokens')).toBeNull()
  expect(needed(200, 'tokens')).toBe(198)
  expect(needed(200, 'turns')).toBe(198)
  expect(needed(200, 'manual')).toBeNull()
  // Nobody knows what it can take.
  expect(needed(200, 'tokens', 'unheard-of')).toBeNull()
})

test('a summary that tells of somebody who is hidden by now is not told', () => {
  const { found, told } = prepared(6, { trigger: 'manual' })
  const [border] = hashSummaryPrefixes(told)
  if (border === undefined) throw new Error('There is a border.')
  const summary = buildActiveSummary(told, border, asStored(newSummary()))
  const history = { ...NO_HISTORY, summary }
  const { policy } = found
  expect(selectSummary(policy, history)).toBe(summary)
  const hiding = { ...policy, speakers: { ...policy.speakers, hidden: ['ann'] } }
  expect(selectSummary(hiding, history)).toBeNull()
  expect(
    selectSummary(hiding, { ...history, summary: { ...summary, hidden: ['ann'] } }),
  ).not.toBeNull()
  const off = { ...policy, summaries: { ...policy.summaries, trigger: 'off' as const } }
  expect(selectSummary(off, history)).toBeNull()
})
