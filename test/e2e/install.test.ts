/** What stands in front of every start: nothing that it cannot write or read may keep the gateway from it. */
import { spawnSync } from 'node:child_process'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'

const SCRIPT = new URL('../../.scripts/install.cjs', import.meta.url).pathname
const folders: string[] = []
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

/** A checkout in which everything is installed; its gateway writes down that it was called. */
function checkout(): string {
  const root = mkdtempSync(join(tmpdir(), 'backstory-'))
  folders.push(root)
  for (const folder of ['.scripts', 'src/main', 'node_modules'])
    mkdirSync(join(root, folder), { recursive: true })
  copyFileSync(SCRIPT, join(root, '.scripts/install.cjs'))
  const start = 'node src/main/start.js'
  writeFileSync(join(root, 'package.json'), JSON.stringify({ scripts: { start } }))
  writeFileSync(join(root, 'package-lock.json'), '{}')
  writeFileSync(join(root, 'src/main/start.js'), `require('node:fs').writeFileSync('called', '')`)
  writeFileSync(join(root, 'node_modules/.package-lock.json'), '{}')
  return root
}

/** Whether it rehearsed. */
function prepared(root: string): boolean {
  rmSync(join(root, 'called'), { force: true })
  const script = join(root, '.scripts/install.cjs')
  const { status, stderr } = spawnSync(process.execPath, [script, 'serve'], { encoding: 'utf8' })
  expect(status, stderr).toBe(0)
  return existsSync(join(root, 'called'))
}

test('sources are compiled once, and again when they have changed', () => {
  const root = checkout()
  expect([prepared(root), prepared(root)]).toEqual([true, false])
  writeFileSync(join(root, 'src/more.ts'), '')
  expect([prepared(root), prepared(root)]).toEqual([true, false])
})

test('where nothing may be written, the gateway starts without', () => {
  const root = checkout()
  // A file in place of the folder stops the superuser as well.
  writeFileSync(join(root, 'node_modules/.cache'), '')
  expect(prepared(root)).toBe(false)
})

test('a link to nowhere among the sources, such as an editor locks a file with, stops nobody', () => {
  const root = checkout()
  prepared(root)
  symlinkSync('nowhere', join(root, 'src/.#more.ts'))
  expect([prepared(root), prepared(root)]).toEqual([true, false])
})
