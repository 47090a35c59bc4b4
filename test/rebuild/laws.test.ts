/**
 * Every transform, and the whole plan, over made-up conversations. A new transform gets a line in
 * `TRANSFORMS`, with what makes its steps.
 */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Item } from '../../src/conversation/item.ts'
import { headLength, isPinned, roundStarts } from '../../src/conversation/rounds.ts'
import { isCompaction } from '../../src/conversation/compaction.ts'
import { estimateTokens } from '../../src/conversation/tokens.ts'
import { applyCompaction } from '../../src/rebuild/apply-compaction.ts'
import { boundItems } from '../../src/rebuild/bound-items.ts'
import { fitWindow } from '../../src/rebuild/fit-window.ts'
import { rebuild } from '../../src/rebuild/plan.ts'
import { pruneOrphans } from '../../src/rebuild/prune-orphans.ts'
import { shortenToolOutputs } from '../../src/rebuild/shorten-tool-outputs.ts'
import type { Transform } from '../../src/rebuild/transform.ts'
import { windowItems } from '../../src/rebuild/window-items.ts'
import { conversation, grown, tidyConversation, workedOn } from '../support/conversations.ts'
import {
  expectBothSides,
  expectComplete,
  expectHonest,
  expectIdempotent,
  expectLawful,
  expectPure,
  expectSteady,
} from '../support/laws.ts'

interface Subject {
  readonly name: string
  readonly transform: Transform
  /** Told from counts alone: while it stays the same, what was sent is sent again unchanged. */
  readonly epoch: (items: readonly Item[]) => number | string
  readonly hearsBothSides?: false
}

const TRANSFORMS: readonly Subject[] = [
  { name: 'prune', transform: pruneOrphans(), epoch: () => 0 },
  shorten(0, 1),
  shorten(1, 2),
  shorten(2, 3),
  window(1),
  window(3),
  window(8),
  window(15),
  bound(5),
  bound(64),
  compaction('chat'),
  compaction('responses'),
  fit(2000),
  fit(400),
]

const PLANS = [
  [shorten(1, 1)],
  [window(1), bound(4)],
  [window(6), bound(64), shorten(2, 2)],
  [window(16), bound(64), shorten(0, 1)],
  [compaction('chat'), window(6), bound(64), shorten(2, 2)],
]

const COUNTS = { numRuns: 60 }

