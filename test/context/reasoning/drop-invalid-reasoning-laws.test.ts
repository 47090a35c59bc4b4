/** Checks the laws of transforms, and that exactly the valid reasoning is sent. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Item, Origin, Reasoning } from '../../../src/core/item.ts'
import type { PromptParameters } from '../../../src/core/prompt.ts'
import {
  dropInvalidReasoning,
  type ReasoningCheckOptions,
} from '../../../src/context/reasoning/drop-invalid-reasoning.ts'
import {
  hashPromptPrefix,
  computePrefixSeed,
} from '../../../src/context/reasoning/hash-prompt-prefix.ts'
import { conversation, tidyConversation } from '../../support/conversations.ts'
import {
  expectQuestionAndInstructions,
  expectNotesMatchChanges,
  expectIdempotent,
  expectValidForProviders,
  expectPure,
} from '../../support/laws.ts'
import { NO_PARAMS } from '../../support/empty-parameters.ts'
import { talk } from '../../support/talk.ts'

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

const ORIGINS: readonly Partial<Origin>[] = [
  { prefixHash: null },
  { prefixHash: 'of something else' },
  { account: 'another' },
  { wire: 'responses' },
]

/** Gives each segment of model items an origin. */
const recorded = fc
  .tuple(fc.oneof(conversation, tidyConversation), fc.array(fc.nat({ max: 4 }), { minLength: 1 }))
  .map(([items, picks]) => {
    let origin: Origin | null = null
    let answers = 0
    return items.map((item) => {
      const isMade =
        item.type === 'message' ? item.role === 'assistant' : !item.type.endsWith('output')
      if (!isMade) origin = null
      if (isMade && origin === null) {
        const pick = picks[answers % picks.length] ?? 0
        answers += 1
        origin = { ...ACCOUNT, prefixHash: null, ...ORIGINS[pick] }
      }
      return isMade && origin !== null ? { ...item, origin } : item
    })
  })

const RUNS = { numRuns: 100 }

test('dropping invalid reasoning of any origin does not modify the input list, writes a note for each change, and changes nothing in a second run', () => {
  fc.assert(
    fc.property(recorded, fc.nat(), (items, pick) => {
      const origins = items.flatMap(({ origin }) => origin ?? [])
      const refusedBefore = origins.slice(pick % (origins.length + 1)).slice(0, 1)
      const { run } = reader({ answersAfterRejection: refusedBefore })
      expectPure(run, items)
      expectIdempotent(run, items)
      expectNotesMatchChanges(items, run(items))
      expectQuestionAndInstructions(items, run(items).items)
    }),
    RUNS,
  )
})

test('dropping invalid reasoning turns a list that providers accept into another list that they accept', () => {
  fc.assert(
    fc.property(tidyConversation, fc.nat({ max: 4 }), (items, pick) => {
      const origin: Origin = { ...ACCOUNT, prefixHash: null, ...ORIGINS[pick] }
      expectValidForProviders(reader().run(items.map((item) => ({ ...item, origin }))).items)
    }),
    RUNS,
  )
})

/** One turn: the account that answers it, and what has changed in the conversation or before it. */
const turn = fc.record({
  account: fc.constantFrom('claude', 'claude', 'another'),
  instructions: fc.constantFrom('as before', 'as before', 'Be brief.'),
  edits: fc.option(fc.nat(), { freq: 4 }),
  isCall: fc.boolean(),
})

test('reasoning is sent if its prefix is unchanged, and dropped otherwise', () => {
  fc.assert(
    fc.property(fc.array(turn, { maxLength: 9 }), (turns) => {
      let instructions: string | null = null
      let items: readonly Item[] = []
      for (const [number, { account, edits, isCall, ...said }] of turns.entries()) {
        if (said.instructions !== 'as before') instructions = said.instructions
        if (edits !== null) items = editItemAt(items, edits)
        const params = { ...PARAMS, instructions }
        const asked = [...items, ...talk`user: Question ${String(number)}.`]
        const sent = reader({ account }, params).run(asked).items
        expectExact(asked, sent, account, instructions)
        const prefixHash = hashPromptPrefix({ items: sent, params }, ACCOUNT.wire)
        const origin: Origin = { ...ACCOUNT, account, prefixHash }
        const thought: Reasoning = {
          type: 'reasoning',
          summary: [],
          encrypted_content: describePrompt(sent, instructions),
          origin,
        }
        const id = `c${number}`
        const rest = isCall ? talk`call ${id}` : talk`assistant: So.`
        const output = isCall ? talk`output ${id} ${'fog'}` : []
        items = [...asked, thought, ...rest.map((item) => ({ ...item, origin })), ...output]
      }
    }),
    RUNS,
  )
})

function editItemAt(items: readonly Item[], place: number): readonly Item[] {
  const at = place % Math.max(1, items.length)
  return items.map((item, index) =>
    index === at && item.type === 'message' && item.role === 'user'
      ? { ...item, content: [{ type: 'input_text', text: 'Another question.' }] }
      : item,
  )
}

/** The encrypted text in this test is the prefix that the model was sent. */
function expectExact(
  given: readonly Item[],
  sent: readonly Item[],
  account: string,
  instructions: string | null,
): void {
  const places = new Map(sent.map((item, at) => [item, at]))
  let behind = 0
  for (const item of given) {
    const place = places.get(item)
    if (item.type === 'reasoning') {
      const isValid =
        item.origin?.account === account &&
        item.encrypted_content === describePrompt(sent.slice(0, behind), instructions)
      expect(place !== undefined).toBe(isValid)
    }
    if (place !== undefined) behind = place + 1
  }
}

function describePrompt(items: readonly Item[], instructions: string | null): string {
  return JSON.stringify([instructions, items.map(({ origin: _origin, ...item }) => item)])
}
