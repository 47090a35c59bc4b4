/**
 * Compares two requests that differ in one change, for every wire: the explanation of the second one
 * names this change, or reports that only the end is new.
 */
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { PolicyOverrides } from '../../../src/core/context-policy.ts'
import type { Json, JsonObject } from '../../../src/core/json/json.ts'
import { responsesDialect } from '../../../src/dialects/responses/responses-dialect.ts'
import { predictCacheHit } from '../../../src/explain/cache-miss/predict-cache-hit.ts'
import {
  decodeSentRequest,
  encodeSentRequest,
  type ExplainedRequest,
} from '../../../src/explain/encode-and-decode-sent-request.ts'
import { NO_HISTORY } from '../../../src/gateway/history/loaded-history.ts'
import { prepareRequest } from '../../../src/gateway/prompt/prepare-request.ts'
import { startGateway, upstreams } from '../../support/gateway.ts'

const MODELS = ['chat-1', 'strict-1', 'responses-1', 'claude-1', 'gemini-1', 'demo-1'] as const

let gateway: Awaited<ReturnType<typeof startGateway>>
beforeAll(async () => {
  const baseUrl = 'http://127.0.0.1:9/v1'
  gateway = await startGateway(
    upstreams(
      { name: 'chat', wire: 'chat', baseUrl, models: ['chat-*'] },
      {
        name: 'strict',
        wire: 'chat',
        baseUrl,
        models: ['strict-*'],
        quirks: { strictAlternation: true },
      },
      { name: 'responses', wire: 'responses', baseUrl, models: ['responses-*'] },
      { name: 'claude', wire: 'anthropic', baseUrl, models: ['claude-*'] },
      { name: 'gemini', wire: 'gemini', baseUrl, models: ['gemini-*'] },
      { name: 'demo', wire: 'demo', baseUrl: 'http://demo', models: ['demo-*'] },
    ),
  )
})
afterAll(() => gateway.close())

interface Asked {
  readonly instructions: string | null
  readonly tools: readonly JsonObject[]
  readonly input: readonly JsonObject[]
  readonly wishes: PolicyOverrides
}

function sent(model: string, { wishes, ...asked }: Asked): ExplainedRequest {
  const { dependencies } = gateway
  const account = dependencies.accounts.find(({ models }) =>
    models[0]?.startsWith(model.slice(0, 3)),
  )
  if (account === undefined) throw new Error('There is no such account.')
  const body = { model, store: false, ...asked } as JsonObject
  const clientRequest = responsesDialect.parse(body)
  const found = decodeSentRequest(
    encodeSentRequest(
      prepareRequest(
        { account, model },
        { clientRequest: { ...clientRequest, policyOverrides: wishes }, history: NO_HISTORY },
        dependencies,
      ),
      dependencies,
    ),
  )
  if (found === null) throw new Error('It cannot be read.')
  return found
}

function causeTold(model: string, before: Asked, now: Asked): JsonObject {
  const previous = { ...sent(model, before), turnId: 'before', round: 0, roundCount: 1 }
  return predictCacheHit(sent(model, now), previous).cause
}

/** A change of the second request and the expected cause. */
interface Change {
  readonly name: string
  readonly make: (asked: Asked, at: number) => Asked
  readonly cause: (asked: Asked, at: number) => JsonObject
}

const WORDS = 'Some words that go on and on until they are longer than what is seen in one line. '

/** Indexes of the user messages before the latest answer. */
function questionsOf({ input }: Asked): readonly number[] {
  const newest = input.findLastIndex(({ role }) => role === 'assistant')
  return input.flatMap(({ role }, at) => (role === 'user' && at < newest ? [at] : []))
}

function chosenIn(asked: Asked, at: number): number {
  const places = questionsOf(asked)
  return places[at % places.length] ?? 0
}

const withInput = (asked: Asked, input: readonly JsonObject[]): Asked => ({ ...asked, input })

