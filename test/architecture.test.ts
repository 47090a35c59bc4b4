/**
 * Checks the layout of `src`: which folder imports which (`allowed-imports.ts`), where packages and runtime
 * modules may be imported, and the maximum size of folders and files.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { expect, test } from 'vitest'
import { FOLDERS } from './allowed-imports.ts'

/** Packages and runtime modules, with the only files that may import them. */
const ONLY_IN: Readonly<Record<string, RegExp>> = {
  'node:':
    /^main\/(?!cloudflare)|^core\/text\/digest\.ts$|^server\/(authenticate-tenant|clients\/verify-open-webui-jwt|runtime\/node-[\w-]+)\.ts$|^media\/loading\/node-media-fetcher\.ts$|^store\/database\/(node-sqlite-[\w-]+|migrate)\.ts$|^store\/encryption\/cipher\.ts$/,
  undici: /^upstream\/transport\/undici-|^media\/loading\/node-media-fetcher\.ts$/,
  pg: /^store\/database\/postgres-engine\.ts$/,
  kysely: /^store\//,
  hono: /^server\/app\.ts$/,
  '@hono/node-server': /^main\/serve-node\.ts$|^server\/runtime\/node-http-exchange\.ts$/,
  'eventsource-parser': /^core\/stream\/sse\.ts$/,
  ws: /^server\/runtime\/node-websocket\.ts$/,
  ulid: /^main\//,
  '@cfworker/json-schema': /^memory\/versioned-layers\/check-working-memory-value\.ts$/,
  openai: /^(providers\/openai-(responses|chat)|dialects)\//,
}

const src = new URL('../src/', import.meta.url).pathname
const files = readdirSync(src, { recursive: true, encoding: 'utf8' })
  .filter((file) => /\.(ts|js)$/.test(file))
  .map((file) => file.split('\\').join('/'))

/** Returns all imports of a file, including types and `import()`, as paths relative to `src`. */
function importsOf(file: string): readonly string[] {
  const text = readFileSync(join(src, file), 'utf8')
  const found = text.matchAll(/(?:\bfrom|^import|\bimport\(|\bnew URL\()\s*'([^']+)'/gm)
  return [...found].flatMap(([, name = '']) =>
    name.startsWith('.') ? posix.join(posix.dirname(file), name) : name,
  )
}

function topFolder(path: string): string {
  return path.slice(0, Math.max(path.indexOf('/'), 0))
}

const isOwnFile = (path: string): boolean => files.includes(path)

test('every source file is in a folder of the import table, and every folder of the table exists', () => {
  expect(new Set(files.map(topFolder))).toEqual(new Set(Object.keys(FOLDERS)))
})

test('the import table allows imports between two folders in one direction only', () => {
  const names = Object.keys(FOLDERS)
  const against = Object.entries(FOLDERS).flatMap(([folder, { mayImport }]) =>
    mayImport
      .filter(
        (other) => names.indexOf(other) === -1 || names.indexOf(other) >= names.indexOf(folder),
      )
      .map((other) => `${folder} may import ${other}`),
  )
  expect(against).toEqual([])
})

test('a source folder imports only folders that the import table allows, types included', () => {
  const strays = files.flatMap((file) => {
    const folder = topFolder(file)
    const allowed = [folder, ...(FOLDERS[folder]?.mayImport ?? [])]
    return importsOf(file)
      .filter((path) => isOwnFile(path) && !allowed.includes(topFolder(path)))
      .map((path) => `${file} imports ${path}`)
  })
  expect(strays).toEqual([])
})

test('no two source files import each other, directly or through other files, types included', () => {
  const open = new Set<string>()
  const done = new Set<string>()
  const cycles: string[] = []
  const visit = (file: string, path: readonly string[]): void => {
    if (open.has(file)) return void cycles.push([...path, file].join(' imports '))
    if (done.has(file)) return
    open.add(file)
    for (const next of importsOf(file).filter(isOwnFile)) visit(next, [...path, file])
    open.delete(file)
    done.add(file)
  }
  for (const file of files) visit(file, [])
  expect(cycles).toEqual([])
})

test('the import table allows no import that no file needs', () => {
  const used = new Set(
    files.flatMap((file) =>
      importsOf(file)
        .filter(isOwnFile)
        .map((path) => `${topFolder(file)} imports ${topFolder(path)}`),
    ),
  )
  const unused = Object.entries(FOLDERS).flatMap(([folder, { mayImport }]) =>
    mayImport.map((other) => `${folder} imports ${other}`).filter((line) => !used.has(line)),
  )
  expect(unused).toEqual([])
})

test('npm packages and runtime modules are imported only by the files listed for them', () => {
  const strays = files.flatMap((file) =>
    importsOf(file)
      .filter((name) => /^(@|node:|[a-z][\w-]*(\/|$))/.test(name) && !isOwnFile(name))
      .filter((name) => !/\.(ts|js|sql)$/.test(name) || name.startsWith('undici/'))
      .filter((name) => {
        const rule = Object.keys(ONLY_IN).find(
          (known) => name === known || name.startsWith(known.endsWith(':') ? known : `${known}/`),
        )
        return rule === undefined || !ONLY_IN[rule]?.test(file)
      })
      .map((name) => `${file} imports ${name}`),
  )
  expect(strays).toEqual([])
})

test('a source folder has at most 20 entries', () => {
  const entries = new Map<string, Set<string>>()
  for (const file of files) {
    for (let path = file; path !== '.'; path = posix.dirname(path)) {
      const folder = posix.dirname(path)
      entries.set(folder, (entries.get(folder) ?? new Set()).add(path))
    }
  }
  const large = [...entries].filter(([, { size }]) => size > 20).map(([folder]) => folder)
  expect(large).toEqual([])
})

test('a source file has at most 300 lines', () => {
  const long = files
    .map((file) => ({ file, lines: readFileSync(join(src, file), 'utf8').split('\n').length }))
    .filter(({ lines }) => lines > 300)
  expect(long).toEqual([])
})
