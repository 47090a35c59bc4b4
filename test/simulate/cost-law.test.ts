/**
 * Checks what policies cost compared with full replay, with generated conversations, prices and policies. One simulation
 * checks all shorter conversations, too: the cost is compared after each request.
 */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  POLICY_NAMES,
  PRESETS,
  resolvePolicy,
  type ContextPolicy,
  type PolicyOverrides,
} from '../../src/core/context-policy.ts'
import { createScriptFromItems } from '../../src/simulate/conversation-script.ts'
import {
  generateConversation,
  type ConversationOptions,
} from '../../src/simulate/generate-conversation.ts'
import type { ConversationScript } from '../../src/simulate/conversation-script.ts'
import { createPolicyCandidate } from '../../src/simulate/policy-candidates.ts'
import {
  addCostMetrics,
  computeTotalCost,
  ZERO_COST_METRICS,
  type CachePrices,
} from '../../src/simulate/policy-cost-metrics.ts'
import { simulateRequests } from '../../src/simulate/simulate-conversation.ts'
import { numberOfRuns } from '../support/number-of-runs.ts'

const MAX_COST_RATIO = 1.05

const ALL_PRICES: readonly CachePrices[] = [1, 1.25].flatMap((written) =>
  [0.1, 0.2, 0.3, 0.4, 0.5].map((cached) => ({ written, cached })),
)

/** Prompts with fewer tokens are not cached by some providers; 0 stands for a provider that caches all of them. */
const MIN_CACHED_TOKENS: readonly number[] = [0, 1024, 2048, 4096]

/** Characters per token of English text, which is what the generated conversations contain. */
const CHARS_PER_TOKEN = 4

/** A cap shortens outputs before they are sent, whatever the provider's minimum. */
function isCapped({ outputs }: ContextPolicy): boolean {
  return outputs.cap !== null
}

/** Returns the cost of all requests up to each request relative to full replay, e.g. `[1, 1, 0.98]`. */
function computeCostRatios(
  script: ConversationScript,
  policy: ContextPolicy,
  { bindsReasoning = false, allPrices = ALL_PRICES, minCachedTokens = 0 } = {},
): readonly (readonly number[])[] {
  const accumulate = (candidate: ContextPolicy) => {
    let sum = ZERO_COST_METRICS
    return simulateRequests(
      script,
      createPolicyCandidate('x', candidate, bindsReasoning),
      bindsReasoning,
    ).map((request) => {
      const isCached = request.cachedChars >= minCachedTokens * CHARS_PER_TOKEN
      const cachedChars = isCached ? request.cachedChars : 0
      return (sum = addCostMetrics(sum, { ...request, cachedChars }))
    })
  }
  const [sums, replaySums] = [accumulate(policy), accumulate(PRESETS.replay)]
  return allPrices.map((prices) =>
    sums.map((sum, at) => {
      const replay = replaySums[at] ?? ZERO_COST_METRICS
      return computeTotalCost(sum, prices) / computeTotalCost(replay, prices)
    }),
  )
}

function findHighestRatio(...parameters: Parameters<typeof computeCostRatios>): number {
  return Math.max(...computeCostRatios(...parameters).flat())
}

