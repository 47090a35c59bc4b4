/**
 * Renders the results of a simulation for a terminal: a table, and a bar for the cost of each
 * policy.
 */
import type { SimulationNumbers, PolicyNumbers } from './convert-results-to-numbers.ts'

/** Returns the report as text. `width` is the number of terminal columns, e.g. 80. */
export function renderTerminalReport(
  figures: SimulationNumbers,
  title: string,
  width: number,
): string {
  const { policies, basis } = figures
  return [
    ...wrapLines(`${title} ${basis}`, Math.min(width, 100)),
    '',
    ...renderTable(figures),
    '',
    ...wrapLines(LEGEND, Math.min(width, 100)),
    '',
    'Cost, with full replay at 1:',
    ...renderBars(policies, width),
    '',
  ].join('\n')
}

const LEGEND =
  'sent: for one conversation. breaks: requests that do not begin with the one before; unforeseen: how many of them where the policy takes no step. reasoning: how much of it is sent; invalid: what of that cannot be read any more.'

interface Column {
  readonly head: string
  readonly cell: (row: PolicyNumbers, conversations: number) => string
}

const COLUMNS: readonly Column[] = [
  { head: 'sent', cell: ({ sent }, conversations) => formatSize(sent / conversations) },
  { head: 'cached', cell: ({ cached, sent }) => formatPercent(cached, sent) },
  { head: 'breaks', cell: ({ breaks, requests }) => formatPercent(breaks, requests) },
  { head: 'unforeseen', cell: (row) => `${row.breaks_outside_steps ?? '–'}` },
  { head: 'reasoning', cell: ({ reasoning_kept: kept }) => formatPercent(kept, 1) },
  { head: 'invalid', cell: (row) => formatPercent(row.reasoning_invalid, row.reasoning_sent) },
  { head: 'largest', cell: ({ largest }) => formatSize(largest) },
]

function renderTable({ policies, conversations }: SimulationNumbers): readonly string[] {
  const columns = [
    ['policy', ...policies.map(({ policy }) => policy)],
    ...COLUMNS.map(({ head, cell }) => [head, ...policies.map((row) => cell(row, conversations))]),
  ]
  const widths = columns.map((cells) => Math.max(...cells.map(({ length }) => length)))
  return [-1, ...policies.keys()].map((row) =>
    columns
      .map((cells, index) => {
        const [cell = '', columnWidth = 0] = [cells[row + 1], widths[index]]
        return index === 0 ? cell.padEnd(columnWidth) : cell.padStart(columnWidth)
      })
      .join('  ')
      .trimEnd(),
  )
}

/** Renders one bar per policy; the longest bar fills the columns beside the names and costs. */
function renderBars(policies: readonly PolicyNumbers[], width: number): readonly string[] {
  const longestName = Math.max(...policies.map(({ policy }) => policy.length))
  const maxCost = Math.max(1, ...policies.map(({ of_replay: cost }) => cost))
  const maxLength = Math.max(10, Math.min(width, 100) - longestName - 8)
  return policies.map(({ policy, of_replay: cost }) => {
    const length = Math.max(1, Math.round((cost / maxCost) * maxLength))
    return `${policy.padEnd(longestName)}  ${'█'.repeat(length)} ${cost.toFixed(2)}`
  })
}

/** Formats a number of characters with a unit of bytes: 12,345 → `12 KB`. */
function formatSize(chars: number): string {
  if (chars >= 1e6) return `${(chars / 1e6).toFixed(1)} MB`
  return chars >= 1000 ? `${Math.round(chars / 1000)} KB` : `${Math.round(chars)} B`
}

function formatPercent(part: number, total: number): string {
  return `${(total === 0 ? 0 : (part / total) * 100).toFixed(1)} %`
}

function wrapLines(text: string, width: number): readonly string[] {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const line = lines.at(-1)
    if (line !== undefined && line.length + 1 + word.length <= width)
      lines[lines.length - 1] = `${line} ${word}`
    else lines.push(word)
  }
  return lines
}