describe.each(TRANSFORMS)('$name', ({ name, transform, epoch, hearsBothSides = true }) => {
  const { run } = transform

  test('is pure', () => {
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

  test('leaves a lawful list lawful', () => {
    fc.assert(
      fc.property(tidyConversation, (items) => expectLawful(run(items).items)),
      COUNTS,
    )
  })

  test('changes the prefix only at a step', () => {
    fc.assert(
      fc.property(fc.oneof(grown, workedOn), ([before, after]) => {
        // In every plan the orphans are gone before anything is counted.
        const given = name === 'prune' ? (items: readonly Item[]) => items : pruned
        fc.pre(epoch(given(before)) === epoch(given(after)))
        expectSteady(run(given(before)).items, run(given(after)).items)
      }),
      COUNTS,
    )
  })
})

test.each(PLANS.map((subjects) => ({ subjects, names: subjects.map(({ name }) => name).join() })))(
  'the plan with $names keeps all laws',
  ({ subjects }) => {
    const transforms = [
      pruneOrphans(),
      ...subjects.map(({ transform }) => transform),
      pruneOrphans(),
    ]
    const run = (items: readonly Item[]) => rebuild(items, transforms)
    fc.assert(
      fc.property(conversation, (items) => {
        expectPure(run, items)
        expectIdempotent(run, items)
        expectHonest(items, run(items))
        expectComplete(items, run(items).items)
        expectBothSides(items, run(items).items)
        expectLawful(run(items).items)
      }),
      COUNTS,
    )
    // A transform counts what those before it have left.
    const epochs = (items: readonly Item[]) => {
      let left = pruned(items)
      return subjects.map(({ transform, epoch }) => {
        const number = epoch(left)
        left = transform.run(left).items
        return number
      })
    }
    fc.assert(
      fc.property(fc.oneof(grown, workedOn), ([before, after]) => {
        fc.pre(epochs(before).join() === epochs(after).join())
        expectSteady(run(before).items, run(after).items)
      }),
      COUNTS,
    )
  },
)

test('a tidy conversation passes the pruning as the very same list', () => {
  fc.assert(
    fc.property(tidyConversation, (items) => {
      expect(pruneOrphans().run(items).items).toBe(items)
    }),
    COUNTS,
  )
})

test('pruning makes any list lawful', () => {
  fc.assert(
    fc.property(conversation, (items) => expectLawful(pruneOrphans().run(items).items)),
    { numRuns: 500 },
  )
})

function pruned(items: readonly Item[]): readonly Item[] {
  return pruneOrphans().run(items).items
}

function shorten(rounds: number, step: number): Subject {
  return {
    name: `shorten ${rounds}/${step}`,
    transform: shortenToolOutputs({ rounds, step }),
    epoch: (items) => Math.max(0, Math.floor((roundStarts(items).length - 1 - rounds) / step)),
  }
}

function window(maxItems: number): Subject {
  return {
    name: `window ${maxItems}`,
    transform: windowItems({ maxItems }),
    epoch(items) {
      const head = headLength(items)
      const stride = Math.ceil(maxItems / 2)
      const step = Math.max(0, Math.ceil((items.length - head - maxItems) / stride))
      const starts = roundStarts(items)
      if (step === 0) return step
      const cut = starts.find((start) => start >= head + step * stride)
      if (cut !== undefined && items.slice(cut, starts.at(-1)).some(isAnswer)) return step
      // The newest round stands alone, or with the one before it: each new round is a step, and so
      // is its end.
      return `${cut === undefined ? '' : step} ${starts.length} ${items.slice(-1).some(isAnswer)}`
    },
  }
}

function bound(maxItems: number): Subject {
  return {
    name: `bound ${maxItems}`,
    transform: boundItems({ maxItems }),
    epoch(items) {
      const length = items.length - headLength(items)
      if (length <= maxItems) return 0
      // Where a group and a question may not fit in between, there is nothing but steps.
      if (maxItems < 64) return length
      const room = Math.floor(maxItems / 4)
      return Math.ceil((length - maxItems + room) / Math.ceil(maxItems / 2))
    },
  }
}

/** Reasoning that led to a compaction has lost its follower when that is left out. */
function compaction(wire: string): Subject {
  const apply = applyCompaction({ wire, account: 'a', compacts: false })
  return {
    name: `compaction for ${wire}`,
    transform: { name: apply.name, run: (items) => rebuild(items, [apply, pruneOrphans()]) },
    epoch: (items) => items.filter(isCompaction).length,
  }
}

function fit(maxTokens: number): Subject {
  const weigh = (items: readonly Item[]) =>
    items.reduce((sum, item) => sum + estimateTokens(item), 0)
  return {
    name: `fit ${maxTokens}`,
    transform: fitWindow({ maxTokens }),
    // What the model cannot take, it cannot be sent, whoever has said it.
    hearsBothSides: false,
    epoch(items) {
      const stride = Math.floor(maxTokens / 4)
      const step = Math.max(0, Math.ceil((weigh(items) - maxTokens) / stride))
      const starts = roundStarts(items)
      const behindHead = (end: number) =>
        weigh(items.slice(headLength(items), end).filter((item) => !isPinned(item)))
      const isEnough = starts.some((start) => behindHead(start) >= step * stride)
      // Where all the others are not enough, the newest round stands alone, and each new one is a step.
      return isEnough ? step : `${step} ${starts.length}`
    },
  }
}

function isAnswer(item: Item): boolean {
  return item.type === 'message' && item.role === 'assistant'
}
