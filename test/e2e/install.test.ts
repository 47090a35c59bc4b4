/**
 * The script that runs before every start: an unwritable folder or an unreadable source never keeps the
 * gateway from starting.
 */
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

/**
 * Creates a checkout with its dependencies installed, and a gateway stub that creates the file `called` when
 * it runs.
 */
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

/** True if the script ran `rehearse`. */
function prepared(root: string): boolean {
  rmSync(join(root, 'called'), { force: true })
  const script = join(root, '.scripts/install.cjs')
  const { status, stderr } = spawnSync(process.execPath, [script, 'serve'], { encoding: 'utf8' })
  expect(status, stderr).toBe(0)
  return existsSync(join(root, 'called'))
}

test('the launcher compiles the sources once, and again after a change', () => {
  const root = checkout()
  expect([prepared(root), prepared(root)]).toEqual([true, false])
  writeFileSync(join(root, 'src/more.ts'), '')
  expect([prepared(root), prepared(root)]).toEqual([true, false])
})

test('the launcher starts without compiling if the cache is not writable', () => {
  const root = checkout()
  // A file in place of the folder stops root as well.
  writeFileSync(join(root, 'node_modules/.cache'), '')
  expect(prepared(root)).toBe(false)
})

test("the launcher ignores a dangling link among the sources, such as an editor's lock file", () => {
  const root = checkout()
  prepared(root)
  symlinkSync('nowhere', join(root, 'src/.#more.ts'))
  expect([prepared(root), prepared(root)]).toEqual([true, false])
})
