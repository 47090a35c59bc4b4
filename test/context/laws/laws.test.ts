/**
 * Checks each transform, and complete pipelines, with generated conversations, one law at a time. Failing
 * cases are shrunk. `soak.ts` checks many more conversations.
 */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { pruneOrphans } from '../../../src/context/tool-calls/prune-orphans.ts'
import {
  conversation,
  grown,
  tidyConversation,
  grownWithinRound,
} from '../../support/conversations.ts'
import {
  expectNoCallLost,
  expectBothRoles,
  expectQuestionAndInstructions,
  expectNotesMatchChanges,
  expectIdempotent,
  expectValidForProviders,
  expectNoPinnedItemDropped,
  expectPure,
  expectUnchangedPrefix,
  expectWaitingCalls,
} from '../../support/laws.ts'
import {
  computeEpoch,
  preparePipelineInput,
  pruneCached,
  TRANSFORMS,
  WHOLE_PLANS,
} from './subjects.ts'
import { numberOfRuns } from '../../support/number-of-runs.ts'

const COUNTS = numberOfRuns(60)

describe.each(TRANSFORMS)('laws of the transform $name', (subject) => {
  const { keepsBothSides = true } = subject
  const { run } = subject.transform

  test('a transform does not change its input and returns the same result for the same list (C1)', () => {
    fc.assert(
      fc.property(conversation, (items) => expectPure(run, items)),
      COUNTS,
    )
  })

  test('a second run of a transform on its own result changes nothing', () => {
    fc.assert(
      fc.property(conversation, (items) => expectIdempotent(run, items)),
      COUNTS,
    )
  })

  test('a transform writes notes about the items that it changes, and about no others', () => {
    fc.assert(
      fc.property(conversation, (items) => expectNotesMatchChanges(items, run(items))),
      COUNTS,
    )
  })

  test('a transform keeps the latest question and the instructions unchanged', () => {
    fc.assert(
      fc.property(conversation, (items) => expectQuestionAndInstructions(items, run(items).items)),
      COUNTS,
    )
  })

  test.runIf(keepsBothSides)(
    'a transform keeps at least one message of the user and one of the assistant',
    () => {
      fc.assert(
        fc.property(conversation, (items) => expectBothRoles(items, run(items).items)),
        COUNTS,
      )
    },
  )

  test('a transform keeps all pinned items (C30)', () => {
    fc.assert(
      fc.property(conversation, (items) =>
        expectNoPinnedItemDropped(pruneCached(items), run(pruneCached(items))),
      ),
      COUNTS,
    )
  })

  test('a transform turns a list that providers accept into another list that they accept', () => {
    fc.assert(
      fc.property(tidyConversation, (items) => expectValidForProviders(run(items).items)),
      COUNTS,
    )
  })

  test('when a conversation grows, the result of a transform for earlier items changes only if its cutoff moves', () => {
    fc.assert(
      fc.property(fc.oneof(grown, grownWithinRound), ([before, after]) => {
        fc.pre(computeEpoch(subject, before) === computeEpoch(subject, after))
        expectUnchangedPrefix(
          run(preparePipelineInput(subject, before)).items,
          run(preparePipelineInput(subject, after)).items,
        )
      }),
      COUNTS,
    )
  })
})

test.each(WHOLE_PLANS)(
  'the complete pipeline of $names satisfies the same laws as a single transform',
  (plan) => {
    const { run, epoch, keepsBothSides = true, isRepeatable = true } = plan
    fc.assert(
      fc.property(conversation, (items) => {
        expectPure(run, items)
        if (isRepeatable) expectIdempotent(run, items)
        expectNotesMatchChanges(items, run(items), true)
        expectQuestionAndInstructions(items, run(items).items)
        if (keepsBothSides) expectBothRoles(items, run(items).items)
        expectValidForProviders(run(items).items)
        expectNoPinnedItemDropped(pruneCached(items), run(pruneCached(items)))
      }),
      COUNTS,
    )
    fc.assert(
      fc.property(fc.oneof(grown, grownWithinRound), ([before, after]) => {
        fc.pre(epoch(before) === epoch(after))
        expectUnchangedPrefix(run(before).items, run(after).items)
      }),
      COUNTS,
    )
  },
)

test('pruning orphans returns the same list if all items are valid', () => {
  fc.assert(
    fc.property(tidyConversation, (items) => {
      expect(pruneOrphans().run(items).items).toBe(items)
    }),
    COUNTS,
  )
})

describe.each(TRANSFORMS.filter(({ makesValid }) => makesValid))(
  'repair of invalid lists by $name',
  ({ addsStubs, transform }) => {
    const { run } = transform

    test('providers accept a repaired list, because no output, earlier call or reasoning in it lacks its counterpart (C12, C13)', () => {
      fc.assert(
        fc.property(conversation, (items) => expectValidForProviders(run(items).items)),
        { numRuns: 500 },
      )
    })

    test('repairing a list keeps calls at its end that still wait for their outputs', () => {
      fc.assert(
        fc.property(conversation, (items) => expectWaitingCalls(items, run(items).items)),
        { numRuns: 500 },
      )
    })

    test.runIf(addsStubs)('repairing a list keeps each call that can get a stub output', () => {
      fc.assert(
        fc.property(conversation, (items) => expectNoCallLost(items, run(items))),
        { numRuns: 500 },
      )
    })
  },
)
