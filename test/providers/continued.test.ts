/**
 * An answer that was continued, on every wire: what it was continued with was made behind the request
 * as it was sent then, so that stays the beginning of each later request, to the byte.
 */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Item, Message, Origin } from '../../src/core/item.ts'
import type { Json, JsonObject } from '../../src/core/json/json.ts'
import type { Note } from '../../src/core/note.ts'
import type { PromptParameters } from '../../src/core/prompt.ts'
import type { WireName } from '../../src/providers/provider-interface.ts'
import { PROVIDERS } from '../../src/providers/registry.ts'
import { anthropicComplaints } from '../support/anthropic-laws.ts'
import { chatFaults } from '../support/chat-laws.ts'
import { geminiFaults } from '../support/gemini-laws.ts'
import { NO_PARAMS } from '../support/no-params.ts'
import { talk } from '../support/talk.ts'

interface Way {
  readonly wire: WireName
  readonly model: string
  readonly effort?: string
  /** Which answers can be gone on with, if not all. */
  readonly openings?: RegExp
  readonly quirks?: JsonObject
  /** What the user is made to say where an answer ends that is gone on with. */
  readonly line: string | null
}

const CONTINUE = 'Continue exactly where your last message ends.'
const GO_ON = 'Go on with your last message exactly where it ends, without repeating any of it.'
const noPrefix: JsonObject = { prefixCompletion: false, reasoningField: 'reasoning_content' }
const strict: JsonObject = { ...noPrefix, strictAlternation: true, userAfterTool: false }

const WAYS: readonly Way[] = [
  { wire: 'anthropic', model: 'claude-opus-4-6', effort: 'low', line: CONTINUE },
  { wire: 'anthropic', model: 'claude-opus-5-5', effort: 'low', line: CONTINUE },
  // Whether it goes on by itself depends on whether it thinks.
  { wire: 'anthropic', model: 'claude-sonnet-4-5', effort: 'low', openings: /^R/, line: CONTINUE },
  { wire: 'anthropic', model: 'claude-3-5-haiku', line: null },
  { wire: 'anthropic', model: 'kimi-k2', line: null },
  { wire: 'gemini', model: 'gemini-3.8-flash', line: 'Continue.' },
  { wire: 'gemini', model: 'gemini-2.5-pro', line: null },
  { wire: 'chat', model: 'm', quirks: noPrefix, line: GO_ON },
  // Behind what says nothing, what comes next has to be one with what came before.
  { wire: 'chat', model: 'm', quirks: strict, openings: /[Tc]/, line: GO_ON },
  { wire: 'chat', model: 'm', line: null },
  { wire: 'responses', model: 'gpt-5', line: null },
]

const named = ({ wire, model, line, effort = 'no', quirks = {} }: Way): string =>
  `${wire}, ${model}, ${effort} effort, ${Object.keys(quirks).length} quirks, ${line ?? 'no line'}`

interface Sent {
  readonly path: string
  readonly body: JsonObject
  /** Everything that is said in it, piece by piece, each with who says it. */
  readonly said: readonly string[]
  readonly notes: readonly Note[]
}

function send(way: Way, items: readonly Item[]): Sent {
  const { wire, model, effort = null, quirks = {} } = way
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
  return { path, body, said: saidIn(body), notes }
}

function saidIn({ messages, contents, input }: JsonObject): readonly string[] {
  const list = (messages ?? contents ?? input) as readonly JsonObject[]
  return list.flatMap((message): readonly string[] => {
    const { role, content, parts } = message
    const pieces = input === undefined ? (parts ?? content) : null
    if (!Array.isArray(pieces)) return [JSON.stringify(message)]
    return pieces.map((piece: Json) => JSON.stringify([role, piece]))
  })
}

function faultsIn({ wire }: Way, { path, body }: Sent): readonly string[] {
  if (wire === 'anthropic') return anthropicComplaints(body)
  if (wire === 'gemini') return geminiFaults(path, body)
  return wire === 'chat' ? chatFaults(body) : []
}

