/**
 * Every transform, and the whole plan, over made-up conversations: one law at a time, on a few that
 * can be made small when they show a fault. `soak.ts` takes as many as there is time for.
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
  expectAnswered,
  expectBothSides,
  expectComplete,
  expectHonest,
  expectIdempotent,
  expectLawful,
  expectPinned,
  expectPure,
  expectSteady,
  expectWaiting,
} from '../../support/laws.ts'
import { epochOf, givenTo, pruned, TRANSFORMS, WHOLE_PLANS } from './subjects.ts'
import { numberOfRuns } from '../../support/number-of-runs.ts'

const COUNTS = numberOfRuns(60)

describe.each(TRANSFORMS)('$name', (subject) => {
  const { hearsBothSides = true } = subject
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

  test('writes a note on all that it does, and no other', () => {
    fc.assert(
      fc.property(conversation, (items) => expectHonest(items, run(items))),
      COUNTS,
    )
  })

  test('sends the newest question whole, and the instructions', () => {
    fc.assert(
      fc.property(conversation, (items) => expectComplete(items, run(items).items)),
      COUNTS,
    )
  })

  test.runIf(hearsBothSides)('sends something of both sides', () => {
    fc.assert(
      fc.property(conversation, (items) => expectBothSides(items, run(items).items)),
      COUNTS,
    )
  })

  test('keeps what is pinned (C30)', () => {
    fc.assert(
      fc.property(conversation, (items) => expectPinned(pruned(items), run(pruned(items)))),
      COUNTS,
    )
  })

  test('leaves a lawful list lawful', () => {
    fc.assert(
      fc.property(tidyConversation, (items) => expectLawful(run(items).items)),
      COUNTS,
    )
  })

  test('changes the prefix only at a step', () => {
    fc.assert(
      fc.property(fc.oneof(grown, grownWithinRound), ([before, after]) => {
        fc.pre(epochOf(subject, before) === epochOf(subject, after))
        expectSteady(run(givenTo(subject, before)).items, run(givenTo(subject, after)).items)
      }),
      COUNTS,
    )
  })
})

test.each(WHOLE_PLANS)('the plan with $names keeps all laws', (plan) => {
  const { run, epoch, hearsBothSides = true } = plan
  fc.assert(
    fc.property(conversation, (items) => {
      expectPure(run, items)
      expectIdempotent(run, items)
      expectHonest(items, run(items), true)
      expectComplete(items, run(items).items)
      if (hearsBothSides) expectBothSides(items, run(items).items)
      expectLawful(run(items).items)
      expectPinned(pruned(items), run(pruned(items)))
    }),
    COUNTS,
  )
  fc.assert(
    fc.property(fc.oneof(grown, grownWithinRound), ([before, after]) => {
      fc.pre(epoch(before) === epoch(after))
      expectSteady(run(before).items, run(after).items)
    }),
    COUNTS,
  )
})

test('a tidy conversation passes the pruning as the very same list', () => {
  fc.assert(
    fc.property(tidyConversation, (items) => {
      expect(pruneOrphans().run(items).items).toBe(items)
    }),
    COUNTS,
  )
})

describe.each(TRANSFORMS.filter(({ mends }) => mends))('$name', ({ stubs, transform }) => {
  const { run } = transform

  test('makes any list lawful (C12, C13)', () => {
    fc.assert(
      fc.property(conversation, (items) => expectLawful(run(items).items)),
      { numRuns: 500 },
    )
  })

  test('leaves alone what waits at the end', () => {
    fc.assert(
      fc.property(conversation, (items) => expectWaiting(items, run(items).items)),
      { numRuns: 500 },
    )
  })

  test.runIf(stubs)('loses no call that can be answered in words', () => {
    fc.assert(
      fc.property(conversation, (items) => expectAnswered(items, run(items))),
      { numRuns: 500 },
    )
  })
})
