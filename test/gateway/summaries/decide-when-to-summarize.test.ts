import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { selectSummarizableItems } from '../../../src/context/summaries/select-summarizable-items.ts'
import type { SummaryRules } from '../../../src/core/context-policy.ts'
import type { Item } from '../../../src/core/item.ts'
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
import { toStoredSummary, newSummary } from '../../store/contract-summaries.ts'
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

/** Prepares a request with this many turns of about 100 tokens each. */
function prepareTurns(
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
  const withPolicy = {
    ...clientRequest,
    policyOverrides: { summaries: { keepTokens: 0, ...summaries } },
  }
  const model = typeof body.model === 'string' ? body.model : 'small'
  const prepared = prepareRequest(
    { account, model },
    { clientRequest: withPolicy, history },
    dependencies,
  )
  return { prepared, content: selectSummarizableItems(prepared.items, prepared.policy) }
}

function turnsToSummarize(...options: Parameters<typeof prepareTurns>) {
  const { prepared, content } = prepareTurns(...options)
  return decideSummaryAfterAnswer(prepared, content, [])?.rounds ?? null
}

describe('the trigger for a summary after an answer (C46)', () => {
  test('a summary with the trigger `tokens` is due above a number of tokens or a share of the window', () => {
    const keepTurns = 2
    expect(turnsToSummarize(40, { trigger: 'tokens', above: 100_000, keepTurns })).toBeNull()
    expect(turnsToSummarize(40, { trigger: 'tokens', above: 2_000, keepTurns })).toBe(38)
    expect(turnsToSummarize(40, { trigger: 'tokens', above: 0.9, keepTurns })).toBeNull()
    expect(turnsToSummarize(40, { trigger: 'tokens', above: 0.2, keepTurns })).toBe(38)
  })

  test('a summary with the trigger `turns` is due after a number of rounds', () => {
    expect(turnsToSummarize(7, { trigger: 'turns', above: 8 })).toBeNull()
    expect(turnsToSummarize(8, { trigger: 'turns', above: 8 })).toBe(4)
    // Without a number (`above` is a share by default), 32 turns.
    expect(turnsToSummarize(31, { trigger: 'turns' })).toBeNull()
    expect(turnsToSummarize(32, { trigger: 'turns' })).toBe(28)
  })

  test('no summary is due after an answer if only the limit of another trigger is exceeded, or the trigger is off or manual', () => {
    expect(turnsToSummarize(40, { trigger: 'off', above: 1 })).toBeNull()
    expect(turnsToSummarize(40, { trigger: 'manual', above: 1 })).toBeNull()
    expect(turnsToSummarize(40, { trigger: 'turns', above: 50 })).toBeNull()
    expect(turnsToSummarize(4, { trigger: 'tokens', above: 2_000, keepTurns: 1 })).toBeNull()
  })
})

test('instructions, tools and images count toward the token threshold of a summary (C47)', () => {
  const rules = { trigger: 'tokens', above: 2_000, keepTurns: 1 } as const
  expect(turnsToSummarize(10, rules)).toBeNull()
  expect(turnsToSummarize(10, rules, { more: { instructions: 'word '.repeat(2_000) } })).toBe(9)
  const parameters = { type: 'object', properties: {}, description: 'word '.repeat(2_000) }
  const tools = [{ type: 'function', name: 'look', parameters }]
  expect(turnsToSummarize(10, rules, { more: { tools } })).toBe(9)
  const { prepared, content } = prepareTurns(10, rules)
  const image = { type: 'input_image', image_url: 'data:image/png;base64,AA==' } as const
  const question = { type: 'message', role: 'user', content: [image, image] } as const
  expect(decideSummaryAfterAnswer(prepared, content, [question])?.rounds).toBe(9)
})

test('no summary is due after an answer with a tool call that has no output yet', () => {
  const { prepared, content } = prepareTurns(10, { trigger: 'turns', above: 4, keepTurns: 1 })
  const call = { type: 'function_call', call_id: 'a', name: 'look', arguments: '{}' } as const
  const output = { type: 'function_call_output', call_id: 'a', output: 'fog' } as const
  expect(decideSummaryAfterAnswer(prepared, content, [call])).toBeNull()
  expect(decideSummaryAfterAnswer(prepared, content, [call, output])?.rounds).toBe(9)
})

test('a summary is due only if it replaces enough tokens, even if the retained rounds alone exceed the limit', () => {
  const rules = { trigger: 'tokens', above: 2_000, keepTurns: 30 } as const
  expect(turnsToSummarize(32, rules)).toBeNull()
  expect(turnsToSummarize(34, rules)).toBe(4)
})

