/**
 * Tests continued answers on every wire: the model generated the continuation after the request as
 * it was then, so that request must stay the byte-identical beginning of each later one.
 */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Item, Message, Origin } from '../../src/core/item.ts'
import type { Json, JsonObject } from '../../src/core/json/json.ts'
import type { Note } from '../../src/core/note.ts'
import type { PromptParameters } from '../../src/core/prompt.ts'
import type { WireName } from '../../src/providers/provider-interface.ts'
import { PROVIDERS } from '../../src/providers/provider-registry.ts'
import { findAnthropicFaults } from '../support/anthropic-laws.ts'
import { findChatFaults } from '../support/chat-laws.ts'
import { findGeminiFaults } from '../support/gemini-laws.ts'
import { NO_PARAMS } from '../support/empty-parameters.ts'
import { talk } from '../support/talk.ts'

interface Case {
  readonly wire: WireName
  readonly model: string
  readonly effort?: string
  /** The first answers (see `opening`) that this model can continue; all if missing. */
  readonly openings?: RegExp
  readonly quirks?: JsonObject
  /**
   * The user line that is added after an answer that is continued; `null` if the model continues
   * its own message.
   */
  readonly line: string | null
}

const CONTINUE = 'Continue exactly where your last message ends.'
const GO_ON = 'Go on with your last message exactly where it ends, without repeating any of it.'
const noPrefix: JsonObject = { prefixCompletion: false, reasoningField: 'reasoning_content' }
const strict: JsonObject = { ...noPrefix, strictAlternation: true, userAfterTool: false }

const CASES: readonly Case[] = [
  { wire: 'anthropic', model: 'claude-opus-4-6', effort: 'low', line: CONTINUE },
  { wire: 'anthropic', model: 'claude-opus-5-5', effort: 'low', line: CONTINUE },
  // This model continues its own message unless it thinks.
  { wire: 'anthropic', model: 'claude-sonnet-4-5', effort: 'low', openings: /^R/, line: CONTINUE },
  { wire: 'anthropic', model: 'claude-3-5-haiku', line: null },
  { wire: 'anthropic', model: 'kimi-k2', line: null },
  { wire: 'gemini', model: 'gemini-3.8-flash', line: 'Continue.' },
  { wire: 'gemini', model: 'gemini-2.5-pro', line: null },
  { wire: 'chat', model: 'm', quirks: noPrefix, line: GO_ON },
  // With alternating roles, a continuation after an answer without text merges with the message
  // before it.
  { wire: 'chat', model: 'm', quirks: strict, openings: /[Tc]/, line: GO_ON },
  { wire: 'chat', model: 'm', line: null },
  { wire: 'responses', model: 'gpt-5', line: null },
]

const describeCase = ({ wire, model, line, effort = 'no', quirks = {} }: Case): string =>
  `${wire}, ${model}, ${effort} effort, ${Object.keys(quirks).length} quirks, ${line ?? 'no line'}`

interface EncodedCase {
  readonly path: string
  readonly body: JsonObject
  /** All parts of the messages in order, each with its role. */
  readonly pieces: readonly string[]
  readonly notes: readonly Note[]
}

function encode(testCase: Case, items: readonly Item[]): EncodedCase {
  const { wire, model, effort = null, quirks = {} } = testCase
  const look = { type: 'function', name: 'look', description: null, parameters: null } as const
  const params: PromptParameters = {
    ...NO_PARAMS,
    model,
    effort,
    tools: [{ ...look, strict: false }],
  }
  const bytes = () => new Uint8Array()
  const source = { dialect: 'responses', body: {}, bytes, items: [], params } as const
  const account = {
    name: wire,
    wire,
    baseUrl: 'https://up.example/v1',
    apiKey: 'sk-1',
    models: ['*'],
    headers: {},
    quirks: { cacheControl: false, ...quirks },
  }
  const prompt = { items, params, stream: true, source }
  const { path, body, notes } = PROVIDERS[wire].encode(prompt, account)
  return { path, body, pieces: listPieces(body), notes }
}

function listPieces({ messages, contents, input }: JsonObject): readonly string[] {
  const list = (messages ?? contents ?? input) as readonly JsonObject[]
  return list.flatMap((message): readonly string[] => {
    const { role, content, parts } = message
    const pieces = input === undefined ? (parts ?? content) : null
    if (!Array.isArray(pieces)) return [JSON.stringify(message)]
    return pieces.map((piece: Json) => JSON.stringify([role, piece]))
  })
}

function findFaults({ wire }: Case, { path, body }: EncodedCase): readonly string[] {
  if (wire === 'anthropic') return findAnthropicFaults(body)
  if (wire === 'gemini') return findGeminiFaults(path, body)
  return wire === 'chat' ? findChatFaults(body) : []
}

/** Returns an answer as the store returns it; `number` makes its texts and ids unique. */
function createAnswer({ wire, model }: Case, number: number, script: string): readonly Item[] {
  const origin: Origin = { wire, account: wire, model, prefixHash: null }
  return script.split('').flatMap((letter, at): readonly Item[] => {
    const id = `${number}_${at}`
    const thinking = `Thought ${id}.`
    if (letter === 'R') {
      const native = {
        anthropic: { type: 'thinking', thinking, signature: 's' },
        gemini: {
          signatures: [{ start: 0, end: 5, thoughtSignature: 's' }],
          chars: thinking.length,
        },
      }
      return [{ ...(talk`thinks: ${thinking}`[0] as Item), native, origin }]
    }
    if (letter === 'C') {
      const native = { gemini: { thoughtSignature: 's' } }
      return talk`call ${id} look`.map((item) => ({ ...item, native, origin }))
    }
    if (letter === 'O') return talk`output ${`${number}_${at - 1}`} 4 degrees`
    const text = letter === '_' ? '' : `Words ${id}. `
    const message: Message = {
      type: 'message',
      role: 'assistant',
      content: [{ type: 'output_text', text }],
    }
    return [letter === 'c' ? message : { ...message, origin }]
  })
}

