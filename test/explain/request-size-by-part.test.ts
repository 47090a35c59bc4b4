/** The parts of a request describe what is sent. */
import { expect, test } from 'vitest'
import { ZERO_SIZE, addSizes, measureItem } from '../../src/explain/item-size.ts'
import {
  measureRequestParts,
  type RequestSizeInput,
} from '../../src/explain/request-size-by-part.ts'
import { talk } from '../support/talk.ts'

test('C45: explain counts items that the encoder drops in no part of a request', () => {
  const items = talk`
    user: Hi
    thinks: long thoughts
    assistant: Hello
    user: And now?
  `
  const made = (droppedPlaces: RequestSizeInput['droppedPositions']): RequestSizeInput => ({
    sentItems: items,
    sizes: items.map(measureItem),
    originalPositions: [0, 1, 2, 3],
    droppedPositions: droppedPlaces,
    params: { instructions: null, tools: [] },
    bodySize: { bytes: 9000, tokens: 900 },
    correction: 1,
  })
  const { parts: said } = measureRequestParts(made(new Set([1])))
  const others = items.filter((_, at) => at !== 1)
  const { parts: without } = measureRequestParts({
    ...made(new Set()),
    sentItems: others,
    sizes: others.map(measureItem),
    originalPositions: [0, 2, 3],
  })
  expect(said).toEqual(without)
  expect(said.history).not.toEqual(ZERO_SIZE)
  expect(measureRequestParts(made(new Set())).parts.history.bytes).toBeGreaterThan(
    said.history.bytes,
  )
})

test('C45: the sizes of the parts of a request add up to its total size, for any correction factor', () => {
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
        sentItems: items,
        sizes: items.map(measureItem),
        originalPositions: [0, 1, 2],
        droppedPositions: new Set(),
        params: { instructions: 'Be brief.', tools: [] },
        bodySize: total,
        correction,
      })
      expect(Object.values(parts).reduce(addSizes)).toEqual(total)
    }
  }
})
