/** A gateway that starts after `rehearse` uses the compile cache and compiles no source. */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'

const folder = mkdtempSync(join(tmpdir(), 'backstory-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Each thread prints at its exit whether it had to strip types from a source. */
const REPORT_MODULE = `data:text/javascript,${encodeURIComponent(`
  process.on('exit', () => {
    const compiles = process.moduleLoadList.some((name) => name.includes('/amaro/'))
    process._rawDebug(compiles ? 'compiled' : 'compiled nothing')
  })`)}`

/**
 * Starts the gateway with a compile cache of its own, stops it once it serves, and returns what each thread
 * printed.
 */
async function runAndReadThreads(words: readonly string[]): Promise<readonly string[]> {
  const child = spawn(
    process.execPath,
    ['--import', REPORT_MODULE, 'src/main/start.js', ...words],
    {
      cwd: new URL('../..', import.meta.url).pathname,
      env: {
        ...process.env,
        NODE_COMPILE_CACHE: join(folder, 'compiled'),
        PORT: '0',
        DATABASE_URL: `sqlite:${folder}/backstory.db`,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  )
  let result = ''
  child.stderr.on('data', (text: Buffer) => (result += String(text)))
  child.stdout.on('data', (text: Buffer) => {
    if (String(text).includes('listening on')) child.kill('SIGTERM')
  })
  const code = await new Promise((resolve) => child.once('close', resolve))
  expect(code, result).toBe(0)
  return result.trim().split('\n')
}

test('after the command `rehearse`, no thread of the process compiles a source file', async () => {
  expect(await runAndReadThreads(['rehearse'])).toEqual(['compiled', 'compiled'])
  expect(await runAndReadThreads([])).toEqual(['compiled nothing', 'compiled nothing'])
}, 60_000)
