/**
 * What a model is asked again in the middle of its answer keeps the laws of every request, however much
 * it was answered: it goes on where the round before ended, or is planned anew, and never a third thing.
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
import { describeAnswerProvenance } from '../../../../src/gateway/record/answer-provenance.ts'
import { prepareRetryWithoutReasoning } from '../../../../src/gateway/send/prepare-retry-without-reasoning.ts'
import { prepareNextRound } from '../../../../src/gateway/tools/rounds/prepare-next-round.ts'
import type { ToolRound } from '../../../../src/gateway/tools/rounds/tool-round.ts'
import { anthropicComplaints } from '../../../support/anthropic-laws.ts'
import { chatFaults } from '../../../support/chat-laws.ts'
import { startGateway, upstreams } from '../../../support/gateway.ts'
import { geminiFaults } from '../../../support/gemini-laws.ts'
import { responsesComplaints } from '../../../support/responses-laws.ts'

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
  'gpt-5': (_, body) => responsesComplaints(body),
  'bound-1': (_, body) => responsesComplaints(body),
  'chat-1': (_, body) => chatFaults(body),
  'claude-3-5-haiku': (_, body) => anthropicComplaints(body),
  'gemini-3.8-flash': geminiFaults,
}

const LOOK = {
  type: 'function',
  name: 'look',
  parameters: { type: 'object', properties: {} },
  strict: false,
}
/** To so many characters outputs are cut where nothing else is left to go. */
const HARD = 500
const QUESTION = 'What of all this is true?'
const WORDS = 'some of the many words '

interface Story {
  readonly model: string
  /** How long each output of the turns before is. */
  readonly before: readonly number[]
  readonly rounds: readonly Spoken[]
  readonly window: number | null
}

interface Spoken {
  readonly chars: number
  readonly calls: number
  readonly thinks: boolean
  /** Whether its reasoning is refused before it is answered. */
  readonly isRefused: boolean
}

const story: fc.Arbitrary<Story> = fc.record({
  model: fc.constantFrom(...Object.keys(FAULTS)),
  before: fc.array(fc.integer({ min: 0, max: 9000 }), { maxLength: 4 }),
  rounds: fc.array(
    fc.record({
      chars: fc.integer({ min: 1, max: 3800 }),
      calls: fc.integer({ min: 1, max: 2 }),
      thinks: fc.boolean(),
      isRefused: fc.constantFrom(false, false, false, true),
    }),
    { minLength: 1, maxLength: 8 },
  ),
  window: fc.option(fc.integer({ min: 1000, max: 12_000 }), { freq: 5 }),
})

interface Told {
  /** As it was planned. */
  readonly asked: PreparedRequest
  /** As it was sent in the end. */
  readonly sent: PreparedRequest
}

/** Round by round, up to the end or to one that cannot be sent. */
function told({ model, before, rounds: spoken, window }: Story): readonly Told[] {
  const { dependencies } = gateway
  const rounds: ToolRound[] = []
  const all: Told[] = []
  let asked = fitToWindow(prepared(model, before, window), dependencies)
  for (const [at, one] of spoken.entries()) {
    const sent = one.isRefused ? (prepareRetryWithoutReasoning(asked) ?? asked) : asked
    all.push({ asked, sent })
    rounds.push(roundOf(sent, one, at))
    const [oldest, ...others] = rounds
    if (oldest === undefined) break
    try {
      asked = prepareNextRound([oldest, ...others], at === 7, dependencies)
    } catch (error) {
      expect(error).toMatchObject({ failure: { code: 'context_length_exceeded' } })
      return all
    }
  }
  return [...all, { asked, sent: asked }]
}

