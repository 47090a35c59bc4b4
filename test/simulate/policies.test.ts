/** Checks the documented properties of each policy on reproducible conversations. */
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import {
  CHART,
  COMPARED,
  figuresFor,
  imageFigures,
  storedFigures,
  WITH_IMAGES,
} from '../../.scripts/policy-figures.ts'
import { POLICY_NAMES } from '../../src/core/context-policy.ts'
import { renderSvgChart } from '../../src/simulate/svg-chart.ts'
import type { SimulationNumbers } from '../../src/simulate/convert-results-to-numbers.ts'

const stored = storedFigures()
const seeds = Array.from({ length: COMPARED }, (_, seed) => seed)
const fresh = { bound: figuresFor(seeds, true), unbound: figuresFor(seeds, false) }

const of = ({ policies }: SimulationNumbers, name: string) => {
  const found = policies.find(({ policy }) => policy === name)
  if (found === undefined) throw new Error(`${name} was not played.`)
  return found
}

const MOST = { replay: 1, retain: 0.75, lean: 0.4, capped: 0.6 }

describe.each([
  ['new conversations', fresh.bound],
  ['the 20 conversations of the README', stored.bound],
])('costs of the policies in %s (C145)', (_, figures) => {
  test.each(POLICY_NAMES)(
    'the policy %s costs at most its documented share of full replay',
    (name) => {
      expect(of(figures, name).of_replay).toBeLessThanOrEqual(MOST[name])
    },
  )

  test.each(POLICY_NAMES)(
    'the policy %s changes what was already sent only when it moves its cutoff',
    (name) => {
      expect(of(figures, name).breaks_outside_steps).toBe(0)
    },
  )

  test.each(POLICY_NAMES)('the policy %s sends no reasoning whose prefix has changed', (name) => {
    expect(of(figures, name).reasoning_sent).toBeGreaterThan(0)
    expect(of(figures, name).reasoning_invalid).toBe(0)
  })

  test('the policies replay and capped never change what was already sent, and send all reasoning', () => {
    for (const name of ['replay', 'capped']) {
      expect(of(figures, name)).toMatchObject({ breaks: 0, reasoning_kept: 1 })
    }
  })

  test('a policy that moves its cutoff in every round loses the cached prefix and costs more than replay', () => {
    for (const name of ['sliding-window', 'trim-by-age']) {
      expect(of(figures, name).of_replay).toBeGreaterThan(1)
      expect(of(figures, name).breaks_outside_steps).toBeGreaterThan(0)
      expect(of(figures, name).reasoning_invalid).toBeGreaterThan(0)
    }
  })
})

test.each(POLICY_NAMES)(
  'the policy %s costs no more than replay if the model accepts reasoning after any prefix',
  (name) => {
    expect(of(fresh.unbound, name).of_replay).toBeLessThanOrEqual(1)
    expect(of(stored.unbound, name).of_replay).toBeLessThanOrEqual(1)
  },
)

describe.each(Object.entries(WITH_IMAGES))(
  'costs of the policies in a conversation with images: %s',
  (kind, making) => {
    const bound = imageFigures(making, true)
    const unbound = imageFigures(making, false)

    test.each(Object.entries({ bound, unbound }))(
      'no policy costs more than replay in a conversation with images (reasoning %s to its prefix)',
      (binding, figures) => {
        for (const name of POLICY_NAMES) {
          expect(of(figures, name).of_replay, name).toBeLessThanOrEqual(1)
          expect(of(figures, name).breaks_outside_steps, name).toBe(0)
          expect(of(figures, name).reasoning_invalid, name).toBe(0)
          expect(stored.images[kind]?.[binding as 'bound' | 'unbound'][name]).toBeCloseTo(
            of(figures, name).of_replay,
            2,
          )
        }
      },
    )
  },
)

describe('numbers in the README that `npm run docs:policies` writes', () => {
  test.each(['bound', 'unbound'] as const)(
    "the README's numbers about policies are those of the current code (reasoning %s to its prefix)",
    (kind) => {
      expect(stored[kind].conversations).toBe(20)
      for (const { policy, by_conversation: now } of fresh[kind].policies) {
        const { by_conversation: then } = of(stored[kind], policy)
        for (const [at, { cost, largest, breaks, reasoning_sent: reasoning }] of now.entries()) {
          // The chart does not show small changes of notes.
          expect(cost / (then[at]?.cost ?? 0), policy).toBeCloseTo(1, 2)
          expect(largest / (then[at]?.largest ?? 0), policy).toBeCloseTo(1, 2)
          expect({ breaks, reasoning }, policy).toEqual({
            breaks: then[at]?.breaks,
            reasoning: then[at]?.reasoning_sent,
          })
        }
      }
    },
  )

  test('the stored SVG chart of policy costs shows the stored numbers', () => {
    expect(readFileSync(CHART, 'utf8')).toBe(renderSvgChart(stored.bound))
  })
})
