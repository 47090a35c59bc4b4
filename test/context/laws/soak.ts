/**
 * A great many made-up conversations, each through every transform and every plan, held to all laws
 * at once. What is sent of some of them is shown to the checkers of the four wires. It is done in parts
 * (`laws-soak-….test.ts`), so that every core can have one.
 *
 *     LAWS_RUNS=10000000 npx vitest run --config test/vitest.config.ts test/rebuild/laws-soak
 *
 * `npm test` tries one tenth of the conversations, which `SAMPLE_SEED` chooses (`sample.ts`); `LAWS_SEED`
 * makes other conversations. A failure is made small and printed, with the seed that shows it again.
 */
import fc from 'fast-check'
import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { Item } from '../../../src/core/item.ts'
import type { TransformResult } from '../../../src/context/transform-interface.ts'
import { history } from '../../support/conversations.ts'
import {
  deepFreeze,
  expectAnswered,
  expectBothSides,
  expectComplete,
  expectHonest,
  expectIdempotent,
  expectLawful,
  expectPure,
  expectSteady,
  expectWaiting,
} from '../../support/laws.ts'
import { expectAccepted } from '../../support/sent-laws.ts'
import { isSampled } from '../../support/sample.ts'
import { epochOf, givenTo, TRANSFORMS, WHOLE_PLANS, type Plan, type Subject } from './subjects.ts'
import { numberOfRuns } from '../../support/number-of-runs.ts'

const PARTS = 4
const RUNS = Math.ceil(numberOfRuns(100_000).numRuns / PARTS)
const SEED = Number(process.env['LAWS_SEED'] ?? 1)
const BATCH = 500
/** A run tries one of so many shares, unless it was asked for a number. */
const SHARES = process.env['LAWS_RUNS'] === undefined ? 10 : 1

/** Each conversation has its turn with some of the settings, and with some of what is dear to ask. */
const SETTINGS = 24
const TURNS = 12

/** The same transform with other settings begins with the same word. */
const KINDS = [...Map.groupBy(TRANSFORMS, ({ name }) => name.split(' ', 1)[0]).values()]

/** `part` counts from 0. */
export function soak(part: number): void {
  const all = Array.from({ length: Math.ceil(RUNS / BATCH) }, (_, batch) => batch)
  const batches = all
    .filter((batch) => isSampled(batch, SHARES))
    .map((batch) => ({ batch, numRuns: Math.min(BATCH, RUNS - batch * BATCH) }))
  const count = batches.reduce((sum, { numRuns }) => sum + numRuns, 0)
  test(
    `${count} conversations keep all laws, part ${part + 1} of ${PARTS}`,
    async () => {
      let seen = 0
      for (const { batch, numRuns } of batches) {
        fc.assert(keepsLaws, { numRuns, seed: SEED + batch * PARTS + part })
        seen += numRuns
        if (seen % 100_000 === 0) process.stdout.write(`${seen} conversations keep all laws\n`)
        // Lets the runner breathe, and what was made be forgotten.
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
  else if (turn === 1) expectTwiceTheSame(items, subjects, plans)
  else if (turn < 4) expectAllSteady(before, items, subjects, plans)
  else if (turn < 6) expectAllDone(items, subjects, plans)
})

type Subjects = readonly Subject[]
type Plans = readonly Plan[]

function expectAll(items: readonly Item[], subjects: Subjects, plans: Plans): void {
  for (const subject of subjects) {
    const given = givenTo(subject, items)
    const step = subject.transform.run(given)
    expectHonest(given, step)
    expectKept(given, step, subject)
    if (subject.mends === true) expectWaiting(items, step.items)
    if (subject.stubs === true) expectAnswered(items, step)
  }
  for (const plan of plans) {
    const step = plan.run(items)
    expectHonest(items, step, true)
    expectKept(items, step, plan)
  }
}

function expectKept(
  items: readonly Item[],
  step: TransformResult,
  { hearsBothSides = true }: Pick<Subject, 'hearsBothSides'>,
): void {
  expectComplete(items, step.items)
  if (hearsBothSides) expectBothSides(items, step.items)
  expectLawful(step.items)
}

/** Even of what is not in order, as a transform is not given it. */
function expectAllDone(items: readonly Item[], subjects: Subjects, plans: Plans): void {
  for (const { transform } of subjects) expectIdempotent(transform.run, items)
  for (const { run } of plans) expectIdempotent(run, items)
}

function expectTwiceTheSame(items: readonly Item[], subjects: Subjects, plans: Plans): void {
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
    if (epochOf(subject, before) !== epochOf(subject, items)) continue
    const { run } = subject.transform
    expectSteady(run(givenTo(subject, before)).items, run(givenTo(subject, items)).items)
  }
  for (const { run, epoch } of plans) {
    if (epoch(before) === epoch(items)) expectSteady(run(before).items, run(items).items)
  }
}
