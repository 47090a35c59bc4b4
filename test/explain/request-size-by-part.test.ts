/** The parts of a request describe what is sent. */
import { expect, test } from 'vitest'
import { ZERO_SIZE, addSizes, measureItem } from '../../src/explain/item-size.ts'
import {
  measureRequestParts,
  type RequestSizeInput,
} from '../../src/explain/request-size-by-part.ts'
import { talk } from '../support/talk.ts'

test('C45: items that the wire cannot encode are not counted', () => {
  const items = talk`
    user: Hi
    thinks: long thoughts
    assistant: Hello
    user: And now?
  `
  const made = (droppedPlaces: RequestSizeInput['droppedPlaces']): RequestSizeInput => ({
    items,
    weights: items.map(measureItem),
    places: [0, 1, 2, 3],
    droppedPlaces,
    params: { instructions: null, tools: [] },
    total: { bytes: 9000, tokens: 900 },
    correction: 1,
  })
  const { parts: said } = measureRequestParts(made(new Set([1])))
  const others = items.filter((_, at) => at !== 1)
  const { parts: without } = measureRequestParts({
    ...made(new Set()),
    items: others,
    weights: others.map(measureItem),
    places: [0, 2, 3],
  })
  expect(said).toEqual(without)
  expect(said.history).not.toEqual(ZERO_SIZE)
  expect(measureRequestParts(made(new Set())).parts.history.bytes).toBeGreaterThan(
    said.history.bytes,
  )
})

test('C45: the parts and the overhead add up to the total for any correction factor', () => {
  const items = talk`
    user: Hi
    assistant: Hello
    user: And now?
  `
  for (const correction of [0.75, 1, 2]) {
    for (const total of [
      { bytes: 9000, tokens: 900 },
      { bytes: 20, tokens: 3 },
    ]) {
      const { parts } = measureRequestParts({
        items,
        weights: items.map(measureItem),
        places: [0, 1, 2],
        droppedPlaces: new Set(),
        params: { instructions: 'Be brief.', tools: [] },
        total,
        correction,
      })
      expect(Object.values(parts).reduce(addSizes)).toEqual(total)
    }
  }
})
