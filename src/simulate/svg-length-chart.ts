/**
 * Renders the cost of a policy over the length of a conversation as an SVG chart with a line for each size of tool
 * outputs. Full replay is a dashed line at 1. The SVG loads no other files and is readable on light and dark
 * backgrounds.
 */

export interface LengthChartLine {
  /** The text at the end of the line, e.g. `2.5 KB`. */
  readonly label: string
  /** The cost relative to full replay after each turn. */
  readonly costs: readonly number[]
}

const WIDTH = 760
const HEIGHT = 330
const LEFT = 60
const RIGHT = 90
const TOP = 50
const BOTTOM = 50
const MAX_COST = 1.2

export function renderLengthChart(title: string, lines: readonly LengthChartLine[]): string {
  const turns = Math.max(2, ...lines.map(({ costs }) => costs.length))
  const placeX = (turn: number) => round(LEFT + ((turn - 1) / (turns - 1)) * (WIDTH - LEFT - RIGHT))
  const placeY = (cost: number) =>
    round(TOP + (1 - Math.min(cost, MAX_COST) / MAX_COST) * (HEIGHT - TOP - BOTTOM))
  const description = lines.map(({ label, costs }) => `${label}: ${(costs.at(-1) ?? 1).toFixed(2)}`)
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-labelledby="title what">
<title id="title">${title}</title>
<desc id="what">After ${turns} turns: ${description.join(', ')}</desc>
<style>${STYLE}</style>
<text class="title" x="${LEFT}" y="24">${title}</text>
${[0, 0.25, 0.5, 0.75, 1].map((cost) => renderCostMark(cost, placeY(cost))).join('\n')}
${listTurnMarks(turns)
  .map((turn) => renderText(String(turn), placeX(turn), HEIGHT - BOTTOM + 20, 'middle'))
  .join('\n')}
${renderText('turns', WIDTH - RIGHT, HEIGHT - 10, 'end')}
${lines.map((line) => renderLine(line, placeX, placeY)).join('\n')}
</svg>
`
}

const STYLE = `
text { font: 14px system-ui, -apple-system, "Segoe UI", sans-serif; fill: #1f2328 }
.title { font-weight: 600 }
.small { font-size: 12px; fill: #59636e }
.cost { fill: none; stroke: #3b6fd4; stroke-width: 2 }
.grid { stroke: #d1d9e0 }
.one { stroke: #59636e; stroke-dasharray: 3 3 }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3 }
.small { fill: #9198a1 }
.cost { stroke: #5b8def }
.grid { stroke: #3d444d }
.one { stroke: #9198a1 }
}
`

function renderCostMark(cost: number, y: number): string {
  const label = renderText(cost.toFixed(2), LEFT - 8, y + 4, 'end')
  const style = cost === 1 ? 'one' : 'grid'
  return `<line class="${style}" x1="${LEFT}" y1="${y}" x2="${WIDTH - RIGHT}" y2="${y}"/>${label}`
}

/** Lists the turns with a number below the chart: the first, and about every tenth part of the length. */
function listTurnMarks(turns: number): readonly number[] {
  const step = Math.max(1, Math.round(turns / 100) * 10)
  return [1, ...Array.from({ length: Math.floor(turns / step) }, (_, index) => (index + 1) * step)]
}

function renderLine(
  { label, costs }: LengthChartLine,
  placeX: (turn: number) => number,
  placeY: (cost: number) => number,
): string {
  const points = costs.map((cost, index) => `${placeX(index + 1)},${placeY(cost)}`)
  const end = renderText(label, placeX(costs.length) + 8, placeY(costs.at(-1) ?? 1) + 4, 'start')
  return `<polyline class="cost" points="${points.join(' ')}"/>${end}`
}

function renderText(
  text: string,
  x: number,
  y: number,
  anchor: 'start' | 'middle' | 'end',
): string {
  return `<text class="small" x="${round(x)}" y="${round(y)}" text-anchor="${anchor}">${text}</text>`
}

function round(pixels: number): number {
  return Math.round(pixels * 10) / 10
}
