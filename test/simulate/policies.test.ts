/** What is promised of each policy, over the conversations that anybody can make again. */
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
import type { SimulationNumbers } from '../../src/simulate/results-as-numbers.ts'

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
  ['those played now', fresh.bound],
  ['the twenty of the README', stored.bound],
])('C145: of %s', (_, figures) => {
  test.each(POLICY_NAMES)('%s costs no more than is promised', (name) => {
    expect(of(figures, name).of_replay).toBeLessThanOrEqual(MOST[name])
  })

  test.each(POLICY_NAMES)('%s breaks no prefix outside a step', (name) => {
    expect(of(figures, name).breaks_outside_steps).toBe(0)
  })

  test.each(POLICY_NAMES)('%s sends no reasoning that it has made invalid', (name) => {
    expect(of(figures, name).reasoning_sent).toBeGreaterThan(0)
    expect(of(figures, name).reasoning_invalid).toBe(0)
  })

  test('replay and capped never break a prefix, and send all reasoning', () => {
    for (const name of ['replay', 'capped']) {
      expect(of(figures, name)).toMatchObject({ breaks: 0, reasoning_kept: 1 })
    }
  })

  test('a border that moves with every turn is found out', () => {
    for (const name of ['sliding-window', 'trim-by-age']) {
      expect(of(figures, name).of_replay).toBeGreaterThan(1)
      expect(of(figures, name).breaks_outside_steps).toBeGreaterThan(0)
      expect(of(figures, name).reasoning_invalid).toBeGreaterThan(0)
    }
  })
})

test.each(POLICY_NAMES)(
  '%s costs no more than full replay where reasoning is not bound',
  (name) => {
    expect(of(fresh.unbound, name).of_replay).toBeLessThanOrEqual(1)
    expect(of(stored.unbound, name).of_replay).toBeLessThanOrEqual(1)
  },
)

describe.each(Object.entries(WITH_IMAGES))('with images, %s', (kind, making) => {
  const bound = imageFigures(making, true)
  const unbound = imageFigures(making, false)

  test.each(Object.entries({ bound, unbound }))(
    'none costs more than replay (%s)',
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
})

describe('the figures of the README; `npm run docs:policies` writes them', () => {
  test.each(['bound', 'unbound'] as const)('are those of the code (%s)', (kind) => {
    expect(stored[kind].conversations).toBe(20)
    for (const { policy, by_conversation: now } of fresh[kind].policies) {
      const { by_conversation: then } = of(stored[kind], policy)
      for (const [at, { cost, largest, breaks, reasoning_sent: reasoning }] of now.entries()) {
        // A word more or less in a note is nothing that is shown.
        expect(cost / (then[at]?.cost ?? 0), policy).toBeCloseTo(1, 2)
        expect(largest / (then[at]?.largest ?? 0), policy).toBeCloseTo(1, 2)
        expect({ breaks, reasoning }, policy).toEqual({
          breaks: then[at]?.breaks,
          reasoning: then[at]?.reasoning_sent,
        })
      }
    }
  })

  test('are what the chart shows', () => {
    expect(readFileSync(CHART, 'utf8')).toBe(renderSvgChart(stored.bound))
  })
})
