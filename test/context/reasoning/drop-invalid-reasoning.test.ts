import { describe, expect, test } from 'vitest'
import type { FunctionCall, Item, Origin } from '../../../src/core/item.ts'
import type { PromptParameters } from '../../../src/core/prompt.ts'
import {
  dropInvalidReasoning,
  type ReasoningCheckOptions,
} from '../../../src/context/reasoning/drop-invalid-reasoning.ts'
import {
  hashPromptPrefix,
  computePrefixSeed,
} from '../../../src/context/reasoning/hash-prompt-prefix.ts'
import { NO_PARAMS } from '../../support/empty-parameters.ts'
import { show, talk } from '../../support/talk.ts'

const ACCOUNT = { wire: 'anthropic', account: 'claude', model: 'claude-opus-5-5' }
const PARAMS: PromptParameters = { ...NO_PARAMS, model: ACCOUNT.model }

function reader(more: Partial<ReasoningCheckOptions> = {}, params = PARAMS) {
  const seed = () => computePrefixSeed(params, ACCOUNT.wire)
  return dropInvalidReasoning({
    ...ACCOUNT,
    computeSeed: seed,
    checksPrefix: true,
    answersAfterRejection: [],
    ...more,
  })
}

/** The items of one answer that was written after `before`. */
function answer(before: readonly Item[], said: readonly Item[], origin: Partial<Origin> = {}) {
  const prefixHash = hashPromptPrefix({ items: before, params: PARAMS }, ACCOUNT.wire)
  const made: Origin = { ...ACCOUNT, prefixHash, ...origin }
  return [...before, ...said.map((item) => ({ ...item, origin: made }))]
}

const FIRST = answer(
  talk`user: Look.`,
  talk`
  sealed: I must look.
  call a
`,
)
const SECOND = answer(
  [...FIRST, ...talk`output a fog`],
  talk`
  sealed: Fog.
  assistant: There is fog.
`,
)
const THIRD = answer(
  [...SECOND, ...talk`user: Thanks.`],
  talk`
  sealed: How kind.
  assistant: Welcome.
`,
)

test('dropping invalid reasoning returns the same list if all prefixes are unchanged', () => {
  expect(reader().run(THIRD)).toEqual({ items: THIRD, notes: [] })
  expect(reader().run(THIRD).items).toBe(THIRD)
})

test.each<[string, Partial<PromptParameters>]>([
  ['the instructions', { instructions: 'Be brief.' }],
  ['the tools', { tools: [{ type: 'opaque', raw: { type: 'web_search' } }] }],
  ['the model', { model: 'claude-fable-5-1' }],
  ['the output format', { format: { type: 'json_object' } }],
])('all reasoning is dropped if %s has changed since the reasoning was written', (_, changed) => {
  const { items, notes } = reader({}, { ...PARAMS, ...changed }).run(THIRD)
  expect(show(items)).toBe(show(THIRD.filter(({ type }) => type !== 'reasoning')))
  expect(notes.map(({ at, why }) => [at, why])).toEqual([
    [1, 'reasoning-of-another-prefix'],
    [4, 'reasoning-of-another-prefix'],
    [7, 'reasoning-of-another-prefix'],
  ])
})

test('reasoning stays if only parameters outside of the prefix have changed, e.g. the temperature', () => {
  const params = { ...PARAMS, temperature: 1, maxOutputTokens: 5, effort: 'low' }
  expect(reader({}, params).run(THIRD).items).toBe(THIRD)
})

test('reasoning after a shortened output is dropped, and reasoning before it stays', () => {
  const [shortened] = talk`output a f…`
  const edited = THIRD.map((item) =>
    item.type === 'function_call_output' ? (shortened ?? item) : item,
  )
  expect(
    reader()
      .run(edited)
      .notes.map(({ at }) => at),
  ).toEqual([4, 7])
})

test('reasoning that was written after the instructions had changed stays', () => {
  const params = { ...PARAMS, instructions: 'Be brief.' }
  const asked = [...THIRD, ...talk`user: And now?`]
  const sent = reader({}, params).run(asked).items
  const prefixHash = hashPromptPrefix({ items: sent, params }, ACCOUNT.wire)
  const fourth = answer(
    asked,
    talk`
    sealed: Hm.
    assistant: Now, too.
  `,
    { prefixHash },
  )
  expect(
    reader({}, params)
      .run(fourth)
      .notes.map(({ at }) => at),
  ).toEqual([1, 4, 7])
})

test('the reasoning of one answer is dropped completely or not at all (C13, C98)', () => {
  const twice = answer(
    talk`user: Look.`,
    talk`
    sealed: I must look.
    call a
    sealed: And there.
    call b
  `,
  )
  const [, thought, call] = twice
  const [output] = talk`output a fog`
  const torn = [...twice.slice(0, 3), ...(output === undefined ? [] : [output]), ...twice.slice(3)]
  expect([thought?.type, call?.type]).toEqual(['reasoning', 'function_call'])
  expect(reader().run(twice).items).toBe(twice)
  expect(
    reader()
      .run(torn)
      .notes.map(({ at }) => at),
  ).toEqual([1, 4])
})

test('reasoning after a changed prefix stays if the model checks no prefix or no prefix hash is recorded', () => {
  const other = { ...PARAMS, instructions: 'Be brief.' }
  expect(reader({ checksPrefix: false }, other).run(THIRD).items).toBe(THIRD)
  const unknown = answer(
    talk`user: Hi.`,
    talk`
    sealed: Hm.
    assistant: Hi.
  `,
    { prefixHash: null },
  )
  expect(reader({}, other).run(unknown).items).toBe(unknown)
  const brought = talk`
    user: Hi.
    sealed: Hm.
    assistant: Hi.
  `
  expect(reader({}, other).run(brought).items).toBe(brought)
})

