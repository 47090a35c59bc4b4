/** The parts of a request are those of what is sent. */
import { expect, test } from 'vitest'
import { NO_WEIGHT, weightOf } from '../../src/explain/weight-of.ts'
import { partsOf, type Made } from '../../src/explain/parts-of.ts'
import { talk } from '../support/talk.ts'

test('C45: what a wire has no word for is no part of it', () => {
  const items = talk`
    user: Hi
    thinks: long thoughts
    assistant: Hello
    user: And now?
  `
  const made = (unsaid: Made['unsaid']): Made => ({
    items,
    weights: items.map(weightOf),
    places: [0, 1, 2, 3],
    unsaid,
    params: { instructions: null, tools: [] },
    total: { bytes: 9000, tokens: 900 },
    correction: 1,
  })
  const said = partsOf(made(new Set([1])))
  const others = items.filter((_, at) => at !== 1)
  const without = partsOf({
    ...made(new Set()),
    items: others,
    weights: others.map(weightOf),
    places: [0, 2, 3],
  })
  expect(said).toEqual(without)
  expect(said.history).not.toEqual(NO_WEIGHT)
  expect(partsOf(made(new Set())).history.bytes).toBeGreaterThan(said.history.bytes)
})
