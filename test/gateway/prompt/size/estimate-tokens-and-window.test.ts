import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { PolicyOverrides } from '../../../../src/core/context-policy.ts'
import type { GatewayError } from '../../../../src/core/errors/gateway-error.ts'
import type { JsonObject } from '../../../../src/core/json/json.ts'
import type { Dialect } from '../../../../src/core/ports/dialect-interface.ts'
import { ZERO_TOKEN_USAGE } from '../../../../src/core/stream/add-token-usage.ts'
import { chatDialect } from '../../../../src/dialects/chat/chat-dialect.ts'
import { responsesDialect } from '../../../../src/dialects/responses/responses-dialect.ts'
import { NO_HISTORY } from '../../../../src/gateway/history/loaded-history.ts'
import { prepareRequest } from '../../../../src/gateway/prompt/prepare-request.ts'
import {
  computeTokenCorrection,
  computeMaxRequestTokens,
  estimateRequestTokens,
  resolveRequestLimit,
} from '../../../../src/gateway/prompt/size/estimate-tokens-and-window.ts'
import { fitToWindow, fitsWindow } from '../../../../src/gateway/prompt/size/fit-to-window.ts'
import { startGateway, upstreams } from '../../../support/gateway.ts'

let gateway: Awaited<ReturnType<typeof startGateway>>
const baseUrl = 'http://127.0.0.1:9/v1'
beforeAll(async () => {
  gateway = await startGateway(
    upstreams(
      { name: 'claude', wire: 'anthropic', baseUrl, models: ['claude-*'] },
      { name: 'small', wire: 'responses', baseUrl, quirks: { contextWindow: { 'tiny*': 1000 } } },
    ),
  )
})
afterAll(() => gateway.close())

function prepare(
  model: string,
  overrides: PolicyOverrides = {},
  more: JsonObject = {},
  dialect: Dialect = responsesDialect,
) {
  const { dependencies } = gateway
  const account =
    dependencies.accounts.find(({ name }) => name === 'claude') ?? dependencies.accounts[0]
  const used = model.startsWith('claude') ? account : dependencies.accounts[1]
  if (used === undefined) throw new Error('There is no such account.')
  const body = { model, input: 'Hi.', store: false, ...more }
  const clientRequest = dialect.parse(body)
  return prepareRequest(
    { account: used, model },
    { clientRequest: { ...clientRequest, policyOverrides: overrides }, history: NO_HISTORY },
    dependencies,
  )
}

describe('the context window of a model', () => {
  test('the context window of a model comes from the policy, else the account, else the built-in table', () => {
    const windowOf = (tokens: number) => ({ tokens, includesAnswer: true })
    expect(resolveRequestLimit(prepare('claude-sonnet-5-5'))).toEqual(windowOf(1_000_000))
    expect(resolveRequestLimit(prepare('tiny-1'))).toEqual(windowOf(1000))
    const overridden = prepare('tiny-1', { budget: { window: 50 } })
    expect(resolveRequestLimit(overridden)).toEqual(windowOf(50))
    expect(resolveRequestLimit(prepare('gpt-5', { budget: { window: 50 } }))).toEqual(windowOf(50))
    expect(resolveRequestLimit(prepare('gpt-5'))).toEqual({
      tokens: 272_000,
      includesAnswer: false,
    })
    expect(resolveRequestLimit(prepare('unheard-of'))).toBeNull()
  })

  test('the maximum tokens of a request are the window less the reserve or, without one, the output limit (C103)', () => {
    const budget = (overrides: PolicyOverrides, more: JsonObject, model = 'claude-sonnet-5-5') =>
      computeMaxRequestTokens(
        { tokens: 100_000, includesAnswer: true },
        prepare(model, overrides, more),
      )
    expect(budget({}, { max_output_tokens: 7000 })).toBe(93_000)
    expect(budget({}, { max_output_tokens: 7000 }, 'tiny-1')).toBe(93_000)
    expect(budget({ budget: { reserve: 1000 } }, { max_output_tokens: 7000 })).toBe(99_000)
    // `reserve` applies as long as it leaves anything for the request.
    expect(budget({ budget: { reserve: 80_000 } }, {}, 'tiny-1')).toBe(20_000)
    expect(budget({ budget: { reserve: 80_000 } }, { max_output_tokens: 10 })).toBe(20_000)
    expect(budget({ budget: { reserve: 100_000 } }, {}, 'tiny-1')).toBe(50_000)
    // Without a reserve and a limit, 4096 tokens are reserved.
    expect(budget({}, {}, 'tiny-1')).toBe(100_000 - 4096)
  })
})

