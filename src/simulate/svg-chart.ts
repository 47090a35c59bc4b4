/**
 * Renders the results of a simulation as an SVG chart with a bar per policy: its cost relative to
 * full replay, and the part of the cost that is paid for cached input. The SVG loads no other files
 * and is readable on light and dark backgrounds.
 */
import type { SimulationNumbers, PolicyNumbers } from './convert-results-to-numbers.ts'

const WIDTH = 760
const LEFT = 130
const RIGHT = 56
const TOP = 62
const ROW = 34
const BAR = 20

export function renderSvgChart({ policies, prices }: SimulationNumbers): string {
  const maxCost = Math.max(1, ...policies.map(({ of_replay: cost }) => cost))
  const scale = (WIDTH - LEFT - RIGHT) / maxCost
  const bottom = TOP + policies.length * ROW
  const one = round(LEFT + scale)
  const descriptions = policies.map(({ policy, of_replay: cost }) => `${policy} ${cost.toFixed(2)}`)
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${bottom + 30}" role="img" aria-labelledby="title what">
<title id="title">What a policy costs, with full replay at 1</title>
<desc id="what">${escapeXml(descriptions.join(', '))}</desc>
<style>${STYLE}</style>
<text class="title" x="${LEFT}" y="20">What a policy costs, with full replay at 1</text>
${renderLegend([
  ['full', 'read anew'],
  ['cached', `found in the cache, at ${prices.cached} of the price`],
])}
${policies.map((row, index) => renderBar(row, TOP + index * ROW, scale, prices.cached)).join('\n')}
<line class="one" x1="${one}" y1="${TOP - 6}" x2="${one}" y2="${bottom}"/>
<text class="small" x="${one}" y="${bottom + 16}" text-anchor="middle">full replay</text>
</svg>
`
}

/** CSS of the chart; both colors have enough contrast to white and to black. */
const STYLE = `
text { font: 14px system-ui, -apple-system, "Segoe UI", sans-serif; fill: #1f2328 }
.title { font-weight: 600 }
.small { font-size: 12px; fill: #59636e }
.full { fill: #3b6fd4 }
.cached { fill: #9dbcf2 }
.one { stroke: #59636e; stroke-dasharray: 3 3 }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3 }
.small { fill: #9198a1 }
.full { fill: #5b8def }
.cached { fill: #2f4a7d }
.one { stroke: #9198a1 }
}
`

function renderLegend(entries: readonly (readonly [string, string])[]): string {
  let x = LEFT
  const parts = entries.map(([name, label]) => {
    const part = `<rect class="${name}" x="${x}" y="33" width="12" height="12" rx="2"/><text class="small" x="${x + 18}" y="43">${label}</text>`
    x += 18 + label.length * 6.5 + 24
    return part
  })
  return parts.join('')
}

function renderBar(row: PolicyNumbers, y: number, scale: number, cachedPrice: number): string {
  const { policy, of_replay: cost, cost: chars, cached } = row
  const cachedCost = chars === 0 ? 0 : (cost * cachedPrice * cached) / chars
  const [full, total] = [(cost - cachedCost) * scale, cost * scale]
  const middle = y + BAR / 2 + 5
  return [
    `<text x="${LEFT - 10}" y="${middle}" text-anchor="end">${escapeXml(policy)}</text>`,
    `<rect class="full" x="${LEFT}" y="${y}" width="${round(full)}" height="${BAR}"/>`,
    `<rect class="cached" x="${round(LEFT + full)}" y="${y}" width="${round(total - full)}" height="${BAR}"/>`,
    `<text x="${round(LEFT + total + 8)}" y="${middle}">${cost.toFixed(2)}</text>`,
  ].join('')
}

function round(pixels: number): number {
  return Math.round(pixels * 10) / 10
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}