describe('the distance between consecutive summaries', () => {
  /** Lists the turn counts at which a summary is made; each extends the one before. */
  function listSummaryTurns(turns: number, rules: Partial<SummaryRules>): readonly number[] {
    const made: number[] = []
    let history: LoadedHistory = NO_HISTORY
    for (let count = 1; count <= turns; count += 1) {
      const { prepared, content } = prepareTurns(count, rules, { history })
      const cut = decideSummaryAfterAnswer(prepared, content, [])
      const border = hashSummaryPrefixes(content).find(({ endIndex }) => endIndex === cut?.endIndex)
      if (border === undefined) continue
      made.push(count)
      history = {
        ...NO_HISTORY,
        summary: buildActiveSummary(content, border, toStoredSummary(newSummary())),
      }
    }
    return made
  }

  test.each<[Partial<SummaryRules>, number]>([
    [{ trigger: 'turns', above: 3, keepTurns: 4 }, 3],
    [{ trigger: 'turns', above: 5, keepTurns: 4 }, 4],
    [{ trigger: 'turns', above: 1.5, keepTurns: 1 }, 2],
    [{ trigger: 'turns', above: 1, keepTurns: 1 }, 2],
    [{ trigger: 'turns', above: 8, keepTurns: 4 }, 4],
    // 1000 tokens are more turns than `keepTurns`.
    [{ trigger: 'turns', above: 3, keepTurns: 1, keepTokens: 1000 }, 2],
    [{ trigger: 'tokens', above: 300, keepTurns: 2 }, 4],
    [{ trigger: 'tokens', above: 0, keepTurns: 1 }, 4],
  ])('the summary rules %j leave at least %i rounds between two summaries', (rules, minTurns) => {
    const made = listSummaryTurns(25, rules)
    expect(made.length).toBeGreaterThan(2)
    for (const [at, count] of made.slice(1).entries()) {
      expect(count - (made[at] ?? 0)).toBeGreaterThanOrEqual(minTurns)
    }
  })
})

test('a summary is due before sending if the request does not fit a known window and the trigger is automatic (C56)', () => {
  const dueBeforeSending = (turns: number, trigger: SummaryRules['trigger'], model = 'small') => {
    const { prepared, content } = prepareTurns(
      turns,
      { trigger, keepTurns: 2 },
      { more: { model } },
    )
    return decideSummaryBeforeSending(prepared, content)?.rounds ?? null
  }
  expect(dueBeforeSending(10, 'tokens')).toBeNull()
  expect(dueBeforeSending(200, 'tokens')).toBe(198)
  expect(dueBeforeSending(200, 'turns')).toBe(198)
  expect(dueBeforeSending(200, 'manual')).toBeNull()
  // The window is unknown.
  expect(dueBeforeSending(200, 'tokens', 'unheard-of')).toBeNull()
})

test('a summary is not used if it may mention an author who is hidden now, or if summaries are off', () => {
  const { prepared, content } = prepareTurns(6, { trigger: 'manual' })
  const [border] = hashSummaryPrefixes(content)
  if (border === undefined) throw new Error('There is a border.')
  const summary = buildActiveSummary(content, border, toStoredSummary(newSummary()))
  const history = { ...NO_HISTORY, summary }
  const { policy } = prepared
  expect(selectSummary(policy, history)).toBe(summary)
  const hiding = { ...policy, speakers: { ...policy.speakers, hidden: ['ann'] } }
  expect(selectSummary(hiding, history)).toBeNull()
  expect(
    selectSummary(hiding, { ...history, summary: { ...summary, hiddenAuthors: ['ann'] } }),
  ).not.toBeNull()
  const off = { ...policy, summaries: { ...policy.summaries, trigger: 'off' as const } }
  expect(selectSummary(off, history)).toBeNull()
})

test('the tokens that remain after a second summary include the answer once', () => {
  const rules = { trigger: 'tokens', above: 1000, keepTurns: 1 } as const
  const first = prepareTurns(20, rules)
  const prefix = hashSummaryPrefixes(first.content).find(({ rounds }) => rounds === 2)
  if (prefix === undefined) throw new Error('There is no prefix of two rounds.')
  const summary = buildActiveSummary(first.content, prefix, toStoredSummary(newSummary()))
  const { prepared } = prepareTurns(20, rules, { history: { ...NO_HISTORY, summary } })
  // The 17 rounds before the last one have about 1,500 tokens; that must be an eighth of what remains.
  const isDueWith = (words: number): boolean => {
    const text = 'word '.repeat(words)
    const answer = { type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] }
    const items = [answer] as unknown as readonly Item[]
    const content = selectSummarizableItems([...prepared.items, ...items], prepared.policy)
    return decideSummaryAfterAnswer(prepared, content, items) !== null
  }
  expect(isDueWith(8_000)).toBe(true)
  expect(isDueWith(40_000)).toBe(false)
})
