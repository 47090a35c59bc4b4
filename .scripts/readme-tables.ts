/**
 * The tables of the README that come from the code: the settings, what can be said of an upstream,
 * and what each wire changes or leaves out. `node .scripts/readme-tables.ts` writes them; a test compares.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { COMMON_QUIRKS } from '../src/provider/common-quirks.ts'
import { wishesTable } from '../src/dialect/wishes-table.ts'
import { PROVIDERS } from '../src/provider/providers.ts'
import type { QuirkTable } from '../src/provider/quirk.ts'
import { settingsTable } from '../src/settings.ts'
import { policiesTable } from './policy-figures.ts'

const TABLES: Readonly<Record<string, () => string>> = {
  settings: settingsTable,
  policies: policiesTable,
  context: wishesTable,
  quirks: quirksTable,
  losses: lossesTable,
}

export function withTables(readme: string): string {
  return Object.entries(TABLES).reduce(
    (text, [name, table]) =>
      text.replace(
        new RegExp(`(<!-- ${name} -->\n)[^]*?(<!-- /${name} -->)`),
        (_, begin: string, end: string) => `${begin}\n${table()}\n\n${end}`,
      ),
    readme,
  )
}

function quirksTable(): string {
  const tables: readonly (readonly [string, QuirkTable])[] = [
    ['every wire', COMMON_QUIRKS],
    ...Object.values(PROVIDERS).map(({ wire, quirks }) => [wire, quirks] as const),
  ]
  const rows = tables.flatMap(([wire, quirks]) =>
    Object.entries(quirks).map(([name, { what, sentence }]) => {
      return `| ${wire} | \`${name}\` | ${what} | ${sentence} |`
    }),
  )
  return ['| wire | quirk | value | what it says |', '|---|---|---|---|', ...rows].join('\n')
}

function lossesTable(): string {
  const rows = Object.values(PROVIDERS).flatMap(({ wire, notes }) =>
    Object.entries(notes).map(([code, [did, sentence]]) => {
      return `| ${wire} | \`${code}\` | ${did} | ${sentence.replaceAll('|', '\\|')} |`
    }),
  )
  return ['| wire | note | did | what happens, and why |', '|---|---|---|---|', ...rows].join('\n')
}

if (import.meta.main) {
  const readme = new URL('../README.md', import.meta.url)
  writeFileSync(readme, withTables(readFileSync(readme, 'utf8')))
}
