/**
 * The tables of the README that come from the code: the settings, and what each wire changes or
 * leaves out. `node .scripts/readme-tables.ts` writes them; a test compares.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { NOTES as anthropic } from '../src/provider/anthropic/notes.ts'
import { NOTES as gemini } from '../src/provider/gemini/notes.ts'
import { NOTES as chat } from '../src/provider/openai-chat/notes.ts'
import { NOTES as responses } from '../src/provider/openai-responses/notes.ts'
import { settingsTable } from '../src/settings.ts'

const TABLES: Readonly<Record<string, () => string>> = {
  settings: settingsTable,
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

function lossesTable(): string {
  const wires = { chat, responses, anthropic, gemini }
  const rows = Object.entries(wires).flatMap(([wire, notes]) =>
    Object.entries<string | readonly [string, string]>(notes).map(([code, entry]) => {
      const sentence = typeof entry === 'string' ? entry : entry[1]
      return `| ${wire} | \`${code}\` | ${sentence.replaceAll('|', '\\|')} |`
    }),
  )
  return ['| wire | note | what happens, and why |', '|---|---|---|', ...rows].join('\n')
}

if (import.meta.main) {
  const readme = new URL('../README.md', import.meta.url)
  writeFileSync(readme, withTables(readFileSync(readme, 'utf8')))
}
