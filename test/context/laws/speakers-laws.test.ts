/** Checks the transforms for speakers, notes and resets with conversations of several authors. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { textOfPart, type Item } from '../../../src/core/item.ts'
import { resolvePolicy, type PolicyOverrides } from '../../../src/core/context-policy.ts'
import { findRoundStarts } from '../../../src/core/items/rounds-and-pinned-items.ts'
import { dropBeforeReset } from '../../../src/context/windows/drop-before-reset.ts'
import { hideItemsOfAuthors } from '../../../src/context/speakers/hide-items-of-authors.ts'
import { mergeMessagesOfOneAuthor } from '../../../src/context/speakers/merge-messages-of-one-author.ts'
import {
  listPolicyTextTransforms,
  listTransforms,
  runTransforms,
} from '../../../src/context/list-and-run-transforms.ts'
import {
  labelSpeakersAndAssignRoles,
  type SpeakerLabelOptions,
} from '../../../src/context/speakers/label-speakers-and-assign-roles.ts'
import type { Transform } from '../../../src/context/transform-interface.ts'
import {
  conversation,
  grown,
  tidyConversation,
  grownWithinRound,
} from '../../support/conversations.ts'
import {
  expectNotesMatchChanges,
  expectIdempotent,
  expectValidForProviders,
  expectPure,
  expectUnchangedPrefix,
} from '../../support/laws.ts'
import { withGatewayFields, anyAuthors } from '../../support/authors.ts'

const COUNTS = { numRuns: 60 }

const NAMES = ['prefix', 'name', 'none'] as const
const SPEAKERS = [
  { persona: null, actAs: null },
  { persona: 'Ada', actAs: null },
  { persona: 'Cyd', actAs: 'u1' },
]
const LABEL_OPTIONS: readonly SpeakerLabelOptions[] = NAMES.flatMap((names) =>
  SPEAKERS.map((who) => ({ names, labelsAssistants: names === 'prefix', ...who })),
)

const TRANSFORMS: readonly (readonly [string, Transform])[] = [
  ['hide', hideItemsOfAuthors(['u1', 'Ada'])],
  ['merge', mergeMessagesOfOneAuthor()],
  ...LABEL_OPTIONS.map(
    (telling) => [JSON.stringify(telling), labelSpeakersAndAssignRoles(telling)] as const,
  ),
]

describe.each(TRANSFORMS)('laws of the speaker transform %s', (name, { run }) => {
  test('a speaker transform does not modify its input, changes nothing in a second run, and writes a note for each change', () => {
    fc.assert(
      fc.property(conversation, anyAuthors, (silent, speak) => {
        const items = speak(silent)
        expectPure(run, items)
        expectIdempotent(run, items)
        expectNotesMatchChanges(items, run(items))
      }),
      COUNTS,
    )
  })

  test('a speaker transform turns a list that providers accept into another list that they accept', () => {
    fc.assert(
      fc.property(tidyConversation, anyAuthors, (items, speak) => {
        expectValidForProviders(run(speak(items)).items)
      }),
      COUNTS,
    )
  })

  test('when a conversation grows, a speaker transform changes no earlier message, except that the last merged message may grow', () => {
    fc.assert(
      fc.property(fc.oneof(grown, grownWithinRound), anyAuthors, ([before, after], speak) => {
        const sent = run(speak(before)).items
        const open = name === 'merge' ? sent.slice(0, -1) : sent
        expectUnchangedPrefix(open, run(speak(after)).items)
      }),
      COUNTS,
    )
  })
})

test('merging messages keeps all their text', () => {
  fc.assert(
    fc.property(conversation, anyAuthors, (silent, speak) => {
      const items = speak(silent)
      const sent = mergeMessagesOfOneAuthor().run(items).items.map(textOfItem).join('\n')
      for (const words of items.map(textOfItem)) expect(sent).toContain(words)
    }),
    COUNTS,
  )
})

function textOfItem(item: Item): string {
  return item.type === 'message' ? item.content.map((part) => textOfPart(part)).join('\n') : ''
}

test('providers accept a conversation from a reset on, even if calls before the reset have their outputs after it', () => {
  const plan = listTransforms({ policy: resolvePolicy([null]), reader: null })
  fc.assert(
    fc.property(tidyConversation, fc.nat(), (items, place) => {
      const starts = findRoundStarts(items)
      const at = starts[place % Math.max(1, starts.length)]
      fc.pre(at !== undefined)
      const reset = withGatewayFields(items, { [at]: { reset: true } })
      const step = dropBeforeReset().run(reset)
      expectPure(dropBeforeReset().run, reset)
      expectIdempotent(dropBeforeReset().run, reset)
      expectNotesMatchChanges(reset, step)
      expect(step.items.slice(-(items.length - at))).toEqual(reset.slice(at))
      expectValidForProviders(runTransforms(reset, plan).items)
    }),
    COUNTS,
  )
})

const PLANS: readonly PolicyOverrides[] = [
  { speakers: { hidden: ['Ada'], merge: 'same_author', persona: 'u1', names: 'prefix' } },
  { policy: 'lean', window: { turns: 2 }, speakers: { hidden: ['u1'], actAs: 'Ada' } },
  { window: { items: 8 }, speakers: { merge: 'same_author' } },
]

test.each(PLANS)(
  'the pipeline with the policy %j does not modify its input, writes a note for each change, and returns a list that providers accept',
  (overrides) => {
    const entries = [{ text: 'note', depth: 2, role: 'developer' as const }]
    const policy = resolvePolicy([overrides, { notes: { entries } }])
    const plan = [
      ...listTransforms({ policy, reader: null, hasNameField: false }),
      ...listPolicyTextTransforms(policy),
    ]
    const run = (items: readonly Item[]) => runTransforms(items, plan)
    fc.assert(
      fc.property(conversation, anyAuthors, (silent, speak) => {
        const items = speak(silent)
        const step = run(items)
        expectPure(run, items)
        expectNotesMatchChanges(items, step, true)
        expectValidForProviders(step.items)
        expect(step.items.filter((item) => 'content' in item && isNote(item))).toHaveLength(1)
      }),
      COUNTS,
    )
  },
)

function isNote(item: Item): boolean {
  return item.native?.['backstory']?.['note'] === true
}
