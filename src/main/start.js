/**
 * Starts the gateway on a Node that can run it: this one if it is 24 or newer, else the one that
 * came with the installation. Plain JavaScript, because an older Node cannot read anything else.
 */
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import * as nodeModule from 'node:module'
import { fileURLToPath } from 'node:url'

const major = Number(process.versions.node.split('.')[0])
const entry = fileURLToPath(new URL('./node.ts', import.meta.url))
const windows = process.platform === 'win32'
const ownNode = fileURLToPath(
  new URL(`../../node_modules/.bin/node${windows ? '.exe' : ''}`, import.meta.url),
)

// What was made of the sources once is kept: later starts are quicker, and need no compiler in memory.
process.env['NODE_COMPILE_CACHE'] ??= fileURLToPath(
  new URL('../../node_modules/.cache/backstory', import.meta.url),
)

if (major >= 24) {
  // The environment is for the threads; this one has begun already.
  nodeModule.enableCompileCache(process.env['NODE_COMPILE_CACHE'])
  await import('./node.ts')
} else if (existsSync(ownNode)) {
  const child = spawn(ownNode, [...process.execArgv, entry, ...process.argv.slice(2)], {
    stdio: 'inherit',
    env: { ...process.env, BACKSTORY_STARTED_BY: String(process.pid) },
  })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.on('exit', (code, signal) => {
    process.exitCode = code ?? (signal === 'SIGINT' ? 130 : 143)
  })
} else {
  console.error(
    `Backstory needs Node 24; this is ${process.version}. Run \`npm start\`: it brings its own.`,
  )
  process.exitCode = 1
}