/**
 * T: text, R: reasoning, C: call, O: output, c: text of the client without an origin, _: a message
 * without text.
 */
const opening = fc.constantFrom('T', 'RT', 'RTRT', 'RTT', 'RTR', 'c', 'cc', '_', 'R', 'COT', 'RTCO')
const continuation = fc.constantFrom('RT', 'RTRT', 'RTCO', 'RCO', 'RTR')
const roundScripts = fc.array(fc.tuple(opening, fc.array(continuation, { maxLength: 3 })), {
  minLength: 1,
  maxLength: 3,
})

/** `requestLengths` are the item counts at which each answer was requested. */
function buildConversation(
  testCase: Case,
  rounds: readonly (readonly [string, readonly string[]])[],
) {
  let number = 0
  const items: Item[] = []
  const requestLengths: number[] = []
  for (const [first, rest] of rounds) {
    items.push(...talk`user: question ${String(number)}`)
    for (const script of [first, ...rest]) {
      requestLengths.push(items.length)
      items.push(...createAnswer(testCase, (number += 1), script))
    }
  }
  return { items: [...items, ...talk`user: so?`], requestLengths }
}

describe.each(CASES.map((testCase) => [describeCase(testCase), testCase] as const))(
  'requests after continued answers, for %s',
  (_, testCase) => {
    test('if a model continues its own answer, each earlier request is a prefix of the later ones', () => {
      fc.assert(
        fc.property(roundScripts, (scripts) => {
          const rounds = scripts.filter(([first]) => testCase.openings?.test(first) ?? true)
          const { items, requestLengths } = buildConversation(testCase, rounds)
          const complete = encode(testCase, items)
          expect(findFaults(testCase, complete)).toEqual([])
          for (const at of requestLengths) {
            const { pieces } = encode(testCase, items.slice(0, at))
            expect(complete.pieces.slice(0, pieces.length)).toEqual(pieces)
          }
        }),
        { numRuns: 60 },
      )
    })

    test('the added user message that asks a model to continue keeps its position in later requests and has a note', () => {
      const { items } = buildConversation(testCase, [['RT', ['RTCO', 'RT']]])
      const { pieces, notes } = encode(testCase, items)
      const line = JSON.stringify(testCase.line)
      const lines = pieces.filter((piece) => piece.includes(line) && piece.includes('"user"'))
      const added = notes.filter(({ did }) => did === 'added')
      // Only one of the two continuations gets a line, because after an output the model continues
      // anyway.
      expect([lines.length, added.length]).toEqual(testCase.line === null ? [0, 0] : [1, 1])
      if (testCase.line === null) return
      const at = pieces.findIndex((piece) => piece.includes(line))
      expect(pieces[at - 1]).toContain('Words 1_1')
      expect(pieces.slice(0, at).join()).not.toContain('2_')
      expect(pieces[at + 1]).toMatch(/2_|"Thoug"/)
    })
  },
)

test('requests with an added message that asks a model to continue are valid for arbitrary answers', () => {
  const anything = fc.stringMatching(/^[RT_]{0,3}(CO)?[RT_]{0,2}$/)
  const testCase = fc.constantFrom(...CASES)
  fc.assert(
    fc.property(testCase, fc.array(anything, { maxLength: 4 }), (testCase, scripts) => {
      const { items } = buildConversation(testCase, [['', scripts]])
      expect(findFaults(testCase, encode(testCase, items))).toEqual([])
    }),
    { numRuns: 300 },
  )
})

test('a tool loop that began without thinking is continued by a Claude model without an added user message', () => {
  const testCase: Case = {
    wire: 'anthropic',
    model: 'claude-sonnet-4-5',
    effort: 'low',
    line: null,
  }
  const { items } = buildConversation(testCase, [
    ['T', ['T']],
    ['RT', []],
  ])
  const { body, pieces } = encode(testCase, items)
  expect(body['thinking']).toMatchObject({ type: 'enabled' })
  expect(pieces.join()).not.toContain(CONTINUE)
})

test('a paused Anthropic answer with a server tool call is continued without an added user message', () => {
  const testCase: Case = { wire: 'anthropic', model: 'claude-opus-5', line: CONTINUE }
  const block = (raw: JsonObject): Item => ({
    type: 'opaque',
    raw,
    origin: { wire: 'anthropic', account: 'anthropic', model: testCase.model, prefixHash: null },
  })
  const asks = { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} }
  const finds = { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [] }
  const requestLengths = [...talk`user: go`, block(asks)]
  const { pieces } = encode(testCase, requestLengths)
  const complete = encode(testCase, [
    ...requestLengths,
    block(finds),
    ...createAnswer(testCase, 1, 'T'),
    ...talk`user: so?`,
  ])
  expect(complete.pieces.slice(0, pieces.length)).toEqual(pieces)
  expect(complete.pieces[pieces.length]).toContain('web_search_tool_result')
})