test('unencrypted reasoning stays, even after a changed prefix or for another upstream', () => {
  const plain = answer(
    talk`user: Hi.`,
    talk`
    thinks: Hm.
    assistant: Hi.
  `,
  )
  expect(reader({}, { ...PARAMS, instructions: 'Be brief.' }).run(plain).items).toBe(plain)
  expect(reader({ wire: 'chat', account: 'vllm' }).run(plain).items).toBe(plain)
})

test.each([{ wire: 'responses' }, { account: 'another' }])(
  'all reasoning of an answer is dropped if another upstream (%o) has encrypted some of it',
  (elsewhere) => {
    const mixed = answer(
      talk`user: Hi.`,
      talk`
      sealed: Hm.
      thinks: Hm.
      assistant: Hi.
    `,
      elsewhere,
    )
    const { items, notes } = reader({ checksPrefix: false }).run(mixed)
    expect(show(items)).toBe('user: Hi.\nassistant: Hi.')
    expect(notes).toEqual([
      { did: 'dropped', at: 1, why: 'reasoning-of-elsewhere' },
      { did: 'dropped', at: 2, why: 'reasoning-of-elsewhere' },
    ])
  },
)

describe('reasoning that the upstream has rejected', () => {
  const third = THIRD.at(-1)?.origin
  const refusedBefore = third === undefined ? [] : [third]

  test('reasoning that the upstream has rejected is dropped up to the answer that was written without it', () => {
    const { notes } = reader({ answersAfterRejection: refusedBefore, checksPrefix: false }).run(
      THIRD,
    )
    expect(notes).toEqual([
      { did: 'dropped', at: 1, why: 'reasoning-refused' },
      { did: 'dropped', at: 4, why: 'reasoning-refused' },
    ])
  })

  test('an answer that was written without rejected reasoning keeps its own reasoning', () => {
    const asked = [...SECOND, ...talk`user: Thanks.`]
    const sent = asked.filter(({ type }) => type !== 'reasoning')
    const prefixHash = hashPromptPrefix({ items: sent, params: PARAMS }, ACCOUNT.wire)
    const items = answer(
      asked,
      talk`
      sealed: How kind.
      assistant: Welcome.
    `,
      { prefixHash },
    )
    const origins = items.slice(-1).flatMap(({ origin }) => origin ?? [])
    expect(
      reader({ answersAfterRejection: origins })
        .run(items)
        .notes.map(({ at }) => at),
    ).toEqual([1, 4])
  })

  test('when reasoning is dropped because Gemini has rejected it, the signatures of the calls before it are removed, too', () => {
    const origin: Origin = { wire: 'gemini', account: 'g', model: 'm', prefixHash: null }
    const native = { gemini: { thoughtSignature: 'Ck', id: 'w1' }, chat: { $legacy: true } }
    const call: FunctionCall = {
      type: 'function_call',
      call_id: 'a',
      name: 'look',
      arguments: '{}',
      native,
      origin,
    }
    const later: Origin = { ...origin }
    const items = [call, ...talk`assistant: Fog.`.map((item) => ({ ...item, origin: later }))]
    const { run } = reader({
      ...origin,
      answersAfterRejection: [later],
    })
    const step = run(items)
    expect(step.notes).toEqual([{ did: 'changed', at: 0, why: 'reasoning-refused' }])
    expect(step.items[0]).toEqual({
      ...call,
      native: { gemini: { id: 'w1' }, chat: { $legacy: true } },
    })
    expect(step.items[1]).toBe(items[1])
  })

  describe('by one of several models of an account', () => {
    const [big, small] = [{ model: 'gpt-5.2' }, { model: 'gpt-5-mini' }]
    const say = (text: string) => talk`
      sealed: ${text}
      assistant: ${text}
    `
    const ask = talk`user: And?`
    const first = answer(ask, say('Big.'), big)
    const second = answer([...first, ...ask], say('Small.'), small)
    const third = [...answer([...second, ...ask], say('Big again.'), big), ...ask]
    const refused = second.flatMap(({ origin }) => (origin?.model === small.model ? origin : []))
    const dropsFor = (model: string, answersAfterRejection = refused.slice(0, 1)) =>
      reader({ model, checksPrefix: false, answersAfterRejection })
        .run(third)
        .notes.map(({ at, why }) => [at, why])

    test('each model gets the reasoning that it wrote itself', () => {
      expect(dropsFor(big.model)).toEqual([[4, 'reasoning-of-another-model']])
      expect(dropsFor(small.model)).toEqual([
        [1, 'reasoning-of-another-model'],
        [7, 'reasoning-of-another-model'],
      ])
    })

    test('a third model gets no reasoning of the others', () => {
      expect(dropsFor('gpt-5-nano').map(([at]) => at)).toEqual([1, 4, 7])
    })

    test('a model that has rejected its own reasoning does not get it again, but the others get theirs', () => {
      const items = answer([...first, ...ask], say('Big again.'), big)
      const last = items.at(-1)?.origin
      const { run } = reader({
        model: big.model,
        checksPrefix: false,
        answersAfterRejection: last === undefined ? [] : [last],
      })
      expect(run(items).notes).toEqual([{ did: 'dropped', at: 1, why: 'reasoning-refused' }])
      const other = reader({
        model: small.model,
        checksPrefix: false,
        answersAfterRejection: last === undefined ? [] : [last],
      })
      expect(other.run(items).notes).toEqual([])
    })
  })

  test('rejected reasoning is sent again if the answer that was written without it is no longer in the list', () => {
    expect(reader({ answersAfterRejection: refusedBefore }).run(SECOND).items).toBe(SECOND)
  })
})
