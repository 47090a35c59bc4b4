/**
 * Starts the gateway on Node 24 or newer: in this process if possible, otherwise with the Node that is
 * installed in node_modules. Plain JavaScript, because an older Node cannot run TypeScript.
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

// With this cache later starts are faster and load no TypeScript transformer.
process.env['NODE_COMPILE_CACHE'] ??= fileURLToPath(
  new URL('../../node_modules/.cache/backstory', import.meta.url),
)

if (major >= 24) {
  // The environment variable affects only new threads, so the cache is enabled here for this one.
  nodeModule.enableCompileCache(process.env['NODE_COMPILE_CACHE'])
  await import('./node.ts')
} else if (existsSync(ownNode)) {
  const child = spawn(ownNode, [...process.execArgv, entry, ...process.argv.slice(2)], {
    stdio: 'inherit',
    env: { ...process.env, BACKSTORY_STARTED_BY: String(process.pid) },
  })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGUSR2', 'SIGALRM'])
    process.on(signal, () => child.kill(signal))
  child.on('exit', (code, signal) => {
    process.exitCode = code ?? (signal === 'SIGINT' ? 130 : 143)
  })
} else {
  console.error(
    `Backstory needs Node 24; this is ${process.version}. Run \`npm start\`: it brings its own.`,
  )
  process.exitCode = 1
}
