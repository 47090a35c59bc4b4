/**
 * Checks the rebuilt prompts of earlier requests: each transform declares its steps correctly, and the latest
 * step is the one that running the complete pipeline again for each answer finds.
 */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Item } from '../../../src/core/item.ts'
import { isItemOfAnswer } from '../../../src/core/items/is-item-of-answer.ts'
import { resolvePolicy } from '../../../src/core/context-policy.ts'
import {
  findValidUnrecordedReasoningStart,
  isUnrecordedReasoning,
} from '../../../src/context/reasoning/find-valid-unrecorded-reasoning-start.ts'
import { rebuildEarlierPrompts } from '../../../src/context/reasoning/rebuild-earlier-prompts.ts'
import {
  listPolicyTextTransforms,
  listTransforms,
  runTransforms,
  type PipelineResult,
} from '../../../src/context/list-and-run-transforms.ts'
import { hasSamePrefixText } from '../../../src/context/reasoning/hash-prompt-prefix.ts'
import type { Transform } from '../../../src/context/transform-interface.ts'
import { messyConversation, tidyConversation } from '../../support/conversations.ts'
import { expectUnchangedPrefix } from '../../support/laws.ts'
import { anyAuthors } from '../../support/authors.ts'
import { MIXED_OVERRIDES, type MixedOverrides } from '../laws/mixed-policies.ts'
import { preparePipelineInput, TRANSFORMS } from '../laws/subjects.ts'
import { numberOfRuns } from '../../support/number-of-runs.ts'
import { CUTS_AT_ANY_LENGTH } from '../../support/cuts-at-any-length.ts'

const COUNTS = numberOfRuns(100)

/** Conversations of several authors, or unordered ones. Both together would separate calls from outputs. */
const conversations = fc.oneof(
  fc.tuple(tidyConversation, anyAuthors).map(([items, speak]) => speak(items)),
  messyConversation,
)

const STABLE_TRANSFORMS = TRANSFORMS.filter(
  ({ transform }) => transform.prefixChanges !== undefined,
)

describe.each(STABLE_TRANSFORMS)('declared prefix changes of the transform $name', (subject) => {
  const { run, prefixChanges } = subject.transform
  test(
    prefixChanges === 'never'
      ? 'a transform that declares `never`: the result for a longer list begins with the result for a shorter one'
      : 'a transform that declares `permanent`: a list that stays unchanged was also unchanged when it was shorter',
    () => {
      fc.assert(
        fc.property(conversations, (all) => {
          const items = preparePipelineInput(subject, all)
          const now = run(items)
          if (prefixChanges === 'permanent' && now.notes.length > 0) return
          for (const place of listAnswerStarts(items)) {
            const then = run(items.slice(0, place))
            if (prefixChanges === 'permanent') expect(then.notes).toEqual([])
            else expectUnchangedPrefix(then.items, now.items)
          }
        }),
        COUNTS,
      )
    },
  )
})

/** The indexes at which a model item follows another item. */
function listAnswerStarts(items: readonly Item[]): readonly number[] {
  return items.flatMap((item, at) => {
    const before = items[at - 1]
    return isItemOfAnswer(item) && before !== undefined && !isItemOfAnswer(before) ? [at] : []
  })
}

test.each(MIXED_OVERRIDES)(
  'with the policy %j, the search for valid reasoning finds the same start as a check of each single answer',
  (overrides) => {
    fc.assert(
      fc.property(conversations, (items) => {
        const plan = listPolicyTransforms(overrides, items)
        const rebuilt = runTransforms(items, plan)
        const { items: sent, originalPositions } = rebuilt
        const found = findValidUnrecordedReasoningStart(
          sent,
          originalPositions,
          rebuildEarlierPrompts(rebuilt),
        )
        expect(found).toBe(
          findStartOneByOne(rebuilt, (length) => runTransforms(items.slice(0, length), plan).items),
        )
      }),
      COUNTS,
    )
  },
)

function listPolicyTransforms(
  { tokenBudget = null, ...overrides }: MixedOverrides,
  conversation: readonly Item[],
): readonly Transform[] {
  const policy = resolvePolicy([CUTS_AT_ANY_LENGTH, overrides])
  const reader = { wire: 'chat', account: 'a', makesCompactions: false }
  const plan = listTransforms({
    policy,
    tokenBudget: tokenBudget,
    reader,
    hasNameField: false,
    conversation,
  })
  return [...plan, ...listPolicyTextTransforms(policy)]
}

function findStartOneByOne(
  { items, originalPositions }: PipelineResult,
  promptAt: (length: number) => readonly Item[],
): number {
  const starts = new Set<number>()
  let start = 0
  for (const [at, item] of items.entries()) {
    if (!isItemOfAnswer(item)) start = at + 1
    else if (isUnrecordedReasoning(item)) starts.add(start)
  }
  let border = items.length
  for (const at of [...starts].toReversed()) {
    const place = originalPositions[at] ?? null
    const before = place === null ? null : promptAt(place)
    if (before?.every((item, index) => hasSamePrefixText(item, items[index])) !== true)
      return border
    border = at
  }
  return 0
}
