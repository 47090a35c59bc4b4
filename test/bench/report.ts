/** Writes the Markdown table: one row per figure, one column per subject, goals with ✓ or ✗. */
import type { Figure, Sample } from './figures.ts'
import { hasProc } from './machine.ts'
import { keyOf } from './measure.ts'
import type { Results } from './measure.ts'
import type { Scenario } from './scenarios.ts'
import { titleOf } from './subjects.ts'
import type { StartedSubjects, SubjectName } from './subjects.ts'

export interface Report {
  readonly results: Results
  readonly cast: StartedSubjects
  readonly rounds: number
  readonly syncMs: number
}

export function report({ results, cast, rounds, syncMs }: Report): string {
  const columns = cast.subjects.map(({ name }) => name)
  const rows = [...results.samples].flatMap(([scenario, samples]) =>
    scenario.figures.map((figure) => row({ scenario, figure, samples, columns, results })),
  )
  const head = ['scenario', 'figure', ...columns.map(titleOf), 'target']
  return [
    line(head),
    line(head.map((_, at) => (at < 2 ? '---' : '--:'))),
    ...rows.map(line),
    '',
    ...remarks({ results, cast, rounds, syncMs }),
  ].join('\n')
}

/** True if every subject except the peer ran and answered correctly. */
export function isSound({ results, cast }: Pick<Report, 'results' | 'cast'>): boolean {
  const names = [...cast.missing.map(({ name }) => name), ...results.wrong.keys()]
  return names.every((name) => name.endsWith('portkey'))
}

interface Cells {
  readonly scenario: Scenario
  readonly figure: Figure
  readonly samples: ReadonlyMap<SubjectName, readonly Sample[]>
  readonly columns: readonly SubjectName[]
  readonly results: Results
}

function row(cells: Cells): readonly string[] {
  const { scenario, figure, columns } = cells
  const texts = columns.map((name) => cell(cells, name))
  return [scenario.name, figure.label, ...texts, targets(cells)]
}

function cell({ scenario, figure, samples, results }: Cells, name: SubjectName): string {
  // Wrong answers have no figures.
  if (results.wrong.has(keyOf(scenario, name))) return 'wrong'
  const values = valuesOf(figure, samples.get(name))
  if (values.every((value) => value === null)) return '–'
  const baseName = figure.as === 'ratio' ? 'floor' : 'direct'
  const base = valuesOf(figure, samples.get(baseName))
  if (name === baseName || (figure.as === 'ratio' && name === 'direct')) {
    return `${values.map(amount).join(' / ')} ${figure.unit}`
  }
  if (figure.as === 'ratio') return times(ratio(values[0], base[0]))
  const added = values.map((value, at) => minus(value, base[at]))
  return `${added.map((value) => (value === null ? '–' : `+${amount(value)}`)).join(' / ')} ms`
}

function targets({ scenario, figure, samples, results }: Cells): string {
  const isRatio = figure.as === 'ratio'
  const texts = figure.targets.map(({ subject, against, atMost }) => {
    const most = isRatio ? `${atMost}×` : `${atMost} ms above`
    const goal = `≤ ${most}${against === 'floor' ? '' : ` ${against}`}`
    if (results.wrong.has(keyOf(scenario, subject))) return `${goal} ✗`
    const base = valuesOf(figure, samples.get(against))[0]
    const value = valuesOf(figure, samples.get(subject))[0]
    const reached = isRatio ? ratio(value, base) : minus(value, base)
    if (reached === null) return `${goal} ?`
    const how =
      against === 'floor' ? '' : ` (${isRatio ? times(reached) : `${amount(reached)} ms`})`
    return `${goal}${how} ${reached <= atMost ? '✓' : '✗'}`
  })
  return texts.join('<br>')
}

/** Uses the quiet samples, or all if there are none. */
function valuesOf({ values }: Figure, samples: readonly Sample[] = []): readonly (number | null)[] {
  const quiet = samples.filter((sample) => sample.quiet)
  return values.map((read) => read(quiet.length > 0 ? quiet : samples))
}

function remarks({ results, cast, rounds, syncMs }: Report): readonly string[] {
  const all = [...results.samples.values()].flatMap((bySubject) => [...bySubject.values()].flat())
  const noisy = all.filter((sample) => !sample.quiet).length
  return [
    `Medians of interleaved rounds, ${rounds} of them; CPU is of the whole process; × is beside the floor, a ` +
      `raw node:http pipe, and + is beside asking the upstream directly.`,
    `A durable write took ${amount(syncMs)} ms on this disk. The first byte of a stored answer waits for ` +
      `one, as far as it is not done while the upstream thinks.`,
    ...(hasProc ? [] : ['There is no /proc here, so CPU and memory could not be measured.']),
    ...(noisy === 0
      ? []
      : [
          `In ${noisy} of ${all.length} samples somebody else used the machine: left out if others were there.`,
        ]),
    ...cast.missing.map(({ name, why }) => `${titleOf(name)} is missing: ${why}`),
    ...[...results.wrong].map(([key, why]) => `Wrong, hence without figures: ${key}: ${why}`),
  ]
}

type Value = number | null | undefined

function ratio(value: Value, base: Value): number | null {
  return isNumber(value) && isNumber(base) && base > 0 ? value / base : null
}

function minus(value: Value, base: Value): number | null {
  return isNumber(value) && isNumber(base) ? Math.max(0, value - base) : null
}

function isNumber(value: Value): value is number {
  return typeof value === 'number'
}

function times(value: number | null): string {
  return value === null ? '–' : `${value < 10 ? value.toFixed(2) : value.toFixed(0)}×`
}

function amount(value: number | null): string {
  if (value === null) return '–'
  if (value >= 100) return Math.round(value).toLocaleString('en')
  return value >= 10 ? value.toFixed(1) : value.toFixed(2)
}

function line(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`
}
