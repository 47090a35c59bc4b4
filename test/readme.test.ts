import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { withTables } from '../.scripts/readme-tables.ts'

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')

test('its tables are those of the code; `npm run docs` writes them', () => {
  expect(readme).toBe(withTables(readme))
})

test('the tables are there', () => {
  for (const name of ['settings', 'losses']) {
    expect(readme).toMatch(new RegExp(`<!-- ${name} -->\n\n\\|[^]+\\|\n\n<!-- /${name} -->`))
  }
})
