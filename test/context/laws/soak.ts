/**
 * Checks all laws for many generated conversations, with each transform and each pipeline. The result of some
 * is checked against the rules of the four wires. The test is split into four files (`laws-soak-1.test.ts` …), so
 * that they run in parallel.
 *
 *     LAWS_RUNS=10000000 npx vitest run --config test/vitest.config.ts test/context/laws/laws-soak
 *
 * `npm test` tries a tenth of the conversations, chosen by `SAMPLE_SEED` (`sample.ts`); `LAWS_SEED` generates
 * different ones. A failing case is shrunk and printed with its seed.
 */
import fc from 'fast-check'
import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { Item } from '../../../src/core/item.ts'
import type { TransformResult } from '../../../src/context/transform-interface.ts'
import { history } from '../../support/conversations.ts'
import {
  deepFreeze,
  expectNoCallLost,
  expectBothRoles,
  expectQuestionAndInstructions,
  expectNotesMatchChanges,
  expectIdempotent,
  expectValidForProviders,
  expectPure,
  expectUnchangedPrefix,
  expectWaitingCalls,
} from '../../support/laws.ts'
import { expectAccepted } from '../../support/sent-laws.ts'
import { isSampled } from '../../support/sample.ts'
import {
  computeEpoch,
  preparePipelineInput,
  TRANSFORMS,
  WHOLE_PLANS,
  type Plan,
  type Subject,
} from './subjects.ts'
import { numberOfRuns } from '../../support/number-of-runs.ts'

const PARTS = 4
const RUNS = Math.ceil(numberOfRuns(100_000).numRuns / PARTS)
const SEED = Number(process.env['LAWS_SEED'] ?? 1)
const BATCH = 500
/** Without `LAWS_RUNS`, a run tries one of this many shares. */
const SHARES = process.env['LAWS_RUNS'] === undefined ? 10 : 1

/** Each conversation is tried with some of the settings and some of the expensive checks, in rotation. */
const SETTINGS = 24
const TURNS = 12

/** Groups the subjects by the first word of their names, which is the same for each setting of a transform. */
const KINDS = [...Map.groupBy(TRANSFORMS, ({ name }) => name.split(' ', 1)[0]).values()]

/** `part` counts from 0. */
export function testLaws(part: number): void {
  const all = Array.from({ length: Math.ceil(RUNS / BATCH) }, (_, batch) => batch)
  const batches = all
    .filter((batch) => isSampled(batch, SHARES))
    .map((batch) => ({ batch, numRuns: Math.min(BATCH, RUNS - batch * BATCH) }))
  const count = batches.reduce((sum, { numRuns }) => sum + numRuns, 0)
  test(
    `${count} generated conversations satisfy all laws of transforms, part ${part + 1} of ${PARTS}`,
    async () => {
      let seen = 0
      for (const { batch, numRuns } of batches) {
        fc.assert(keepsLaws, { numRuns, seed: SEED + batch * PARTS + part })
        seen += numRuns
        if (seen % 100_000 === 0) process.stdout.write(`${seen} conversations keep all laws\n`)
        // Yields to the event loop, so that vitest can report and memory is freed.
        await setImmediate()
      }
      expect(seen).toBe(count)
      expect(seen).toBeGreaterThan(0)
    },
    60_000 + count * 20,
  )
}

const pick = fc.noBias(fc.nat(SETTINGS * TURNS - 1))

const keepsLaws = fc.property(history, pick, ([before, items], picked) => {
  deepFreeze(items)
  const setting = picked % SETTINGS
  const subjects = KINDS.flatMap((kind) => kind[setting % kind.length] ?? [])
  const plans = WHOLE_PLANS.filter((_, at) => at % SETTINGS === setting)
  const turn = Math.floor(picked / SETTINGS)
  expectAll(items, subjects, plans)
  if (turn === 0) expectAccepted(items, items.length % 2 === 0 ? 'drop' : 'stub')
  else if (turn === 1) expectAllIdempotent(items, subjects, plans)
  else if (turn < 4) expectAllSteady(before, items, subjects, plans)
  else if (turn < 6) expectAllComplete(items, subjects, plans)
})

type Subjects = readonly Subject[]
type Plans = readonly Plan[]

function expectAll(items: readonly Item[], subjects: Subjects, plans: Plans): void {
  for (const subject of subjects) {
    const given = preparePipelineInput(subject, items)
    const step = subject.transform.run(given)
    expectNotesMatchChanges(given, step)
    expectItemsKept(given, step, subject)
    if (subject.makesValid === true) expectWaitingCalls(items, step.items)
    if (subject.addsStubs === true) expectNoCallLost(items, step)
  }
  for (const plan of plans) {
    const step = plan.run(items)
    expectNotesMatchChanges(items, step, true)
    expectItemsKept(items, step, plan)
  }
}

function expectItemsKept(
  items: readonly Item[],
  step: TransformResult,
  { keepsBothSides = true }: Pick<Subject, 'keepsBothSides'>,
): void {
  expectQuestionAndInstructions(items, step.items)
  if (keepsBothSides) expectBothRoles(items, step.items)
  expectValidForProviders(step.items)
}

/** Checks lists that are not pruned, too, which a transform in a pipeline does not get. */
function expectAllComplete(items: readonly Item[], subjects: Subjects, plans: Plans): void {
  for (const { transform } of subjects) expectIdempotent(transform.run, items)
  for (const { run, isRepeatable = true } of plans) {
    if (isRepeatable) expectIdempotent(run, items)
  }
}

function expectAllIdempotent(items: readonly Item[], subjects: Subjects, plans: Plans): void {
  for (const { transform } of subjects) expectPure(transform.run, items)
  for (const { run } of plans) expectPure(run, items)
}

function expectAllSteady(
  before: readonly Item[],
  items: readonly Item[],
  subjects: Subjects,
  plans: Plans,
): void {
  for (const subject of subjects) {
    if (computeEpoch(subject, before) !== computeEpoch(subject, items)) continue
    const { run } = subject.transform
    expectUnchangedPrefix(
      run(preparePipelineInput(subject, before)).items,
      run(preparePipelineInput(subject, items)).items,
    )
  }
  for (const { run, epoch } of plans) {
    if (epoch(before) === epoch(items)) expectUnchangedPrefix(run(before).items, run(items).items)
  }
}
