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

describe.each(TRANSFORMS)('$name', (subject) => {
  const { keepsBothSides = true } = subject
  const { run } = subject.transform

  test('is pure (C1)', () => {
    fc.assert(
      fc.property(conversation, (items) => expectPure(run, items)),
      COUNTS,
    )
  })

  test('changes nothing more when it runs twice', () => {
    fc.assert(
      fc.property(conversation, (items) => expectIdempotent(run, items)),
      COUNTS,
    )
  })

  test('writes a note for each change, and no other', () => {
    fc.assert(
      fc.property(conversation, (items) => expectNotesMatchChanges(items, run(items))),
      COUNTS,
    )
  })

  test('sends the latest question completely, and the instructions', () => {
    fc.assert(
      fc.property(conversation, (items) => expectQuestionAndInstructions(items, run(items).items)),
      COUNTS,
    )
  })

  test.runIf(keepsBothSides)('sends a message of the user and one of the assistant', () => {
    fc.assert(
      fc.property(conversation, (items) => expectBothRoles(items, run(items).items)),
      COUNTS,
    )
  })

  test('keeps pinned items (C30)', () => {
    fc.assert(
      fc.property(conversation, (items) =>
        expectNoPinnedItemDropped(pruneCached(items), run(pruneCached(items))),
      ),
      COUNTS,
    )
  })

  test('keeps a valid list valid', () => {
    fc.assert(
      fc.property(tidyConversation, (items) => expectValidForProviders(run(items).items)),
      COUNTS,
    )
  })

  test('changes the prefix only at a step', () => {
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

test.each(WHOLE_PLANS)('the pipeline of $names satisfies all laws', (plan) => {
  const { run, epoch, keepsBothSides = true } = plan
  fc.assert(
    fc.property(conversation, (items) => {
      expectPure(run, items)
      expectIdempotent(run, items)
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
})

test('pruning returns a valid conversation as the same list', () => {
  fc.assert(
    fc.property(tidyConversation, (items) => {
      expect(pruneOrphans().run(items).items).toBe(items)
    }),
    COUNTS,
  )
})

describe.each(TRANSFORMS.filter(({ makesValid }) => makesValid))(
  '$name',
  ({ addsStubs, transform }) => {
    const { run } = transform

    test('makes any list valid (C12, C13)', () => {
      fc.assert(
        fc.property(conversation, (items) => expectValidForProviders(run(items).items)),
        { numRuns: 500 },
      )
    })

    test('keeps calls at the end that wait for their outputs', () => {
      fc.assert(
        fc.property(conversation, (items) => expectWaitingCalls(items, run(items).items)),
        { numRuns: 500 },
      )
    })

    test.runIf(addsStubs)('drops no call that can get a stub output', () => {
      fc.assert(
        fc.property(conversation, (items) => expectNoCallLost(items, run(items))),
        { numRuns: 500 },
      )
    })
  },
)
