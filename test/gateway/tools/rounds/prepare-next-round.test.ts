/**
 * The requests of tool rounds follow the rules of every upstream, however long the outputs are: each continues the
 * request of the round before, or is planned again.
 */
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hashPromptPrefix } from '../../../../src/context/reasoning/hash-prompt-prefix.ts'
import type { Item, Reasoning } from '../../../../src/core/item.ts'
import {
  unmarkGatewayToolItem,
  markGatewayToolCall,
  createGatewayToolOutput,
} from '../../../../src/core/items/gateway-tool-items.ts'
import { findToolCallPairs } from '../../../../src/core/items/tool-call-pairs.ts'
import type { JsonObject } from '../../../../src/core/json/json.ts'
import { responsesDialect } from '../../../../src/dialects/responses/responses-dialect.ts'
import { NO_HISTORY } from '../../../../src/gateway/history/loaded-history.ts'
import { prepareRequest } from '../../../../src/gateway/prompt/prepare-request.ts'
import type { PreparedRequest } from '../../../../src/gateway/prompt/planned-request.ts'
import { estimateRequestTokens } from '../../../../src/gateway/prompt/size/estimate-tokens-and-window.ts'
import { fitToWindow, fitsWindow } from '../../../../src/gateway/prompt/size/fit-to-window.ts'
import { isOverWindow } from '../../../../src/gateway/prompt/size/reject-over-window.ts'
import { collectAnswerMetadata } from '../../../../src/gateway/record/collect-answer-metadata.ts'
import { prepareRetryWithoutReasoning } from '../../../../src/gateway/send/prepare-retry-without-reasoning.ts'
import { prepareNextRound } from '../../../../src/gateway/tools/rounds/prepare-next-round.ts'
import type { ToolRound } from '../../../../src/gateway/tools/rounds/tool-round.ts'
import { findAnthropicFaults } from '../../../support/anthropic-laws.ts'
import { findChatFaults } from '../../../support/chat-laws.ts'
import { startGateway, upstreams } from '../../../support/gateway.ts'
import { findGeminiFaults } from '../../../support/gemini-laws.ts'
import { findResponsesFaults } from '../../../support/responses-laws.ts'

let gateway: Awaited<ReturnType<typeof startGateway>>
const baseUrl = 'http://127.0.0.1:9/v1'
beforeAll(async () => {
  gateway = await startGateway(
    upstreams(
      { name: 'openai', wire: 'responses', baseUrl, models: ['gpt-*'] },
      {
        name: 'strict',
        wire: 'responses',
        baseUrl,
        models: ['bound-*'],
        quirks: { prefixCheck: true },
      },
      { name: 'chat', wire: 'chat', baseUrl, models: ['chat-*'] },
      { name: 'claude', wire: 'anthropic', baseUrl, models: ['claude-*'] },
      { name: 'gemini', wire: 'gemini', baseUrl, models: ['gemini-*'] },
    ),
  )
})
afterAll(() => gateway.close())

const FAULTS: Readonly<Record<string, (path: string, body: JsonObject) => readonly string[]>> = {
  'gpt-5': (_, body) => findResponsesFaults(body),
  'bound-1': (_, body) => findResponsesFaults(body),
  'chat-1': (_, body) => findChatFaults(body),
  'claude-3-5-haiku': (_, body) => findAnthropicFaults(body),
  'gemini-3.8-flash': findGeminiFaults,
}

const LOOK = {
  type: 'function',
  name: 'look',
  parameters: { type: 'object', properties: {} },
  strict: false,
}
/** Max length of an output when nothing else is left to cut. */
const MAX_SHORTENED_CHARS = 500
const QUESTION = 'What of all this is true?'
const FILLER = 'some of the many words '

interface Story {
  readonly model: string
  /** Length of the tool output in each earlier turn. */
  readonly earlierOutputChars: readonly number[]
  readonly roundPlans: readonly RoundPlan[]
  readonly window: number | null
}

