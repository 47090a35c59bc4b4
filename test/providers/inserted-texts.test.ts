/**
 * Tests on each wire that the system prompt stays the same while texts are inserted before the
 * question: in the first turn, no message separates the instructions from such a text, but it must
 * not become part of them.
 */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Item } from '../../src/core/item.ts'
import type { Json, JsonObject } from '../../src/core/json/json.ts'
import { insertLayerBlocks } from '../../src/memory/insert-layer-blocks.ts'
import { PROVIDERS } from '../../src/providers/provider-registry.ts'
import { runTransforms } from '../../src/context/list-and-run-transforms.ts'
import { insertPolicyTexts } from '../../src/context/insert-policy-texts.ts'
import type { Transform } from '../../src/context/transform-interface.ts'
import { NO_PARAMS } from '../support/empty-parameters.ts'
import { talk } from '../support/talk.ts'

interface WireCase {
  readonly wire: keyof typeof PROVIDERS
  readonly model?: string
  readonly quirks?: JsonObject
  readonly head: (body: JsonObject) => Json | undefined
}

const firstOf = (field: string) => (body: JsonObject) => (body[field] as readonly Json[])[0]
/** The first part, for a model without a system instruction. */
const firstPart = (body: JsonObject) => firstOf('parts')(firstOf('contents')(body) as JsonObject)
const systemMessages = ({ messages }: JsonObject) =>
  (messages as readonly JsonObject[]).filter(({ role }) => role === 'system')

const WIRES: readonly WireCase[] = [
  { wire: 'anthropic', quirks: { cacheControl: false }, head: ({ system }) => system },
  { wire: 'gemini', head: ({ systemInstruction }) => systemInstruction },
  { wire: 'gemini', model: 'gemma-3-27b-it', head: firstPart },
  { wire: 'responses', head: firstOf('input') },
  { wire: 'chat', head: firstOf('messages') },
  { wire: 'chat', quirks: { strictAlternation: true }, head: systemMessages },
]

const FIRST = talk`
  system: be brief
  user: one
`
const SECOND = [...FIRST, ...talk`assistant: 1`, ...talk`user: two`]

const facts = (text: string) =>
  insertLayerBlocks([{ name: 'facts', stability: 'volatile', text, changes: [] }])
const STABLE = insertLayerBlocks([
  { name: 'memory', stability: 'stable', text: 'noted', changes: [] },
])
const note = (depth: number) => insertPolicyTexts([{ text: 'remember', depth, role: 'developer' }])

describe.each(WIRES)('the system prompt with inserted texts, for $wire $model $quirks', (wire) => {
  test.each([
    ['a block of relevant facts', [facts('found')], [facts('found')]],
    ['the removal of the relevant facts', [facts('found')], []],
    ['a policy text before the question', [note(1)], [note(1)]],
    ['a policy text deeper than the conversation', [note(3)], [note(3)]],
    ['a policy text after a memory block', [note(1), STABLE], [note(1), STABLE]],
  ])('C36, C68: %s leaves the encoded system prompt unchanged', (_, first, second) => {
    const before = wire.head(encodeBody(wire, FIRST, first))
    expect(JSON.stringify(before)).toContain('be brief')
    expect(JSON.stringify(before)).not.toMatch(/found|remember/)
    expect(wire.head(encodeBody(wire, SECOND, second))).toEqual(before)
  })
})

test('a text that a policy or a memory layer inserts is sent exactly once in each request', () => {
  for (const wire of WIRES) {
    for (const items of [FIRST, SECOND]) {
      const body = JSON.stringify(encodeBody(wire, items, [note(1), facts('found')]))
      expect(body.match(/remember/g)).toHaveLength(1)
      expect(body.match(/found/g)).toHaveLength(1)
    }
  }
})

test('a memory block that stays the same between requests is part of the encoded system prompt', () => {
  const { system } = encodeBody({ wire: 'anthropic', head: () => null }, FIRST, [
    facts('x'),
    STABLE,
  ])
  expect(JSON.stringify(system)).toContain('noted')
})

test('arbitrary inserted texts do not change the encoded system prompt', () => {
  const insertions = fc.array(fc.oneof(fc.nat(4).map(note), fc.constantFrom('a', 'b').map(facts)), {
    maxLength: 3,
  })
  fc.assert(
    fc.property(
      fc.constantFrom(...WIRES.slice(0, 2)),
      insertions,
      insertions,
      (wire, first, second) => {
        const bare = wire.head(encodeBody(wire, FIRST, []))
        expect(wire.head(encodeBody(wire, FIRST, first))).toEqual(bare)
        expect(wire.head(encodeBody(wire, SECOND, second))).toEqual(bare)
      },
    ),
    { numRuns: 50 },
  )
})

function encodeBody(
  { wire, model = 'm', quirks = {} }: WireCase,
  items: readonly Item[],
  insertions: readonly Transform[],
): JsonObject {
  const params = { ...NO_PARAMS, model }
  const source = {
    dialect: 'responses',
    body: {},
    bytes: () => new Uint8Array(),
    items,
    params,
  } as const
  const account = { name: 'a', wire, baseUrl: 'http://x', apiKey: null, models: ['*'] }
  const prompt = { items: runTransforms(items, insertions).items, params, stream: false, source }
  return PROVIDERS[wire].encode(prompt, { ...account, headers: {}, quirks }).body
}
