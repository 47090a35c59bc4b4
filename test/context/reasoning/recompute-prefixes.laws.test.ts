/**
 * What was sent of the beginnings of a conversation: where a plan steps, it says so, and the newest step
 * is where it would be found by making the whole plan again for one answer after the other.
 */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Item } from '../../../src/core/item.ts'
import { isModelItem } from '../../../src/core/items/is-model-item.ts'
import { resolvePolicy } from '../../../src/core/context-policy.ts'
import {
  findValidReasoningStart,
  isUnrecordedReasoning,
} from '../../../src/context/reasoning/find-valid-reasoning-start.ts'
import { recomputePrefixes } from '../../../src/context/reasoning/recompute-prefixes.ts'
import {
  listAdditionTransforms,
  listTransforms,
  runTransforms,
  type PipelineResult,
} from '../../../src/context/list-and-run-transforms.ts'
import { hasSamePrefixText } from '../../../src/context/reasoning/hash-prompt-prefix.ts'
import type { Transform } from '../../../src/context/transform-interface.ts'
import { messyConversation, tidyConversation } from '../../support/conversations.ts'
import { expectSteady } from '../../support/laws.ts'
import { anyAuthors } from '../../support/authors.ts'
import { MIXED_WISHES, type MixedWishes } from '../laws/mixed-wishes.ts'
import { givenTo, TRANSFORMS } from '../laws/subjects.ts'
import { numberOfRuns } from '../../support/number-of-runs.ts'

const COUNTS = numberOfRuns(100)

/** Of many voices, or in no order. Of what is both, calls are parted from the outputs that belong to their author. */
const spoken = fc.oneof(
  fc.tuple(tidyConversation, anyAuthors).map(([items, speak]) => speak(items)),
  messyConversation,
)

const STEPPING = TRANSFORMS.filter(({ transform }) => transform.prefixStability !== undefined)

describe.each(STEPPING)('$name', (subject) => {
  const { run, prefixStability } = subject.transform
  test(`has ${prefixStability === 'none' ? 'no steps' : 'steps that last'}, as it says`, () => {
    fc.assert(
      fc.property(spoken, (all) => {
        const items = givenTo(subject, all)
        const now = run(items)
        if (prefixStability === 'lasting' && now.notes.length > 0) return
        for (const place of answersIn(items)) {
          const then = run(items.slice(0, place))
          if (prefixStability === 'lasting') expect(then.notes).toEqual([])
          else expectSteady(then.items, now.items)
        }
      }),
      COUNTS,
    )
  })
})

/** Where what a model made follows what it was told. */
function answersIn(items: readonly Item[]): readonly number[] {
  return items.flatMap((item, at) => {
    const before = items[at - 1]
    return isModelItem(item) && before !== undefined && !isModelItem(before) ? [at] : []
  })
}

test.each(MIXED_WISHES)('the newest step under %j is found where it is', (wishes) => {
  fc.assert(
    fc.property(spoken, (items) => {
      const plan = planOf(wishes, items)
      const rebuilt = runTransforms(items, plan)
      const { items: sent, places } = rebuilt
      const found = findValidReasoningStart(sent, places, recomputePrefixes(rebuilt))
      expect(found).toBe(
        foundOneByOne(rebuilt, (length) => runTransforms(items.slice(0, length), plan).items),
      )
    }),
    COUNTS,
  )
})

function planOf(
  { room = null, ...wishes }: MixedWishes,
  conversation: readonly Item[],
): readonly Transform[] {
  const policy = resolvePolicy([wishes])
  const reader = { wire: 'chat', account: 'a', compacts: false }
  const plan = listTransforms({ policy, room, reader, hasNames: false, conversation })
  return [...plan, ...listAdditionTransforms(policy)]
}

function foundOneByOne(
  { items, places }: PipelineResult,
  sentOf: (length: number) => readonly Item[],
): number {
  const starts = new Set<number>()
  let start = 0
  for (const [at, item] of items.entries()) {
    if (!isModelItem(item)) start = at + 1
    else if (isUnrecordedReasoning(item)) starts.add(start)
  }
  let border = items.length
  for (const at of [...starts].toReversed()) {
    const place = places[at] ?? null
    const before = place === null ? null : sentOf(place)
    if (before?.every((item, index) => hasSamePrefixText(item, items[index])) !== true)
      return border
    border = at
  }
  return 0
}
