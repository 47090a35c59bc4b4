import { describe, expect, test } from 'vitest'
import { readmeAt, TABLES, withTables } from '../.scripts/readme-tables.ts'

describe.each(Object.entries(TABLES))('%s', (path, tables) => {
  const readme = readmeAt(path)

  test('its tables are those of the code; `npm run docs` writes them', () => {
    expect(readme).toBe(withTables(path, readme))
  })

  test.each(Object.keys(tables))('the table "%s" is there', (name) => {
    expect(readme).toMatch(new RegExp(`<!-- ${name} -->\n\n\\|[^]+\\|\n\n<!-- /${name} -->`))
  })
})