describe('costs of policies at every length (C159)', () => {
  const policy: fc.Arbitrary<PolicyOverrides> = fc.oneof(
    fc.constantFrom(...POLICY_NAMES).map((name): PolicyOverrides => ({ policy: name })),
    fc.record({
      policy: fc.constantFrom(...POLICY_NAMES),
      outputs: fc.record({
        keepTurns: fc.option(fc.nat(12)),
        step: fc.integer({ min: 1, max: 12 }),
        head: fc.constantFrom(0, 256, 1000),
        tail: fc.constantFrom(0, 128),
        cap: fc.option(fc.integer({ min: 200, max: 8000 })),
      }),
      media: fc.record({ keepTurns: fc.option(fc.nat(8)), step: fc.integer({ min: 1, max: 20 }) }),
      reasoning: fc.record({
        // `next_reply` is a limit that its user sets, whatever it costs.
        keep: fc.constantFrom('conversation' as const, 'open_turn' as const),
      }),
    }),
  )
  const outputChars = fc.constantFrom(200, 400, 900, 1200, 2500, 5000, 9000, 20_000)
  const making = fc.record<ConversationOptions>({
    rounds: fc.constantFrom(4, 12, 40),
    hasImages: fc.boolean(),
    outputChars: fc.option(outputChars),
    callsPerRound: fc.option(fc.nat(4)),
    reasoningChars: fc.constantFrom(0, 60, 600, 1500),
    textLengthFactor: fc.constantFrom(0.1, 0.5, 1, 5),
  })

  test('no policy costs more than 1.05 times full replay, at any length and prices, with any minimum of cached tokens', () => {
    fc.assert(
      fc.property(
        policy,
        making,
        fc.nat(1000),
        fc.boolean(),
        fc.constantFrom(...MIN_CACHED_TOKENS),
        (rules, options, seed, bindsReasoning, minCachedTokens) => {
          const script = generateConversation(seed, options)
          const contextPolicy = resolvePolicy([rules])
          const provider = {
            bindsReasoning,
            minCachedTokens: isCapped(contextPolicy) ? 0 : minCachedTokens,
          }
          const ratio = findHighestRatio(script, contextPolicy, provider)
          expect(ratio).toBeLessThanOrEqual(MAX_COST_RATIO)
        },
      ),
      numberOfRuns(12),
    )
  }, 60_000)

  test('no policy costs more if the sizes of outputs, questions and answers differ from round to round', () => {
    const chars = fc.constantFrom(10, 200, 900, 3000, 20_000)
    const round = fc.record({
      text: chars,
      outputs: fc.array(chars, { maxLength: 3 }),
      answer: chars,
    })
    const minimum = fc.constantFrom(...MIN_CACHED_TOKENS)
    fc.assert(
      fc.property(fc.array(round, { maxLength: 40 }), policy, minimum, (rounds, rules, minimum) => {
        const script = createScriptFromItems('x', rounds.flatMap(createRound))
        const contextPolicy = resolvePolicy([rules])
        const provider = { minCachedTokens: isCapped(contextPolicy) ? 0 : minimum }
        const ratio = findHighestRatio(script, contextPolicy, provider)
        expect(ratio).toBeLessThanOrEqual(MAX_COST_RATIO)
      }),
      numberOfRuns(60),
    )
  })

  test.each(POLICY_NAMES)(
    '200 turns cost at most 1.05 times full replay with the policy %s',
    (name) => {
      const options = { rounds: 200, outputChars: 1200, callsPerRound: 1, reasoningChars: 0 }
      const script = generateConversation(1, options)
      expect(findHighestRatio(script, PRESETS[name])).toBeLessThanOrEqual(MAX_COST_RATIO)
    },
  )
})

describe('costs of the default policy (C159)', () => {
  const allPrices = [{ written: 1.25, cached: 0.1 }]

  test.each([
    [1200, 1],
    [2500, 0.75],
    [9000, 0.6],
  ])('60 turns with outputs of %i characters cost at most %f times full replay', (chars, most) => {
    for (const reasoningChars of [0, 600]) {
      const making = { outputChars: chars, callsPerRound: 1, reasoningChars }
      const script = generateConversation(1, making)
      const [ratios = []] = computeCostRatios(script, resolvePolicy([]), { allPrices })
      expect(ratios.at(-1), `${reasoningChars}`).toBeLessThanOrEqual(most)
    }
  })
})

function createRound(
  { text, outputs, answer }: { text: number; outputs: readonly number[]; answer: number },
  round: number,
) {
  const words = (name: string, chars: number) => `${round} ${name} `.padEnd(chars, 'word ')
  const message = (role: 'user' | 'assistant', name: string, chars: number) => ({
    type: 'message' as const,
    role,
    content: [
      {
        type: role === 'user' ? ('input_text' as const) : ('output_text' as const),
        text: words(name, chars),
      },
    ],
  })
  return [
    message('user', 'question', text),
    ...outputs.flatMap((chars, at) => [
      { type: 'function_call' as const, call_id: `${round}-${at}`, name: 'look', arguments: '{}' },
      {
        type: 'function_call_output' as const,
        call_id: `${round}-${at}`,
        output: words(`output ${at}`, chars),
      },
    ]),
    message('assistant', 'answer', answer),
  ]
}
