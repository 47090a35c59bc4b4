/** Checks the costs that `explain` shows for a request and for full replay (C159). */
import { describe, expect, test } from 'vitest'
import type { ExplanationSummary } from '../../src/explain/build-explanation.ts'
import type { CachePrediction } from '../../src/explain/cache-miss/predict-cache-hit.ts'
import { renderTextReport } from '../../src/explain/render-text-report.ts'
import { estimateRequestCost } from '../../src/explain/request-cost.ts'

const createSummary = (sent: number, fullReplay: number, wire = 'responses') =>
  ({
    upstream: { wire },
    sent: { estimated_tokens: sent },
    fullReplay: { estimated_tokens: fullReplay },
  }) as unknown as ExplanationSummary

const createPrediction = (
  cached: number,
  who: CachePrediction['cause']['who'],
): CachePrediction => ({
  predicted_cached_tokens: cached,
  cause: { who, sentence: '' },
})

describe('cost of a request compared with full replay (C159)', () => {
  test('a cut that loses the cached prefix costs more than full replay would have cost in this request', () => {
    const cost = estimateRequestCost(
      createSummary(6757, 13_938, 'anthropic'),
      createPrediction(1100, 'gateway'),
      createSummary(13_000, 13_000),
    )
    expect(cost).toEqual({
      prices: { new: 1, written: 1.25, cached: 0.1 },
      sent: { new_tokens: 5657, written_tokens: 5657, cached_tokens: 1100, cost: 7181 },
      full_replay: { new_tokens: 938, written_tokens: 938, cached_tokens: 13_000, cost: 2473 },
    })
  })

  test('nothing of the first request is cached, and short requests are not written to the cache', () => {
    const first = estimateRequestCost(createSummary(900, 900), createPrediction(0, 'nobody'), null)
    const expected = { new_tokens: 900, written_tokens: 0, cached_tokens: 0, cost: 900 }
    expect(first).toMatchObject({ sent: expected, full_replay: expected })
  })

  test('if the client changes the beginning, full replay loses the cached prefix, too', () => {
    const cost = estimateRequestCost(
      createSummary(5000, 9000),
      createPrediction(2000, 'client'),
      createSummary(4000, 8000),
    )
    expect(cost?.full_replay).toMatchObject({ cached_tokens: 2000, cost: 7200 })
  })

  test('without the previous request the cost is unknown', () => {
    const now = createSummary(5000, 9000)
    expect(estimateRequestCost(now, createPrediction(0, 'nobody'), undefined)).toBeNull()
  })

  test('the text report shows new, written and cached tokens and the cost of both', () => {
    const cost = estimateRequestCost(
      createSummary(6757, 13_938, 'anthropic'),
      createPrediction(1100, 'gateway'),
      createSummary(13_000, 13_000),
    )
    const lines = renderTextReport({ cost }).split('\n')
    const start = lines.findIndex((line) => line.startsWith('cost'))
    expect(lines.slice(start, start + 4).join('\n')).toMatchInlineSnapshot(`
      "cost          per token: new 1, to the cache 1.25, from the cache 0.1
                               new    to the cache    from the cache              cost
      sent                   5,657           5,657             1,100             7,181
      full replay              938             938            13,000             2,473"
    `)
  })
})