function prepared(
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
    { type: 'function_call_output', call_id: `b${at}`, output: wordsOf(chars) },
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

function roundOf(asked: PreparedRequest, { chars, calls, thinks }: Spoken, at: number): ToolRound {
  const { wire } = asked.account
  const thought: Reasoning = {
    type: 'reasoning',
    id: `rs_${at}`,
    summary: [],
    encrypted_content: `gAAAA${at}`,
  }
  const isSealing = thinks && wire === 'responses'
  const ids = Array.from({ length: calls }, (_, nth) => `c${at}_${nth}`)
  const made = ids.map((callId) =>
    markGatewayToolCall({
      type: 'function_call',
      call_id: callId,
      name: 'expand_output',
      arguments: '{}',
      ...(wire === 'gemini' ? { native: { gemini: { thoughtSignature: `Ck${callId}` } } } : {}),
    }),
  )
  return {
    prepared: asked,
    said: isSealing ? [thought, ...made] : made,
    outputs: ids.map((callId) => createGatewayToolOutput(callId, wordsOf(chars))),
    media: [],
    loaded: null,
    usage: null,
  }
}

function wordsOf(chars: number): string {
  return WORDS.repeat(Math.ceil(chars / WORDS.length)).slice(0, chars)
}

const RUNS = { numRuns: 12 }

/** Over each request but the first, with the one before it. */
function holds(law: (now: PreparedRequest, before: PreparedRequest, story: Story) => void): void {
  fc.assert(
    fc.property(story, (made) => {
      const all = told(made)
      for (const [at, { asked }] of all.slice(1).entries()) {
        law(asked, all[at]?.sent ?? asked, made)
      }
    }),
    RUNS,
  )
}

describe('in every round', () => {
  test('its service takes it', () => {
    holds(({ encoded, prompt }) => {
      const { path, body } = encoded
      expect(FAULTS[prompt.params.model]?.(path, JSON.parse(JSON.stringify(body)))).toEqual([])
    })
  })

  test('it fits, or has nothing left that could go, and the newest question is whole', () => {
    holds((now, _, { window }) => {
      const { items } = now.prompt
      const place = items.findLastIndex((item) => item.type === 'message')
      const question = { type: 'message', role: 'user', content: [{ text: QUESTION }] }
      expect(items[place]).toMatchObject(question)
      if (window === null || estimateRequestTokens(now) <= window) return
      // A little over, for an estimate refuses nobody: all turns before are gone, all outputs are short.
      expect([place, isOverWindow(now, 'cut')]).toEqual([0, false])
      const outputs = items.flatMap((item) => ('output' in item ? [String(item.output)] : []))
      expect(outputs.filter((output) => output.length > HARD)).toEqual([])
    })
  })

  test('every call has its output', () => {
    holds(({ prompt: { items } }) => {
      const partners = findToolCallPairs(items)
      for (const [at, item] of items.entries()) {
        if ('call_id' in item) expect(partners[at]).toBeGreaterThanOrEqual(0)
      }
    })
  })

  test('it begins with the round before, unless that would not fit', () => {
    holds((now, before) => {
      const isOn = before.prompt.items.every((item, at) => item === now.prompt.items[at])
      const more = now.items.slice(before.items.length)
      const prompt = { ...before.prompt, items: [...before.prompt.items, ...more] }
      const encoded = now.provider.encode(prompt, now.account)
      // What is planned anew may begin like that as well.
      expect(isOn || !fitsWindow({ ...before, prompt, encoded })).toBe(true)
    })
  })

  test('what its client sent is what its client sent', () => {
    holds((now, before) => {
      expect(now.clientRequest).toBe(before.clientRequest)
      expect(now.history).toBe(before.history)
    })
  })

  test('what was said and is not passed on as it was has a note', () => {
    holds(({ items, prompt, originalPositions, notes }, { items: then }) => {
      expect(items.length).toBeGreaterThan(then.length)
      expect(originalPositions).toHaveLength(prompt.items.length)
      const noted = new Set(notes.map(({ at }) => at))
      const sent = new Map(originalPositions.map((place, at) => [place, prompt.items[at]]))
      for (const [place, item] of items.entries()) {
        if (sent.get(place) !== item) expect(noted).toContain(place)
      }
    })
  })
})

describe('of reasoning', () => {
  const reasoningIn = (items: readonly Item[]): readonly string[] =>
    items.flatMap((item) => (item.type === 'reasoning' ? (item.id ?? '') : []))

  test('what is bound to its prefix stands behind that, or is not sent', () => {
    fc.assert(
      fc.property(story, (made) => {
        const all = told({ ...made, model: 'bound-1' })
        for (const { asked } of all) {
          for (const [at, item] of asked.prompt.items.entries()) {
            if (item.type !== 'reasoning') continue
            const { sent } = all[Number(item.id?.slice(3))] ?? { sent: asked }
            const before = { ...asked.prompt, items: asked.prompt.items.slice(0, at) }
            expect(hashPromptPrefix(before, 'responses')).toBe(
              hashPromptPrefix(sent.prompt, 'responses'),
            )
          }
        }
      }),
      RUNS,
    )
  })

  test('what was refused once is not sent again', () => {
    fc.assert(
      fc.property(story, (made) => {
        for (const [at, { sent }] of told({ ...made, model: 'gpt-5' }).entries()) {
          const refused = made.rounds.findLastIndex(({ isRefused }, nth) => isRefused && nth <= at)
          const ids = reasoningIn(sent.prompt.items)
          expect(ids.filter((id) => Number(id.slice(3)) < refused)).toEqual([])
        }
      }),
      RUNS,
    )
  })

  test('an answer stands on its first prompt, if all its rounds do', () => {
    const thought = { type: 'reasoning', summary: [], encrypted_content: 'gAAAA' } as const
    const rest = {
      finish: 'stop',
      failure: null,
      usage: null,
      upstreamId: null,
      model: null,
    } as const
    const isLike = (made: Story): boolean => {
      const sent = told(made).map((one) => one.sent)
      const [first] = sent
      if (first === undefined) return false
      const { origin } = describeAnswerProvenance(first, { items: [thought], ...rest }, sent)
      return origin().prefixHash === hashPromptPrefix(first.prompt, first.account.wire)
    }
    const spoken = { chars: 3000, calls: 1, thinks: true, isRefused: false }
    const long = {
      model: 'bound-1',
      before: [4000, 4000],
      rounds: Array.from({ length: 6 }, () => spoken),
    }
    expect(isLike({ ...long, window: null })).toBe(true)
    expect(isLike({ ...long, window: 5000 })).toBe(false)
    // Cut from the beginning, and what was said since was given it shorter than it is kept.
    expect(isLike({ ...long, before: [], window: 1500 })).toBe(false)
    const refused = [spoken, { ...spoken, isRefused: true }]
    expect(isLike({ ...long, rounds: refused, window: null })).toBe(false)
  })
})

test('what is planned anew is what a client would be sent that answers its tools itself', () => {
  const { dependencies } = gateway
  fc.assert(
    fc.property(story, (made) => {
      const all = told({ ...made, model: 'chat-1' })
      for (const [at, { asked }] of all.slice(1).entries()) {
        const before = all[at]?.sent ?? asked
        if (before.prompt.items.every((item, nth) => item === asked.prompt.items[nth])) continue
        const { clientRequest, account } = asked
        const items = asked.items.map((item) => unmarkGatewayToolItem(item))
        const own = { ...clientRequest, items, originalItems: items }
        const planned = prepareRequest(
          { account, model: 'chat-1' },
          { clientRequest: own, history: NO_HISTORY },
          dependencies,
        )
        expect(asked.encoded.body).toEqual(fitToWindow(planned, dependencies).encoded.body)
      }
    }),
    RUNS,
  )
})