interface RoundPlan {
  readonly chars: number
  readonly calls: number
  readonly hasReasoning: boolean
  /** True if the upstream rejects the reasoning first. */
  readonly isReasoningRejected: boolean
}

const story: fc.Arbitrary<Story> = fc.record({
  model: fc.constantFrom(...Object.keys(FAULTS)),
  earlierOutputChars: fc.array(fc.integer({ min: 0, max: 9000 }), { maxLength: 4 }),
  roundPlans: fc.array(
    fc.record({
      chars: fc.integer({ min: 1, max: 3800 }),
      calls: fc.integer({ min: 1, max: 2 }),
      hasReasoning: fc.boolean(),
      isReasoningRejected: fc.constantFrom(false, false, false, true),
    }),
    { minLength: 1, maxLength: 8 },
  ),
  window: fc.option(fc.integer({ min: 1000, max: 12_000 }), { freq: 5 }),
})

interface RoundRequest {
  /** The request as it was planned. */
  readonly planned: PreparedRequest
  /** The request as it was sent, possibly without reasoning. */
  readonly sent: PreparedRequest
}

/** Stops at the first request that is too large to be sent. */
function prepareAllRounds({
  model,
  earlierOutputChars,
  roundPlans: plans,
  window,
}: Story): readonly RoundRequest[] {
  const { dependencies } = gateway
  const rounds: ToolRound[] = []
  const all: RoundRequest[] = []
  let request = fitToWindow(prepareFirst(model, earlierOutputChars, window), dependencies)
  for (const [at, one] of plans.entries()) {
    const sent = one.isReasoningRejected
      ? (prepareRetryWithoutReasoning(request) ?? request)
      : request
    all.push({ planned: request, sent })
    const round = createRound(sent, one, at)
    try {
      request = prepareNextRound([...rounds, round], at === 7, dependencies)
      rounds.push(round)
    } catch (error) {
      expect(error).toMatchObject({ failure: { code: 'context_length_exceeded' } })
      return all
    }
  }
  return [...all, { planned: request, sent: request }]
}

function prepareFirst(
  model: string,
  before: readonly number[],
  window: number | null,
): PreparedRequest {
  const { dependencies } = gateway
  const account = dependencies.accounts.find(({ models }) =>
    models[0]?.startsWith(model.slice(0, 3)),
  )
  if (account === undefined) throw new Error('There is no such account.')
  const input = before.flatMap((chars, at) => [
    { role: 'user', content: `Question ${at}.` },
    { type: 'function_call', call_id: `b${at}`, name: 'look', arguments: '{}' },
    { type: 'function_call_output', call_id: `b${at}`, output: createText(chars) },
    { role: 'assistant', content: `Answer ${at}.` },
  ])
  const body = {
    model,
    store: false,
    tools: [LOOK],
    input: [...input, { role: 'user', content: QUESTION }],
  }
  const clientRequest = responsesDialect.parse(body)
  const budget = { window, overflow: 'cut', reserve: 0 } as const
  const wishes = { policy: 'capped', outputs: { cap: 4000 }, budget } as const
  return prepareRequest(
    { account, model },
    { clientRequest: { ...clientRequest, policyOverrides: wishes }, history: NO_HISTORY },
    dependencies,
  )
}

function createRound(
  request: PreparedRequest,
  { chars, calls, hasReasoning }: RoundPlan,
  at: number,
): ToolRound {
  const { wire } = request.account
  const thought: Reasoning = {
    type: 'reasoning',
    id: `rs_${at}`,
    summary: [],
    encrypted_content: `gAAAA${at}`,
  }
  const isEncrypted = hasReasoning && wire === 'responses'
  const ids = Array.from({ length: calls }, (_, nth) => `c${at}_${nth}`)
  const gatewayCalls = ids.map((callId) =>
    markGatewayToolCall({
      type: 'function_call',
      call_id: callId,
      name: 'expand_output',
      arguments: '{}',
      ...(wire === 'gemini' ? { native: { gemini: { thoughtSignature: `Ck${callId}` } } } : {}),
    }),
  )
  return {
    prepared: request,
    modelItems: isEncrypted ? [thought, ...gatewayCalls] : gatewayCalls,
    outputs: ids.map((callId) => createGatewayToolOutput(callId, createText(chars))),
    mediaTransforms: [],
    loadedMedia: null,
    usage: null,
  }
}

