/** Collects the results of all parts, and renders them as tables. */

export interface Result {
  /** What was checked, the same in every column. */
  readonly row: string
  /** Where, for example `0.12.4 chat`. */
  readonly column: string
  /** The upstream's API. */
  readonly wire: string
  readonly isGood: boolean
  readonly detail: string
}

export interface Report {
  readonly add: (result: Result) => void
  readonly results: () => readonly Result[]
}

export function createReport(print: (text: string) => void): Report {
  const results: Result[] = []
  return {
    add(result) {
      results.push(result)
      const { row, column, wire, isGood, detail } = result
      const found = isGood ? '' : `: ${detail.replaceAll(/\s*\n\s*/g, ' | ')}`
      print(`${isGood ? 'ok  ' : 'FAIL'} ${column} (${wire}): ${row}${found}`)
    },
    results: () => results,
  }
}

/** Renders results as a Markdown table; a cell is good if all of its results are. */
export function renderResults(
  heading: string,
  results: readonly Result[],
  words: { readonly good: string; readonly bad: string },
): string {
  const rows = [...new Set(results.map(({ row }) => row))]
  const columns = [...new Set(results.map(({ column }) => column))]
  const cell = (row: string, column: string): string => {
    const own = results.filter((one) => one.row === row && one.column === column)
    if (own.length === 0) return '–'
    const bad = own.filter(({ isGood }) => !isGood)
    if (bad.length === 0) return words.good
    const wires = bad.length < own.length ? ` (${bad.map(({ wire }) => wire).join(', ')})` : ''
    return `**${words.bad}**${wires}`
  }
  return [
    `| ${[heading, ...columns].join(' | ')} |`,
    `|${'---|'.repeat(columns.length + 1)}`,
    ...rows.map((row) => `| ${[row, ...columns.map((column) => cell(row, column))].join(' | ')} |`),
  ].join('\n')
}
