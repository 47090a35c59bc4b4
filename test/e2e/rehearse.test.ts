/** Who serves after a rehearsal loads nothing that compiles. */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'

const folder = mkdtempSync(join(tmpdir(), 'backstory-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Every thread says when it ends whether it had to take types out of a source. */
const TELL = `data:text/javascript,${encodeURIComponent(`
  process.on('exit', () => {
    const compiles = process.moduleLoadList.some((name) => name.includes('/amaro/'))
    process._rawDebug(compiles ? 'compiled' : 'compiled nothing')
  })`)}`

/** The gateway as people start it, with a folder of its own for what is compiled; ended once it serves. */
async function threadsOf(words: readonly string[]): Promise<readonly string[]> {
  const child = spawn(process.execPath, ['--import', TELL, 'src/main/start.js', ...words], {
    cwd: new URL('../..', import.meta.url).pathname,
    env: {
      ...process.env,
      NODE_COMPILE_CACHE: join(folder, 'compiled'),
      PORT: '0',
      DATABASE_URL: `sqlite:${folder}/backstory.db`,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let told = ''
  child.stderr.on('data', (text: Buffer) => (told += String(text)))
  child.stdout.on('data', (text: Buffer) => {
    if (String(text).includes('listening on')) child.kill('SIGTERM')
  })
  const code = await new Promise((resolve) => child.once('close', resolve))
  expect(code, told).toBe(0)
  return told.trim().split('\n')
}

test('a gateway that has rehearsed serves without what compiles, in every thread', async () => {
  expect(await threadsOf(['rehearse'])).toEqual(['compiled', 'compiled'])
  expect(await threadsOf([])).toEqual(['compiled nothing', 'compiled nothing'])
}, 60_000)