function createText(chars: number): string {
  return FILLER.repeat(Math.ceil(chars / FILLER.length)).slice(0, chars)
}

const RUNS = { numRuns: 12 }

/** Checks each request after the first, together with the request before it. */
function checkEachRequest(
  check: (now: PreparedRequest, before: PreparedRequest, story: Story) => void,
): void {
  fc.assert(
    fc.property(story, (example) => {
      const all = prepareAllRounds(example)
      for (const [at, { planned }] of all.slice(1).entries()) {
        check(planned, all[at]?.sent ?? planned, example)
      }
    }),
    RUNS,
  )
}

describe('the upstream request of a tool round', () => {
  test('the request of a tool round follows the rules of its upstream', () => {
    checkEachRequest(({ encoded, prompt }) => {
      const { path, body } = encoded
      expect(FAULTS[prompt.params.model]?.(path, JSON.parse(JSON.stringify(body)))).toEqual([])
    })
  })

  test('the request of a tool round fits the context window, unless all earlier turns are dropped and all outputs shortened', () => {
    checkEachRequest((now, _, { window }) => {
      const { items } = now.prompt
      const index = items.findLastIndex((item) => item.type === 'message')
      const question = { type: 'message', role: 'user', content: [{ text: QUESTION }] }
      expect(items[index]).toMatchObject(question)
      if (window === null || estimateRequestTokens(now) <= window) return
      // Slightly too large, because estimates are not exact: all earlier turns are dropped, all outputs are shortened.
      expect([index, isOverWindow(now, 'cut')]).toEqual([0, false])
      const outputs = items.flatMap((item) => ('output' in item ? [String(item.output)] : []))
      expect(outputs.filter((output) => output.length > MAX_SHORTENED_CHARS)).toEqual([])
    })
  })

  test('the request of a tool round has an output for every call', () => {
    checkEachRequest(({ prompt: { items } }) => {
      const partners = findToolCallPairs(items)
      for (const [at, item] of items.entries()) {
        if ('call_id' in item) expect(partners[at]).toBeGreaterThanOrEqual(0)
      }
    })
  })

  test('the request of a tool round starts with the previous request, unless that would not fit', () => {
    checkEachRequest((now, before) => {
      const continues = before.prompt.items.every((item, at) => item === now.prompt.items[at])
      const more = now.items.slice(before.items.length)
      const prompt = { ...before.prompt, items: [...before.prompt.items, ...more] }
      const encoded = now.provider.encode(prompt, now.account)
      // A request that is planned again may start the same.
      expect(continues || !fitsWindow({ ...before, prompt, encoded })).toBe(true)
    })
  })

  test("the request of a tool round keeps the client's request and history", () => {
    checkEachRequest((now, before) => {
      expect(now.clientRequest).toBe(before.clientRequest)
      expect(now.history).toBe(before.history)
    })
  })

  test('each item that the request of a tool round drops or changes has a note', () => {
    checkEachRequest(({ items, prompt, originalPositions, notes }, { items: then }) => {
      expect(items.length).toBeGreaterThan(then.length)
      expect(originalPositions).toHaveLength(prompt.items.length)
      const noted = new Set(notes.map(({ at }) => at))
      const sent = new Map(
        originalPositions.map((index, sentIndex) => [index, prompt.items[sentIndex]]),
      )
      for (const [index, item] of items.entries()) {
        if (sent.get(index) !== item) expect(noted).toContain(index)
      }
    })
  })
})

