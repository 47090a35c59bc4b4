/**
 * Everything at once: a conversation of several voices with pictures, pins, notes and long outputs, a
 * model at work in it, asked step by step under one policy after the other. What it sealed goes back to
 * it only behind exactly what it was made behind, whoever has recorded that, or nobody.
 */
import fc from 'fast-check'
import type { Arbitrary } from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Item, Origin } from '../../../src/core/item.ts'
import { authorOf, setGatewayField } from '../../../src/core/items/author-time-and-reset-fields.ts'
import { resolvePolicy, type ContextPolicy } from '../../../src/core/context-policy.ts'
import { dropInvalidReasoning } from '../../../src/context/reasoning/drop-invalid-reasoning.ts'
import {
  listAdditionTransforms,
  listTransforms,
  runTransforms,
} from '../../../src/context/list-and-run-transforms.ts'
import {
  hasSamePrefixText,
  hashPromptPrefix,
  computePrefixSeed,
} from '../../../src/context/reasoning/hash-prompt-prefix.ts'
import type { Transform } from '../../../src/context/transform-interface.ts'
import { expectComplete, expectHonest, expectLawful, expectPinned } from '../../support/laws.ts'
import { NO_PARAMS } from '../../support/empty-parameters.ts'
import { talk } from '../../support/talk.ts'
import { MIXED_WISHES, type MixedWishes } from './mixed-wishes.ts'

const HERE = { wire: 'anthropic', account: 'claude', model: 'claude-opus-5-5' }
const PARAMS = { ...NO_PARAMS, model: HERE.model }

interface Turn {
  readonly question: Item
  readonly steps: readonly number[]
}

const turn: Arbitrary<Turn> = fc
  .record({
    author: fc.option(fc.constantFrom('u1', 'u2', 'u3')),
    pin: fc.nat(5),
    picture: fc.option(fc.constantFrom('a', 'b', 'c')),
    steps: fc.array(fc.constantFrom(5, 600, 900), { maxLength: 2 }),
  })
  .map(({ author, pin, picture, steps }) => {
    const image = { type: 'input_image' as const, image_url: `https://a.example/${picture}.png` }
    const text = { type: 'input_text' as const, text: 'And now?' }
    const content = picture === null ? [text] : [text, image]
    const said: Item = { type: 'message', role: 'user', content }
    const of = author === null ? {} : { author: { id: author, name: author } }
    // Who is hidden is hidden, pinned or not.
    const field = pin === 0 && author !== 'u2' && author !== 'u3' ? { ...of, pin: true } : of
    return {
      question: Object.keys(field).length === 0 ? said : setGatewayField(said, field),
      steps,
    }
  })

const talks = fc.array(turn, { minLength: 3, maxLength: 9 })

describe.each(MIXED_WISHES)('%j', (wishes) => {
  test.each([true, false])(
    'gives back what is valid and keeps the laws, recorded: %s',
    (isRecorded) => {
      fc.assert(
        fc.property(talks, (turns) => {
          const model = openModel(wishes, isRecorded)
          for (const { question, steps } of turns) {
            model.hear(question)
            for (const chars of steps) model.work(chars)
            model.answer()
          }
        }),
        { numRuns: 8 },
      )
    },
  )
})

function openModel({ room = null, ...wishes }: MixedWishes, isRecorded: boolean) {
  const policy = resolvePolicy([wishes])
  let items: readonly Item[] = []
  /** By seal, what it was made behind. */
  const made = new Map<string, readonly Item[]>()

  const asked = (): readonly Item[] => {
    const { items: sent, notes } = sentOf(items, policy, room)
    expectHonest(items, { items: sent, notes }, true)
    expectLawful(sent)
    expectPinned(items, { items: sent, notes })
    // With a name in front, a question is whole in other words.
    if (items.every((item) => authorOf(item) === null)) expectComplete(items, sent)
    for (const [at, item] of sent.entries()) {
      if (item.type !== 'reasoning') continue
      const before = made.get(item.encrypted_content ?? '') ?? []
      expect(before.length).toBe(at)
      expect(before.every((one, place) => hasSamePrefixText(one, sent[place]))).toBe(true)
    }
    return sent
  }
  const say = (said: readonly Item[]): void => {
    const sent = asked()
    const seal = `seal ${made.size}`
    made.set(seal, sent)
    const prefixHash = hashPromptPrefix({ items: sent, params: PARAMS }, HERE.wire)
    const origin: Origin = { ...HERE, prefixHash }
    const whole: readonly Item[] = [...talk`sealed: ${seal}`, ...said]
    items = [...items, ...whole.map((item) => (isRecorded ? { ...item, origin } : item))]
  }
  return {
    hear: (question: Item) => void (items = [...items, { ...question }]),
    work(chars: number) {
      const id = `c${made.size}`
      say(talk`call ${id} look`)
      items = [...items, ...talk`output ${id} ${'fog '.repeat(chars / 4)}`]
    },
    answer: () => say(talk`assistant: So it is.`),
  }
}

function sentOf(items: readonly Item[], policy: ContextPolicy, room: number | null) {
  const transforms: readonly Transform[] = [
    ...listTransforms({ policy, room, reader: null, hasNames: false, conversation: items }),
    ...listAdditionTransforms(policy),
  ]
  const validity = {
    ...HERE,
    seed: () => computePrefixSeed(PARAMS, HERE.wire),
    checksPrefix: true,
    refusedBefore: [],
    hadSameTools: () => true,
  }
  return runTransforms(items, [...transforms, dropInvalidReasoning(validity)])
}
