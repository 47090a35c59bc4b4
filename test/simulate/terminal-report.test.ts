import { describe, expect, test } from 'vitest'
import { renderSvgChart } from '../../src/simulate/svg-chart.ts'
import type {
  SimulationNumbers,
  PolicyNumbers,
} from '../../src/simulate/convert-results-to-numbers.ts'
import { renderTerminalReport } from '../../src/simulate/terminal-report.ts'

const whole: PolicyNumbers = {
  policy: 'replay',
  of_replay: 1,
  requests: 10,
  sent: 4_000_000,
  cached: 3_000_000,
  cost: 1_300_000,
  breaks: 0,
  breaks_outside_steps: 0,
  reasoning_sent: 100,
  reasoning_kept: 1,
  reasoning_invalid: 0,
  largest: 700_000,
  by_conversation: [],
}
const other: PolicyNumbers = {
  ...whole,
  policy: 'a<b',
  of_replay: 0.5,
  sent: 1_300_000,
  cached: 722_222,
  cost: 650_000,
  breaks: 5,
  breaks_outside_steps: null,
  reasoning_kept: 0.25,
  reasoning_invalid: 50,
  largest: 999,
}
const FIGURES: SimulationNumbers = {
  prices: { written: 1, cached: 0.1 },
  basis: 'Counted so.',
  conversations: 2,
  policies: [whole, other],
}

describe('report of a simulation for the terminal', () => {
  test("the simulation's report has a table and a bar for the cost of each policy", () => {
    expect(renderTerminalReport(FIGURES, 'Two conversations.', 40))
      .toBe(`Two conversations. Counted so.

policy    sent  cached  breaks  unforeseen  reasoning  invalid  largest
replay  2.0 MB  75.0 %   0.0 %           0    100.0 %    0.0 %   700 KB
a<b     650 KB  55.6 %  50.0 %           –     25.0 %   50.0 %    999 B

sent: for one conversation. breaks:
requests that do not begin with the one
before; unforeseen: how many of them
where the policy takes no step.
reasoning: how much of it is sent;
invalid: what of that cannot be read any
more.

Cost, with full replay at 1:
replay  ██████████████████████████ 1.00
a<b     █████████████ 0.50
`)
  })

  test.each([20, 60, 80, 200])(
    "in a terminal of %i columns, but at least 40, no bar of the simulation's report is too long",
    (width) => {
      const lines = renderTerminalReport(FIGURES, 'Two.', width).split('\n')
      const bars = lines.filter((line) => line.includes('█'))
      expect(bars).toHaveLength(2)
      for (const line of bars) expect(line.length).toBeLessThanOrEqual(Math.max(width, 40))
    },
  )
})

describe('SVG chart of the costs of policies', () => {
  const svg = renderSvgChart(FIGURES)

  test('the SVG chart has a bar for each policy, split into input at full price and cached input', () => {
    const widths = [...svg.matchAll(/<rect class="(\w+)"[^>]* width="([\d.]+)" height="20"/g)]
    const [full = 0, cached = 0, otherFull = 0, otherCached = 0] = widths.map(([, , width]) =>
      Number(width),
    )
    expect(widths.map(([, part]) => part)).toEqual(['full', 'cached', 'full', 'cached'])
    expect((otherFull + otherCached) / (full + cached)).toBeCloseTo(0.5, 2)
    // A million at the full price, and three at a tenth.
    expect(cached / full).toBeCloseTo(0.3, 2)
  })

  test('the SVG chart of policy costs is well-formed and describes its content as text', () => {
    expect(svg).toContain('<desc id="what">replay 1.00, a&lt;b 0.50</desc>')
    expect(svg).not.toContain('a<b')
    expect(svg.match(/<svg|<text|<title|<desc|<style/g)?.length).toBe(
      svg.match(/<\/svg|<\/text|<\/title|<\/desc|<\/style/g)?.length,
    )
  })

  test('the SVG chart of policy costs has colors for dark mode and loads no external resources', () => {
    expect(svg).toContain('prefers-color-scheme: dark')
    expect(svg.replace('http://www.w3.org/2000/svg', '')).not.toMatch(/https?:|url\(|@import|href/)
  })
})