describe('reasoning in tool rounds', () => {
  const reasoningIn = (items: readonly Item[]): readonly string[] =>
    items.flatMap((item) => (item.type === 'reasoning' ? (item.id ?? '') : []))

  test('reasoning of a tool round is sent only after the same prompt prefix as it was generated with', () => {
    fc.assert(
      fc.property(story, (example) => {
        const all = prepareAllRounds({ ...example, model: 'bound-1' })
        for (const { planned } of all) {
          for (const [at, item] of planned.prompt.items.entries()) {
            if (item.type !== 'reasoning') continue
            const { sent } = all[Number(item.id?.slice(3))] ?? { sent: planned }
            const before = { ...planned.prompt, items: planned.prompt.items.slice(0, at) }
            expect(hashPromptPrefix(before, 'responses')).toBe(
              hashPromptPrefix(sent.prompt, 'responses'),
            )
          }
        }
      }),
      RUNS,
    )
  })

  test('reasoning of a tool round is not sent again after the upstream rejected it', () => {
    fc.assert(
      fc.property(story, (example) => {
        for (const [at, { sent }] of prepareAllRounds({ ...example, model: 'gpt-5' }).entries()) {
          const refused = example.roundPlans.findLastIndex(
            ({ isReasoningRejected }, nth) => isReasoningRejected && nth <= at,
          )
          const ids = reasoningIn(sent.prompt.items)
          expect(ids.filter((id) => Number(id.slice(3)) < refused)).toEqual([])
        }
      }),
      RUNS,
    )
  })

  test('the stored prefix hash of an answer is that of its first prompt, exactly if each tool round extends that prompt', () => {
    const thought = { type: 'reasoning', summary: [], encrypted_content: 'gAAAA' } as const
    const rest = {
      finish: 'stop',
      failure: null,
      usage: null,
      upstreamId: null,
      model: null,
    } as const
    const isBoundToFirstPrompt = (example: Story): boolean => {
      const sent = prepareAllRounds(example).map((one) => one.sent)
      const [first] = sent
      if (first === undefined) return false
      const { origin } = collectAnswerMetadata(first, { items: [thought], ...rest }, sent)
      return origin().prefixHash === hashPromptPrefix(first.prompt, first.account.wire)
    }
    const plan = { chars: 3000, calls: 1, hasReasoning: true, isReasoningRejected: false }
    const long = {
      model: 'bound-1',
      earlierOutputChars: [4000, 4000],
      roundPlans: Array.from({ length: 6 }, () => plan),
    }
    expect(isBoundToFirstPrompt({ ...long, window: null })).toBe(true)
    expect(isBoundToFirstPrompt({ ...long, window: 5000 })).toBe(false)
    // The first round is cut already, and the outputs since were sent shorter than they are stored.
    expect(isBoundToFirstPrompt({ ...long, earlierOutputChars: [], window: 1500 })).toBe(false)
    const withRejection = [plan, { ...plan, isReasoningRejected: true }]
    expect(isBoundToFirstPrompt({ ...long, roundPlans: withRejection, window: null })).toBe(false)
  })
})

test('if the request of a tool round is planned again, it equals that of a client that runs the tools itself', () => {
  const { dependencies } = gateway
  fc.assert(
    fc.property(story, (example) => {
      const all = prepareAllRounds({ ...example, model: 'chat-1' })
      for (const [at, { planned: request }] of all.slice(1).entries()) {
        const before = all[at]?.sent ?? request
        if (before.prompt.items.every((item, nth) => item === request.prompt.items[nth])) continue
        const { clientRequest, account } = request
        const items = request.items.map((item) => unmarkGatewayToolItem(item))
        const ownRequest = { ...clientRequest, items, originalItems: items }
        const planned = prepareRequest(
          { account, model: 'chat-1' },
          { clientRequest: ownRequest, history: NO_HISTORY },
          dependencies,
        )
        expect(request.encoded.body).toEqual(fitToWindow(planned, dependencies).encoded.body)
      }
    }),
    RUNS,
  )
})
