import { expect, test } from 'vitest'
import type { Item } from '../../../src/core/item.ts'
import { findValidUnrecordedReasoningStart } from '../../../src/context/reasoning/find-valid-unrecorded-reasoning-start.ts'
import { rebuildEarlierPrompts } from '../../../src/context/reasoning/rebuild-earlier-prompts.ts'
import { runTransforms } from '../../../src/context/list-and-run-transforms.ts'
import { dropInvalidReasoning } from '../../../src/context/reasoning/drop-invalid-reasoning.ts'
import { shortenOldOutputs } from '../../../src/context/tool-outputs/shorten-old-outputs.ts'
import { talk } from '../../support/talk.ts'

const turn = (number: number) => talk`
  user: Look, ${String(number)}.
  sealed: first ${String(number)}
  call ${String(number)} look
  output ${String(number)} ${'fog '.repeat(500)}
  sealed: second ${String(number)}
  assistant: Fog.
`
const shorten = [shortenOldOutputs({ keepRounds: 1, step: 2 })]
const places = (items: readonly Item[]) => items.map((_, at) => at)

test('reasoning that was written since a cutoff last moved is valid, and older reasoning after the changed items is dropped', () => {
  const items = [0, 1, 2, 3, 4].flatMap(turn)
  const kept = dropInvalidReasoning({
    wire: 'anthropic',
    account: 'claude',
    computeSeed: () => '',
    checksPrefix: true,
    hadSameGatewayTools: () => true,
    answersAfterRejection: [],
  })
  const { items: sent, notes } = runTransforms(items, [...shorten, kept])
  const seals = sent.flatMap((item) => (item.type === 'reasoning' ? item.encrypted_content : []))
  // The outputs of the first two turns were shortened with the question of the fourth turn.
  expect(seals).toEqual(['first 3', 'second 3', 'first 4', 'second 4'])
  expect(notes.filter(({ why }) => why === 'reasoning-of-another-prefix')).toHaveLength(6)
})

test('reasoning that only the client stored is valid if every earlier prompt is unchanged, and invalid if no earlier prompt can be rebuilt (e.g. with other gateway tools)', () => {
  const items = [0, 1].flatMap(turn)
  const past = rebuildEarlierPrompts(runTransforms(items, []))
  expect(findValidUnrecordedReasoningStart(items, places(items), past)).toBe(0)
  const other = { ...past, rebuildPrompt: () => null }
  expect(findValidUnrecordedReasoningStart(items, places(items), other)).toBe(items.length)
})

test('no earlier prompt is rebuilt for a conversation without unrecorded reasoning', () => {
  const items = talk`
    user: Hi.
    assistant: Hello.
  `
  const never = () => {
    throw new Error('It was asked.')
  }
  expect(
    findValidUnrecordedReasoningStart(items, places(items), {
      rebuildPrompt: never,
      mayHaveChangedBetween: never,
    }),
  ).toBe(0)
})