test('a request may fill a limit of the input alone, whatever its answer may have', () => {
  const limit = { tokens: 272_000, includesAnswer: false }
  for (const request of [
    prepare('gpt-5'),
    prepare('gpt-5', {}, { max_output_tokens: 128_000 }),
    prepare('gpt-5', { budget: { reserve: 10_000 } }),
  ])
    expect(computeMaxRequestTokens(limit, request)).toBe(272_000)
})

describe('correcting estimates by the tokens that were reported for a turn (C62)', () => {
  const usage = (inputTokens: number, estimatedInputTokens: number) => ({
    ...ZERO_TOKEN_USAGE,
    inputTokens,
    estimatedInputTokens,
  })

  test.each([
    [null, 1],
    [usage(100, 100), 1],
    [usage(130, 100), 1.6],
    [usage(70, 100), 0.75],
    // A server that reports its complete window as used.
    [usage(32_768, 400), 1],
    [usage(0, 400), 1],
  ])(
    'the usage %o of a turn results in the factor %f for later token estimates',
    (counted, factor) => {
      expect(computeTokenCorrection(counted)).toBe(factor)
    },
  )

  test('the correction factor of token estimates is rounded up: all ratios from 1.01 to 1.25 result in 1.25', () => {
    fc.assert(
      fc.property(fc.integer({ min: 101, max: 125 }), (counted) => {
        expect(computeTokenCorrection(usage(counted, 100))).toBe(1.25)
      }),
    )
  })

  test('the token estimate of a request is multiplied by the correction factor of the parent turn', () => {
    const plain = prepare('tiny-1')
    const parent = { usage: usage(200, 100) }
    const heavy = { ...plain, history: { ...plain.history, parent: parent as never } }
    expect(estimateRequestTokens(heavy)).toBe(estimateRequestTokens(plain) * 2)
  })
})

