/** The figures for a person at a terminal: a table, and a bar for what each policy costs. */
import type { SimulationNumbers, PolicyNumbers } from './results-as-numbers.ts'

/** `width` is how many columns there are. */
export function renderTerminalReport(
  figures: SimulationNumbers,
  title: string,
  width: number,
): string {
  const { policies, basis } = figures
  return [
    ...wrapped(`${title} ${basis}`, Math.min(width, 100)),
    '',
    ...table(figures),
    '',
    ...wrapped(LEGEND, Math.min(width, 100)),
    '',
    'Cost, with full replay at 1:',
    ...bars(policies, width),
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
  { head: 'sent', cell: ({ sent }, conversations) => size(sent / conversations) },
  { head: 'cached', cell: ({ cached, sent }) => percent(cached, sent) },
  { head: 'breaks', cell: ({ breaks, requests }) => percent(breaks, requests) },
  { head: 'unforeseen', cell: (row) => `${row.breaks_outside_steps ?? '–'}` },
  { head: 'reasoning', cell: ({ reasoning_kept: kept }) => percent(kept, 1) },
  { head: 'invalid', cell: (row) => percent(row.reasoning_invalid, row.reasoning_sent) },
  { head: 'largest', cell: ({ largest }) => size(largest) },
]

function table({ policies, conversations }: SimulationNumbers): readonly string[] {
  const columns = [
    ['policy', ...policies.map(({ policy }) => policy)],
    ...COLUMNS.map(({ head, cell }) => [head, ...policies.map((row) => cell(row, conversations))]),
  ]
  const widths = columns.map((cells) => Math.max(...cells.map(({ length }) => length)))
  return [-1, ...policies.keys()].map((row) =>
    columns
      .map((cells, at) => {
        const [cell = '', columnWidth = 0] = [cells[row + 1], widths[at]]
        return at === 0 ? cell.padEnd(columnWidth) : cell.padStart(columnWidth)
      })
      .join('  ')
      .trimEnd(),
  )
}

/** The longest is as long as there is room. */
function bars(policies: readonly PolicyNumbers[], width: number): readonly string[] {
  const longestName = Math.max(...policies.map(({ policy }) => policy.length))
  const most = Math.max(1, ...policies.map(({ of_replay: cost }) => cost))
  const room = Math.max(10, Math.min(width, 100) - longestName - 8)
  return policies.map(({ policy, of_replay: cost }) => {
    const length = Math.max(1, Math.round((cost / most) * room))
    return `${policy.padEnd(longestName)}  ${'█'.repeat(length)} ${cost.toFixed(2)}`
  })
}

/** Characters, as one says it of bytes. */
function size(chars: number): string {
  if (chars >= 1e6) return `${(chars / 1e6).toFixed(1)} MB`
  return chars >= 1000 ? `${Math.round(chars / 1000)} KB` : `${Math.round(chars)} B`
}

function percent(part: number, whole: number): string {
  return `${(whole === 0 ? 0 : (part / whole) * 100).toFixed(1)} %`
}

function wrapped(text: string, width: number): readonly string[] {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const line = lines.at(-1)
    if (line !== undefined && line.length + 1 + word.length <= width)
      lines[lines.length - 1] = `${line} ${word}`
    else lines.push(word)
  }
  return lines
}