/** An answer as it is read out of the store. `number` tells it from the others. */
function answer({ wire, model }: Way, number: number, script: string): readonly Item[] {
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

/** `c` are words of the client's own, `_` is a message without any. */
const opening = fc.constantFrom('T', 'RT', 'RTRT', 'RTT', 'RTR', 'c', 'cc', '_', 'R', 'COT', 'RTCO')
const going = fc.constantFrom('RT', 'RTRT', 'RTCO', 'RCO', 'RTR')
const continued = fc.array(fc.tuple(opening, fc.array(going, { maxLength: 3 })), {
  minLength: 1,
  maxLength: 3,
})

/** `asked` are the places where each of the answers was asked for. */
function storyOf(way: Way, rounds: readonly (readonly [string, readonly string[]])[]) {
  let number = 0
  const items: Item[] = []
  const asked: number[] = []
  for (const [first, rest] of rounds) {
    items.push(...talk`user: question ${String(number)}`)
    for (const script of [first, ...rest]) {
      asked.push(items.length)
      items.push(...answer(way, (number += 1), script))
    }
  }
  return { items: [...items, ...talk`user: so?`], asked }
}

describe.each(WAYS.map((way) => [named(way), way] as const))('%s', (_, way) => {
  test('what an answer was continued behind stays in front of it', () => {
    fc.assert(
      fc.property(continued, (told) => {
        const rounds = told.filter(([first]) => way.openings?.test(first) ?? true)
        const { items, asked } = storyOf(way, rounds)
        const whole = send(way, items)
        expect(faultsIn(way, whole)).toEqual([])
        for (const at of asked) {
          const { said } = send(way, items.slice(0, at))
          expect(whole.said.slice(0, said.length)).toEqual(said)
        }
      }),
      { numRuns: 60 },
    )
  })

  test('the line stands where it stood, and is noted', () => {
    const { items } = storyOf(way, [['RT', ['RTCO', 'RT']]])
    const { said, notes } = send(way, items)
    const line = JSON.stringify(way.line)
    const lines = said.filter((piece) => piece.includes(line) && piece.includes('"user"'))
    const added = notes.filter(({ did }) => did === 'added')
    // Only one of the two was asked for, for behind an output there is nothing to go on with.
    expect([lines.length, added.length]).toEqual(way.line === null ? [0, 0] : [1, 1])
    if (way.line === null) return
    const at = said.findIndex((piece) => piece.includes(line))
    expect(said[at - 1]).toContain('Words 1_1')
    expect(said.slice(0, at).join()).not.toContain('2_')
    expect(said[at + 1]).toMatch(/2_|"Thoug"/)
  })
})

test('the lines are lawful whatever there is of the answers', () => {
  const anything = fc.stringMatching(/^[RT_]{0,3}(CO)?[RT_]{0,2}$/)
  const way = fc.constantFrom(...WAYS)
  fc.assert(
    fc.property(way, fc.array(anything, { maxLength: 4 }), (way, scripts) => {
      const { items } = storyOf(way, [['', scripts]])
      expect(faultsIn(way, send(way, items))).toEqual([])
    }),
    { numRuns: 300 },
  )
})

test('where it did not think, it went on with its own words', () => {
  const way: Way = { wire: 'anthropic', model: 'claude-sonnet-4-5', effort: 'low', line: null }
  const { items } = storyOf(way, [
    ['T', ['T']],
    ['RT', []],
  ])
  const { body, said } = send(way, items)
  expect(body['thinking']).toMatchObject({ type: 'enabled' })
  expect(said.join()).not.toContain(CONTINUE)
})

test('a call that the service runs itself goes on without being asked', () => {
  const way: Way = { wire: 'anthropic', model: 'claude-opus-5', line: CONTINUE }
  const block = (raw: JsonObject): Item => ({
    type: 'opaque',
    raw,
    origin: { wire: 'anthropic', account: 'anthropic', model: way.model, prefixHash: null },
  })
  const asks = { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} }
  const finds = { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [] }
  const asked = [...talk`user: go`, block(asks)]
  const { said } = send(way, asked)
  const whole = send(way, [...asked, block(finds), ...answer(way, 1, 'T'), ...talk`user: so?`])
  expect(whole.said.slice(0, said.length)).toEqual(said)
  expect(whole.said[said.length]).toContain('web_search_tool_result')
})
