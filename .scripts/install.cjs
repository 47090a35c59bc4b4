// Installs what is missing, so that `npm start` and `npm test` work from a bare checkout.
// Plain ES2020, because it runs on whatever Node the host has. Argument: `run`, `all`, or `serve`,
// which has what was installed compiled as well.
'use strict'
const fs = require('node:fs')
const path = require('node:path')
const { spawnSync } = require('node:child_process')

const root = path.join(__dirname, '..')
const all = process.argv[2] === 'all'
const lock = path.join(root, '.installing')
const rehearsed = path.join(root, 'node_modules', '.cache', 'backstory', 'rehearsed')

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

/** Whether the sources are those of the last rehearsal. What was made of them is kept in its folder. */
function isRehearsed() {
  if (!fs.existsSync(rehearsed)) return false
  return newestUnder(path.join(root, 'src')) <= fs.statSync(rehearsed).mtimeMs
}

function newestUnder(folder) {
  return Math.max(
    ...fs.readdirSync(folder, { withFileTypes: true }).map((entry) => {
      const inside = path.join(folder, entry.name)
      // An editor's lock is a link to nowhere.
      return entry.isDirectory() ? newestUnder(inside) : fs.lstatSync(inside).mtimeMs
    }),
  )
}

/** In a process of its own, which takes the compiler along when it ends. Nothing but time is lost without. */
function rehearse() {
  const began = new Date()
  // Where nothing can be written, nothing that is compiled is kept either.
  if (!isNoted(new Date(0))) return
  process.stderr.write('Compiling the sources, once…\n')
  // What is compiled is kept apart by the flags.
  const { start } = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8')).scripts
  const args = [
    ...(start.match(/--\S+/g) || []),
    path.join(root, 'src', 'main/start.js'),
    'rehearse',
  ]
  const result = spawnSync(process.execPath, args, {
    cwd: root,
    stdio: ['ignore', 'ignore', 2],
    timeout: 60 * 1000,
  })
  // What was changed meanwhile is newer.
  if (result.status === 0) isNoted(began)
}

/** Whether it could be written down from when on nothing has been rehearsed. */
function isNoted(time) {
  try {
    fs.mkdirSync(path.dirname(rehearsed), { recursive: true })
    fs.writeFileSync(rehearsed, '')
    fs.utimesSync(rehearsed, time, time)
    return true
  } catch {
    return false
  }
}

process.exitCode = isInstalled() ? 0 : withLock(install)
if (process.exitCode === 0 && process.argv[2] === 'serve' && !isRehearsed()) rehearse()