const edited = (asked: Asked, at: number, edit: (text: string) => Json): Asked => {
  const place = chosenIn(asked, at)
  const change = (item: JsonObject, nth: number) =>
    nth === place ? { ...item, content: edit(String(item['content'])) } : item
  return withInput(asked, asked.input.map(change))
}

const wishing = (asked: Asked, wishes: PolicyOverrides): Asked => ({
  ...asked,
  wishes: { ...asked.wishes, ...wishes },
})

const NOTE = { text: 'A note.', depth: 1, role: 'developer' } as const

const CHANGES: readonly Change[] = [
  { name: 'no change', make: (asked) => asked, cause: () => ({ who: 'nobody' }) },
  {
    name: 'another client tool',
    make: (asked) => ({ ...asked, tools: [...asked.tools, tool('other')] }),
    cause: () => ({ who: 'client', sentence: expect.stringContaining('tools') as string }),
  },
  {
    name: 'a gateway tool',
    make: (asked) => wishing(asked, { policy: 'capped' }),
    cause: () => ({ who: 'gateway', by: 'house-tools', why: 'house-tool-offered' }),
  },
  {
    name: 'other instructions',
    make: (asked) => ({ ...asked, instructions: 'Be long.' }),
    cause: () => ({ who: 'client', sentence: expect.stringContaining('instructions') as string }),
  },
  {
    name: 'an edited message',
    make: (asked, at) => edited(asked, at, (text) => `No: ${text}`),
    cause: (asked, at) => ({ who: 'client', place: chosenIn(asked, at) }),
  },
  {
    name: 'an edit after the end of the preview that keeps the length',
    make: (asked, at) => edited(asked, at, (text) => `${text.slice(0, -1)}!`),
    cause: (asked, at) => ({ who: 'client', place: chosenIn(asked, at) }),
  },
  {
    name: 'one item less',
    make: (asked, at) => withInput(asked, asked.input.toSpliced(chosenIn(asked, at), 1)),
    cause: (asked, at) => ({ who: 'client', place: chosenIn(asked, at) }),
  },
  {
    name: 'an inserted item',
    make: (asked, at) =>
      withInput(asked, asked.input.toSpliced(chosenIn(asked, at), 0, said('user', 'Oh.'))),
    cause: (asked, at) => ({ who: 'client', place: chosenIn(asked, at) }),
  },
  {
    name: 'an inserted note',
    make: (asked) => wishing(asked, { notes: { mode: 'replace', entries: [NOTE] } }),
    cause: () => ({ who: 'gateway', by: 'place-notes' }),
  },
  {
    name: 'a window of one turn',
    make: (asked) => wishing(asked, { window: { turns: 1 } }),
    cause: () => ({ who: 'gateway', by: 'window-turns' }),
  },
  {
    name: 'shortened outputs',
    make: (asked) =>
      wishing(asked, { outputs: { keepTurns: 0, step: 1, longerThan: 50 }, cuts: { minChars: 0 } }),
    cause: () => ({ who: 'gateway', by: 'shorten-tool-outputs' }),
  },
]

function said(role: string, content: string): JsonObject {
  return { type: 'message', role, content }
}

function tool(name: string): JsonObject {
  return { type: 'function', name, parameters: { type: 'object', properties: {} }, strict: false }
}

/** Every text is unique. */
function roundOf(works: boolean, at: number): readonly JsonObject[] {
  const call = {
    type: 'function_call',
    call_id: `call${at}`,
    name: 'look',
    arguments: `{"a":${at}}`,
  }
  const output = { type: 'function_call_output', call_id: `call${at}` }
  return [
    said('user', `Question ${at}. ${WORDS}${at}`),
    ...(works ? [call, { ...output, output: `Output ${at}. ${WORDS.repeat(9)}${at}` }] : []),
    said('assistant', `Answer ${at}. ${WORDS}${at}`),
  ]
}

