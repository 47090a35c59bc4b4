/** Renders the results of the torture suite as the Markdown table of the README. */
import type { PartResult, TorturePart } from './support/part-interface.ts'

export interface PartReport extends PartResult {
  readonly part: TorturePart
  readonly seconds: number
}

const HEAD = [
  '| part | what happens | tried | lost, leaked or blocked | figures | seconds |',
  '|---|---|---|---|---|--:|',
]

export function renderTable(reports: readonly PartReport[]): string {
  return [...HEAD, ...reports.map(renderRow)].join('\n')
}

function renderRow({ part, tried, faults, figures = '', seconds }: PartReport): string {
  const found = Object.entries(faults.counts()).map(([kind, count]) => `${count} ${kind}`)
  const cells = [part.name, part.description, tried, found.join(', '), figures]
  return `| ${cells.join(' | ')} | ${Math.round(seconds)} |`
}

/** Replaces the rows of these parts in the table between the two comments of the README. `names`: all parts, in order. */
export function withRows(
  readme: string,
  reports: readonly PartReport[],
  names: readonly string[],
): string {
  return readme.replace(
    /(<!-- torture -->\n)([^]*?)(<!-- \/torture -->)/,
    (_, begin: string, table: string, end: string) => {
      const rows = names.flatMap((name) => {
        const report = reports.find(({ part }) => part.name === name)
        const known = table.split('\n').find((line) => line.startsWith(`| ${name} |`))
        return report === undefined ? (known ?? []) : renderRow(report)
      })
      return `${begin}\n${[...HEAD, ...rows].join('\n')}\n\n${end}`
    },
  )
}
