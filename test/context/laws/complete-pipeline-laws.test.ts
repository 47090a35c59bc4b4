/**
 * Checks complete pipelines request by request, with a conversation of several authors that has images, pins,
 * notes, long outputs and a running tool loop. Encrypted reasoning is sent only after exactly the prefix that it
 * was written after, whether the gateway or only the client has stored it.
 */
import fc from 'fast-check'
import type { Arbitrary } from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Item, Origin } from '../../../src/core/item.ts'
import { readClientGivenAuthor, setGatewayFields } from '../../../src/core/items/gateway-fields.ts'
import { resolvePolicy, type ContextPolicy } from '../../../src/core/context-policy.ts'
import { dropInvalidReasoning } from '../../../src/context/reasoning/drop-invalid-reasoning.ts'
import {
  listPolicyTextTransforms,
  listTransforms,
  runTransforms,
} from '../../../src/context/list-and-run-transforms.ts'
import {
  hasSamePrefixText,
  hashPromptPrefix,
  computePrefixSeed,
} from '../../../src/context/reasoning/hash-prompt-prefix.ts'
import type { Transform } from '../../../src/context/transform-interface.ts'
import {
  expectQuestionAndInstructions,
  expectNotesMatchChanges,
  expectValidForProviders,
  expectNoPinnedItemDropped,
} from '../../support/laws.ts'
import { NO_PARAMS } from '../../support/empty-parameters.ts'
import { talk } from '../../support/talk.ts'
import { MIXED_OVERRIDES, type MixedOverrides } from './mixed-policies.ts'
import { CUTS_AT_ANY_LENGTH } from '../../support/cuts-at-any-length.ts'

const ACCOUNT = { wire: 'anthropic', account: 'claude', model: 'claude-opus-5-5' }
const PARAMS = { ...NO_PARAMS, model: ACCOUNT.model }

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
    // Hidden authors stay hidden even if their messages are pinned.
    const field = pin === 0 && author !== 'u2' && author !== 'u3' ? { ...of, pin: true } : of
    return {
      question: Object.keys(field).length === 0 ? said : setGatewayFields(said, field),
      steps,
    }
  })

const conversations = fc.array(turn, { minLength: 3, maxLength: 9 })

describe.each(MIXED_OVERRIDES)('reasoning in conversations with the policy %j', (overrides) => {
  test.each([true, false])(
    'the pipeline sends all valid and no invalid reasoning, in lists that providers accept (reasoning recorded by the gateway: %s)',
    (isRecorded) => {
      fc.assert(
        fc.property(conversations, (turns) => {
          const model = createFakeModel(overrides, isRecorded)
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

function createFakeModel(
  { tokenBudget = null, ...overrides }: MixedOverrides,
  isRecorded: boolean,
) {
  const policy = resolvePolicy([CUTS_AT_ANY_LENGTH, overrides])
  let items: readonly Item[] = []
  /** The prefix of each reasoning item, by its encrypted text. */
  const made = new Map<string, readonly Item[]>()

  const asked = (): readonly Item[] => {
    const { items: sent, notes } = buildPrompt(items, policy, tokenBudget)
    expectNotesMatchChanges(items, { items: sent, notes }, true)
    expectValidForProviders(sent)
    expectNoPinnedItemDropped(items, { items: sent, notes })
    // A speaker label changes the text of a question.
    if (items.every((item) => readClientGivenAuthor(item) === null))
      expectQuestionAndInstructions(items, sent)
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
    const prefixHash = hashPromptPrefix({ items: sent, params: PARAMS }, ACCOUNT.wire)
    const origin: Origin = { ...ACCOUNT, prefixHash }
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

function buildPrompt(items: readonly Item[], policy: ContextPolicy, tokenBudget: number | null) {
  const transforms: readonly Transform[] = [
    ...listTransforms({
      policy,
      tokenBudget: tokenBudget,
      reader: null,
      hasNameField: false,
      conversation: items,
    }),
    ...listPolicyTextTransforms(policy),
  ]
  const validity = {
    ...ACCOUNT,
    computeSeed: () => computePrefixSeed(PARAMS, ACCOUNT.wire),
    checksPrefix: true,
    answersAfterRejection: [],
    hadSameGatewayTools: () => true,
  }
  return runTransforms(items, [...transforms, dropInvalidReasoning(validity)])
}
