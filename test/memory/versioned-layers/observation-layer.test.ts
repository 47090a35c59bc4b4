import { describe, expect, test } from 'vitest'
import { estimateTokens } from '../../../src/core/text/estimate-tokens.ts'
import {
  parseObservations,
  renderObservations,
} from '../../../src/memory/versioned-layers/observation-layer.ts'

describe('observations of a conversation by a model (C41)', () => {
  test("observations are read only from lines of a model's answer that begin with `-`, `*` or `•`", () => {
    const text =
      'Here you are:\n- likes tea\n  * lives in Chur\n\nNONE\n- NONE\n-no point\n- likes tea'
    expect(parseObservations(text, [])).toEqual(['likes tea', 'lives in Chur'])
    expect(parseObservations(text, ['likes tea'])).toEqual(['lives in Chur'])
    expect(parseObservations('Processed 5 items.', [])).toEqual([])
  })

  test('at most 8 observations of at most 400 characters are read from one answer', () => {
    const many = Array.from({ length: 50 }, (_, at) => `- point ${at} ${'x'.repeat(1000)}`)
    const points = parseObservations(many.join('\n'), [])
    expect(points).toHaveLength(8)
    expect(Math.max(...points.map(({ length }) => length))).toBeLessThan(410)
  })

  test('observations are rendered latest first, and the oldest are omitted if they do not fit', () => {
    const points = ['old', 'newer', 'newest']
    expect(renderObservations(points, 100)).toBe('- newest\n- newer\n- old')
    expect(renderObservations(points, estimateTokens('- newest\n') + 1)).toBe('- newest')
    expect(renderObservations(points, 0)).toBe('')
  })
})
