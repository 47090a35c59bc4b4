/**
 * What stands in front of a conversation, on each wire, while what is told beside it moves: its very
 * first turn has nothing between the instructions and what is told in front of the question.
 */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Item } from '../../src/core/item.ts'
import type { Json, JsonObject } from '../../src/core/json/json.ts'
import { insertLayerBlocks } from '../../src/memory/insert-layer-blocks.ts'
import { PROVIDERS } from '../../src/providers/registry.ts'
import { runTransforms } from '../../src/context/list-and-run-transforms.ts'
import { insertPolicyTexts } from '../../src/context/insert-policy-texts.ts'
import type { Transform } from '../../src/context/transform-interface.ts'
import { NO_PARAMS } from '../support/no-params.ts'
import { talk } from '../support/talk.ts'

interface Wire {
  readonly wire: keyof typeof PROVIDERS
  readonly model?: string
  readonly quirks?: JsonObject
  readonly head: (body: JsonObject) => Json | undefined
}

const firstOf = (field: string) => (body: JsonObject) => (body[field] as readonly Json[])[0]
/** Of a model that has no system instruction. */
const firstPart = (body: JsonObject) => firstOf('parts')(firstOf('contents')(body) as JsonObject)
const systemMessages = ({ messages }: JsonObject) =>
  (messages as readonly JsonObject[]).filter(({ role }) => role === 'system')

const WIRES: readonly Wire[] = [
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

const volatile = (text: string) =>
  insertLayerBlocks([{ name: 'facts', band: 'volatile', text, changes: [] }])
const STABLE = insertLayerBlocks([{ name: 'memory', band: 'stable', text: 'noted', changes: [] }])
const note = (depth: number) => insertPolicyTexts([{ text: 'remember', depth, role: 'developer' }])

describe.each(WIRES)('$wire $model $quirks', (wire) => {
  test.each([
    ['facts that fit the question', [volatile('found')], [volatile('found')]],
    ['facts, of which there are none any more', [volatile('found')], []],
    ['a note in front of the question', [note(1)], [note(1)]],
    ['a note that is deeper than all that was said', [note(3)], [note(3)]],
    ['a note, behind what is stable', [note(1), STABLE], [note(1), STABLE]],
  ])('C36, C68: %s never change the head', (_, first, second) => {
    const before = wire.head(sent(wire, FIRST, first))
    expect(JSON.stringify(before)).toContain('be brief')
    expect(JSON.stringify(before)).not.toMatch(/found|remember/)
    expect(wire.head(sent(wire, SECOND, second))).toEqual(before)
  })
})

test('what is told in its place is told, in a first turn as in all others', () => {
  for (const wire of WIRES) {
    for (const items of [FIRST, SECOND]) {
      const body = JSON.stringify(sent(wire, items, [note(1), volatile('found')]))
      expect(body.match(/remember/g)).toHaveLength(1)
      expect(body.match(/found/g)).toHaveLength(1)
    }
  }
})

test('what is stable leads, with the instructions', () => {
  const { system } = sent({ wire: 'anthropic', head: () => null }, FIRST, [volatile('x'), STABLE])
  expect(JSON.stringify(system)).toContain('noted')
})

test('whatever is told, the head is that of the instructions alone', () => {
  const told = fc.array(fc.oneof(fc.nat(4).map(note), fc.constantFrom('a', 'b').map(volatile)), {
    maxLength: 3,
  })
  fc.assert(
    fc.property(fc.constantFrom(...WIRES.slice(0, 2)), told, told, (wire, first, second) => {
      const bare = wire.head(sent(wire, FIRST, []))
      expect(wire.head(sent(wire, FIRST, first))).toEqual(bare)
      expect(wire.head(sent(wire, SECOND, second))).toEqual(bare)
    }),
    { numRuns: 50 },
  )
})

function sent(
  { wire, model = 'm', quirks = {} }: Wire,
  items: readonly Item[],
  told: readonly Transform[],
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
  const prompt = { items: runTransforms(items, told).items, params, stream: false, source }
  return PROVIDERS[wire].encode(prompt, { ...account, headers: {}, quirks }).body
}
