/**
 * Writes the tables of the READMEs that are generated from the code: settings, policies and their fields,
 * folders and their imports, quirks of upstreams, and what each wire changes or drops. Also writes the
 * files of `settings-files.ts`. Run it with `npm run docs`; tests compare.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { COMMON_QUIRKS } from '../src/providers/quirks/common-quirks.ts'
import { renderPolicyTable } from '../src/dialects/context-policy/render-policy-table.ts'
import { PROVIDERS } from '../src/providers/provider-registry.ts'
import type { QuirkTable } from '../src/providers/quirks/quirk-value-kinds.ts'
import { renderSettingsTable } from '../src/settings/read-settings.ts'
import { FOLDERS } from '../test/allowed-imports.ts'
import { imagesTable, lengthsTable, policiesTable } from './policy-figures.ts'
import { SETTINGS_FILES } from './settings-files.ts'

/** The tables of each file. A table is between two comments with its name: `<!-- settings -->`. */
export const TABLES: Readonly<Record<string, Readonly<Record<string, () => string>>>> = {
  'README.md': { policies: policiesTable, lengths: lengthsTable, settings: renderSettingsTable },
  'src/README.md': { folders: foldersTable },
  'src/simulate/README.md': { images: imagesTable },
  'src/context/README.md': { context: renderPolicyTable },
  'src/providers/README.md': { quirks: quirksTable, losses: lossesTable },
}

export function readmeAt(path: string): string {
  return readFileSync(fileAt(path), 'utf8')
}

export function withTables(path: string, readme: string): string {
  return Object.entries(TABLES[path] ?? {}).reduce(
    (text, [name, table]) =>
      text.replace(
        new RegExp(`(<!-- ${name} -->\n)[^]*?(<!-- /${name} -->)`),
        (_, begin: string, end: string) => `${begin}\n${table()}\n\n${end}`,
      ),
    readme,
  )
}

function fileAt(path: string): URL {
  return new URL(`../${path}`, import.meta.url)
}

function foldersTable(): string {
  const rows = Object.entries(FOLDERS).map(([folder, { purpose, mayImport }]) => {
    const name = existsSync(fileAt(`src/${folder}/README.md`))
      ? `[\`${folder}/\`](${folder}/README.md)`
      : `\`${folder}/\``
    const imports = mayImport.length === 0 ? 'nothing' : mayImport.join(' ')
    return `| ${name} | ${purpose} | ${imports} |`
  })
  return ['| folder | purpose | may import |', '|---|---|---|', ...rows].join('\n')
}

function quirksTable(): string {
  const tables: readonly (readonly [string, QuirkTable])[] = [
    ['every wire', COMMON_QUIRKS],
    ...Object.values(PROVIDERS).map(({ wire, quirks }) => [wire, quirks] as const),
  ]
  const rows = tables.flatMap(([wire, quirks]) =>
    Object.entries(quirks).map(([name, { acceptedValues, description }]) => {
      return `| ${wire} | \`${name}\` | ${acceptedValues} | ${description} |`
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
  for (const path of Object.keys(TABLES)) {
    writeFileSync(fileAt(path), withTables(path, readmeAt(path)))
  }
  for (const [path, render] of Object.entries(SETTINGS_FILES)) {
    writeFileSync(fileAt(path), render())
  }
}
