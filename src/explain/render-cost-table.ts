/** Renders the cost of a request as a table: a row for the request as it is sent, and one for full replay. */
import type { RequestCost } from './request-cost.ts'

const LABEL_COLUMNS = 14

const COLUMNS = [
  { field: 'new_tokens', title: 'new', width: 14 },
  { field: 'written_tokens', title: 'to the cache', width: 16 },
  { field: 'cached_tokens', title: 'from the cache', width: 18 },
  { field: 'cost', title: 'cost', width: 18 },
] as const

export function renderCostTable({
  prices,
  sent,
  full_replay: replay,
}: RequestCost): readonly string[] {
  const renderRow = (label: string, cells: readonly string[]) =>
    label.padEnd(LABEL_COLUMNS) +
    cells.map((cell, index) => cell.padStart(COLUMNS[index]?.width ?? 0)).join('')
  const formatTokens = (numbers: RequestCost['sent']) =>
    COLUMNS.map(({ field }) => numbers[field].toLocaleString('en-US'))
  return [
    `${'cost'.padEnd(LABEL_COLUMNS)}per token: new ${prices.new}, to the cache ${prices.written}, from the cache ${prices.cached}`,
    renderRow(
      '',
      COLUMNS.map(({ title }) => title),
    ),
    renderRow('sent', formatTokens(sent)),
    renderRow('full replay', formatTokens(replay)),
  ]
}
