import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { readmeAt, TABLES, withTables } from '../.scripts/readme-tables.ts'

const root = new URL('../', import.meta.url)

describe.each(Object.entries(TABLES))('generated tables in %s', (path, tables) => {
  const readme = readmeAt(path)

  test('a README has the tables that the code generates; `npm run docs` writes them', () => {
    expect(readme).toBe(withTables(path, readme))
  })

  test.each(Object.keys(tables))('a README has the generated table "%s"', (name) => {
    expect(readme).toMatch(new RegExp(`<!-- ${name} -->\n\n\\|[^]+\\|\n\n<!-- /${name} -->`))
  })
})

test('the index of decisions lists every decision with its title and status', () => {
  const folder = new URL('src/decisions/', root)
  const rows = readdirSync(folder)
    .filter((file) => /^\d/.test(file))
    .toSorted()
    .map((file) => {
      const text = readFileSync(new URL(file, folder), 'utf8')
      const [, number = '', title = ''] = /^# (\d+)\. (.+)$/m.exec(text) ?? []
      const [, status = ''] = /^Status: (.+)$/m.exec(text) ?? []
      return `| [${number.padStart(4, '0')}](${file}) | ${title} | ${status} |`
    })
  const index = readFileSync(new URL('README.md', folder), 'utf8')
  expect(index.split('\n').filter((line) => line.startsWith('| ['))).toEqual(rows)
})

const readmes = [
  'README.md',
  ...listReadmes('src'),
  ...listReadmes('test'),
  ...listReadmes('.github'),
]

function listReadmes(folder: string): readonly string[] {
  return readdirSync(new URL(folder, root), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md'))
    .map((file) => `${folder}/${file}`)
}

describe.each(readmes)('file references in %s', (path) => {
  const text = readFileSync(new URL(path, root), 'utf8')

  test('a README links only to files that exist', () => {
    const links = [...text.matchAll(/\]\(([^)\s#]+)/g)].map(([, link = '']) => link)
    const broken = links
      .filter((link) => !/^[a-z]+:/.test(link))
      .filter((link) => !existsSync(new URL(link, new URL(path, root))))
    expect(broken).toEqual([])
  })

  test('a README names only files of src that exist', () => {
    const names = [...text.matchAll(/`((?:[\w.-]+\/)+[\w.-]+\.(?:ts|js))`/g)].map(
      ([, name = '']) => name,
    )
    const places = ['', 'src/', 'test/', path.slice(0, path.lastIndexOf('/') + 1)]
    const missing = names.filter(
      (name) => !places.some((place) => existsSync(new URL(place + name, root))),
    )
    expect(missing).toEqual([])
  })
})