const story = fc.record({
  model: fc.constantFrom(...MODELS),
  rounds: fc.array(fc.boolean(), { minLength: 1, maxLength: 4 }),
  begins: fc.constantFrom(null, 'system', 'developer'),
  instructions: fc.constantFrom(null, 'Be brief.'),
  at: fc.nat(3),
})

type Story = typeof story extends fc.Arbitrary<infer Made> ? Made : never

/** The previous request, and the same request with one more answer and question. */
function requestsOf({ rounds, begins, instructions }: Story): readonly [Asked, Asked] {
  const all = rounds.flatMap(roundOf)
  const head = begins === null ? [] : [said(begins, 'You are a helper.')]
  const asked = { instructions, tools: [tool('look')], wishes: { policy: 'replay' } } as const
  const before = [...head, ...all.slice(0, -1)]
  const now = [...head, ...all, said('user', 'And now?')]
  return [
    { ...asked, input: before },
    { ...asked, input: now },
  ]
}

test.each(CHANGES)(
  'the cause of a cache miss is correct if the second request has $name (C102)',
  ({ name, make, cause }) => {
    fc.assert(
      fc.property(story, (made) => {
        const [before, now] = requestsOf(made)
        const changed = make(now, made.at)
        const told = causeTold(made.model, before, changed)
        // The gateway may encode a request differently from the client's own bytes once it changes
        // anything.
        const mayBeAnew = made.model === 'responses-1' && changed.wishes !== now.wishes
        const isAnew = told['why'] === 'written-anew' && mayBeAnew
        const isSeen = told['sentence'] !== NEW || name === 'no change'
        if (isAnew) expect(told).toMatchObject({ who: 'gateway' })
        else if (isSeen) expect(told).toMatchObject(cause(now, made.at))
        else expect(isPrefix(made.model, before, changed)).toBe(true)
      }),
    )
  },
)

describe('requests of a conversation that only continues', () => {
  const notes = {
    mode: 'replace',
    entries: [NOTE, { ...NOTE, text: 'Another.', depth: 0 }],
  } as const
  test.each<[PolicyOverrides]>([
    [{ policy: 'replay', notes }],
    [{ policy: 'lean' }],
    [{ policy: 'capped' }],
    [{ policy: 'replay', window: { turns: 2 } }],
    [{ policy: 'replay', window: { tokens: 200 }, notes }],
    [
      {
        policy: 'replay',
        outputs: { keepTurns: 1, step: 1, longerThan: 50 },
        cuts: { minChars: 0 },
      },
    ],
    [{ policy: 'replay', outputs: { cap: 200 }, speakers: { merge: 'same_author' } }],
  ])(
    'if a conversation only continues, only the gateway can cause a cache miss, under the policy %j (C102)',
    (wishes) => {
      fc.assert(
        fc.property(story, fc.array(fc.boolean(), { maxLength: 8 }), (made, more) => {
          const asked = requestsOf({ ...made, rounds: [...made.rounds, ...more] })
          const [before, now] = asked.map((one) => ({ ...one, wishes })) as [Asked, Asked]
          const told = causeTold(made.model, before, now)
          if (isPrefix(made.model, before, now)) expect(told).toMatchObject(GOES_ON)
          else expect(told).toMatchObject({ who: 'gateway' })
        }),
      )
    },
  )
})

const NEW = 'Everything from here on is new: the conversation continues.'
const GOES_ON = { who: 'nobody', sentence: NEW }

/** True if the change does not affect anything that was sent before. */
function isPrefix(model: string, before: Asked, now: Asked): boolean {
  const [then, today] = [sent(model, before).body, sent(model, now).body].map((body) => {
    const parsed = JSON.parse(body) as JsonObject
    const entries = parsed['messages'] ?? parsed['input'] ?? parsed['contents'] ?? parsed['items']
    // A cache_control mark may move.
    const still = (key: string, value: Json) => (key === 'cache_control' ? undefined : value)
    return (entries as readonly JsonObject[]).map((entry) => JSON.stringify(entry, still))
  }) as [string[], string[]]
  return then.every((entry, at) => entry === today[at])
}
