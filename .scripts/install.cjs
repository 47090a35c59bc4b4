// Installs what is missing, so that `npm start` and `npm test` work from a bare checkout.
// Plain ES2020, because it runs on whatever Node the host has. Argument: `run` or `all`.
'use strict'
const fs = require('node:fs')
const path = require('node:path')
const { spawnSync } = require('node:child_process')

const root = path.join(__dirname, '..')
const all = process.argv[2] === 'all'
const lock = path.join(root, '.installing')

function isInstalled() {
  const installed = path.join(root, 'node_modules', '.package-lock.json')
  if (!fs.existsSync(installed)) return false
  if (all && !fs.existsSync(path.join(root, 'node_modules', 'vitest'))) return false
  // A lock file newer than what was installed from it: somebody pulled.
  return fs.statSync(path.join(root, 'package-lock.json')).mtimeMs <= fs.statSync(installed).mtimeMs
}

/** Two of us may start at once. A lock older than ten minutes belongs to somebody who died. */
function withLock(work) {
  const deadline = Date.now() + 10 * 60 * 1000
  for (;;) {
    try {
      fs.mkdirSync(lock)
      break
    } catch (error) {
      if (error.code !== 'EEXIST') throw error
      const age = fs.existsSync(lock) ? Date.now() - fs.statSync(lock).mtimeMs : 0
      if (age > 10 * 60 * 1000 || Date.now() > deadline)
        fs.rmSync(lock, { recursive: true, force: true })
      else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200)
    }
  }
  try {
    return work()
  } finally {
    fs.rmSync(lock, { recursive: true, force: true })
  }
}

function install() {
  if (isInstalled()) return 0
  process.stderr.write(
    `Installing ${all ? 'everything for development' : 'what the gateway needs'}, once…\n`,
  )
  const args = ['ci', '--ignore-scripts', ...(all ? [] : ['--omit=dev'])]
  const npm = process.env.npm_execpath
  const result = npm
    ? spawnSync(process.execPath, [npm, ...args], { cwd: root, stdio: ['ignore', 2, 2] })
    : spawnSync('npm', args, {
        cwd: root,
        stdio: ['ignore', 2, 2],
        shell: process.platform === 'win32',
      })
  if (result.status !== 0) {
    process.stderr.write(
      'The installation failed. Check the network and run `npm ci --ignore-scripts` by hand.\n',
    )
    return result.status === null ? 1 : result.status
  }
  // npm leaves the time of an untouched file alone.
  const now = new Date()
  fs.utimesSync(path.join(root, 'node_modules', '.package-lock.json'), now, now)
  return 0
}

process.exitCode = isInstalled() ? 0 : withLock(install)