describe('a request whose estimate exceeds the context window', () => {
  const long = { input: `Tell me of ${'the sea and '.repeat(600)}nothing else.` }

  test('a request that exceeds the configured window is rejected, even after a cut if it is still too long (C33)', () => {
    expect(() => fitToWindow(prepare('tiny-1', {}, long), gateway.dependencies)).toThrow(
      /exceeds the context window of this model: it is about \d+ tokens, and the model takes 1000/,
    )
    const cut = { budget: { overflow: 'cut' as const } }
    expect(() => fitToWindow(prepare('tiny-1', cut, long), gateway.dependencies)).toThrow(
      /The newest question alone is too long/,
    )
  })

  describe('a chat over the window, with the default rule for overflow', () => {
    const prepareChat = (content: string, overrides: PolicyOverrides = {}) => {
      const messages = [
        { role: 'user', content: long.input },
        { role: 'assistant', content: 'So it is.' },
        { role: 'user', content },
      ]
      return prepare('tiny-1', overrides, { messages }, chatDialect)
    }

    test.each([
      ['short', 'And now?'],
      ['estimated slightly above the window', 'the sea and '.repeat(600)],
      ['mostly whitespace', `look${' '.repeat(40_000)}here`],
      ['mostly a repeated character', `look${'='.repeat(40_000)}`],
    ])('a chat over the window is sent by default if its latest question is %s', (_, content) => {
      const chatRequest = prepareChat(content)
      expect(fitsWindow(chatRequest)).toBe(true)
      expect(fitToWindow(chatRequest, gateway.dependencies)).toBe(chatRequest)
    })

    test('a chat over the window is rejected if its latest question alone is certainly too long, unless the policy says `send` (C33)', () => {
      const hopeless = 'the sea and '.repeat(900)
      expect(() => fitToWindow(prepareChat(hopeless), gateway.dependencies)).toThrow(
        /The newest question alone is too long. Send less./,
      )
      expect(fitsWindow(prepareChat(hopeless))).toBe(false)
      const sent = prepareChat(hopeless, { budget: { overflow: 'send' } })
      expect(fitToWindow(sent, gateway.dependencies)).toBe(sent)
    })
  })

  test('a request over the window is sent if the policy says `send`, or if the window comes from the built-in table', () => {
    const sent = prepare('tiny-1', { budget: { overflow: 'send' } }, long)
    expect(fitToWindow(sent, gateway.dependencies)).toBe(sent)
    const guess = prepare('claude-sonnet-5-5', {}, { input: 'the sea '.repeat(900_000) })
    expect(fitToWindow(guess, gateway.dependencies)).toBe(guess)
  })

  test('a cut to the window drops the oldest rounds of a request and retains the latest question', () => {
    const turns = Array.from({ length: 30 }, (_, at) => [
      { role: 'user', content: `question ${at} ${'word '.repeat(40)}` },
      { role: 'assistant', content: `answer ${at} ${'word '.repeat(40)}` },
    ]).flat()
    const request = prepare(
      'tiny-1',
      { budget: { overflow: 'cut' } },
      { input: [...turns, { role: 'user', content: 'now' }] },
    )
    const fitting = fitToWindow(request, gateway.dependencies)
    expect(estimateRequestTokens(fitting)).toBeLessThanOrEqual(1000)
    expect(fitting.prompt.items.at(-1)).toBe(request.items.at(-1))
    expect(fitting.notes.some(({ why }) => why === 'over-window')).toBe(true)
  })

  const looked = (at: number, repetitions: number) => [
    { role: 'user', content: `look ${at}` },
    { type: 'function_call', call_id: `c${at}`, name: 'look', arguments: '{}' },
    { type: 'function_call_output', call_id: `c${at}`, output: `fog ${at} `.repeat(repetitions) },
  ]
  const cut = { policy: 'replay', budget: { overflow: 'cut' } } as const
  const whysOf = ({ notes }: { notes: readonly { why: string }[] }) =>
    new Set(notes.map(({ why }) => why))

  test('a cut to the window hides old tool outputs before it drops a round (C58)', () => {
    const input = [...looked(1, 150), ...looked(2, 150), { role: 'user', content: 'now' }]
    const fitting = fitToWindow(prepare('tiny-1', cut, { input }), gateway.dependencies)
    expect(whysOf(fitting)).toEqual(new Set(['output-too-old']))
    expect(fitting.prompt.items).toHaveLength(input.length)
    expect(fitting.clientRequest.policyOverrides).toEqual(cut)
  })

  test('a cut to the window shortens tool outputs in the same way within a round and after it', () => {
    const running = looked(1, 2000)
    const over = [
      ...running,
      { role: 'assistant', content: 'So.' },
      { role: 'user', content: 'now' },
    ]
    const [before, after] = [running, over].map((input) => {
      return fitToWindow(prepare('tiny-1', cut, { input }), gateway.dependencies).prompt.items
    })
    expect(after?.slice(0, running.length)).toEqual(before)
  })

  const instructions = 'Be as kind as you can. '.repeat(300)
  const pinned = Array.from({ length: 3 }, (_, at) => [
    { role: 'user', content: `keep ${at} ${'word '.repeat(400)}`, backstory: { pin: true } },
    { role: 'assistant', content: 'I will.' },
  ]).flat()

  test.each([
    ['the instructions', { instructions }, 'The instructions alone are too long.', 'instructions'],
    ['tools', { tools: [tool('Looks. '.repeat(900))] }, 'The tools alone are too long.', 'tools'],
    [
      'what is pinned',
      { input: [...pinned, { role: 'user', content: 'now' }] },
      'What is pinned alone is too long.',
      'input',
    ],
    [
      'several things',
      {
        instructions: instructions.slice(0, 3000),
        input: [{ role: 'user', content: long.input.slice(0, 3000) }],
      },
      /Nothing more can be left out: the (instructions|newest question) takes? about \d+ of them, /,
      undefined,
    ],
  ])(
    'the error for a request over the window names what fills the window: %s',
    (_, more, sentence, param) => {
      for (const overflow of ['cut', 'refuse'] as const) {
        try {
          fitToWindow(prepare('tiny-1', { budget: { overflow } }, more), gateway.dependencies)
          expect.unreachable()
        } catch (error) {
          const { failure } = error as GatewayError
          expect(failure.code).toBe('context_length_exceeded')
          expect(failure.message).toMatch(sentence)
          if (param !== undefined) expect(failure.param).toBe(param)
        }
      }
    },
  )

  function tool(description: string) {
    return { type: 'function', name: 'look', description, parameters: null, strict: false }
  }

  test('a cut to the window shortens tool outputs of the current round if nothing else can be cut (C58)', () => {
    const input = looked(1, 2000)
    const fitting = fitToWindow(prepare('tiny-1', cut, { input }), gateway.dependencies)
    expect(estimateRequestTokens(fitting)).toBeLessThanOrEqual(1000)
    expect(whysOf(fitting)).toEqual(new Set(['output-capped']))
    expect(fitting.prompt.items).toHaveLength(input.length)
  })
})
