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

test('unrecorded reasoning is dropped if it was written before old outputs were last shortened', () => {
  const items = [0, 1, 2, 3, 4].flatMap(turn)
  const kept = dropInvalidReasoning({
    wire: 'anthropic',
    account: 'claude',
    model: 'm',
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

test('unrecorded reasoning is valid if all earlier prompts are unchanged', () => {
  const items = [0, 1].flatMap(turn)
  const earlier = rebuildEarlierPrompts(runTransforms(items, []))
  expect(findValidUnrecordedReasoningStart(items, places(items), earlier)).toBe(0)
})

test('all unrecorded reasoning is invalid if its earlier prompts cannot be rebuilt, e.g. because other gateway tools were offered', () => {
  const items = [0, 1].flatMap(turn)
  const earlier = { ...rebuildEarlierPrompts(runTransforms(items, [])), rebuildPrompt: () => null }
  expect(findValidUnrecordedReasoningStart(items, places(items), earlier)).toBe(items.length)
})

test('no earlier prompt is rebuilt for a conversation without reasoning', () => {
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
