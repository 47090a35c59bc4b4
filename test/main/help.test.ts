/** The texts that the process prints: help, version, unknown commands, and the greeting. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { startChild } from '../support/child-gateway.ts'

const START = new URL('../../src/main/start.js', import.meta.url).pathname

function run(...args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [START, ...args], {
    env: { PATH: process.env['PATH'], DATABASE_URL: 'sqlite::memory:' },
    encoding: 'utf8',
  })
  return { status, stdout, stderr }
}

test.each([['--help'], ['help'], ['rehearse', '-h']])(
  '`%s %s` prints every command and ends with 0',
  (...args) => {
    const { status, stdout, stderr } = run(...args)
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    for (const command of ['explain', 'simulate', 'reseal', 'rehearse', '--version'])
      expect(stdout).toContain(`\n  ${command}`)
  },
)

test('`--version` prints the version and ends with 0', () => {
  const { status, stdout } = run('--version')
  expect(status).toBe(0)
  expect(stdout).toMatch(/^backstory \d+\.\d+\.\d+, Node v\d+/)
})

test.each([
  ['HOST', 'x86_64-conda-linux-gnu.invalid', 'Set HOST=127.0.0.1'],
  ['BACKSTORY_CONFIG', './nowhere.json', 'Create it, or unset BACKSTORY_CONFIG.'],
  ['UPSTREAMS', '[{', 'must be a JSON list of upstreams. As JSON, it ends before it is complete.'],
])('a start with %s=%s ends with an error that says what to do', async (name, value, message) => {
  const environment = { DATABASE_URL: 'sqlite::memory:', [name]: value }
  await expect(startChild(environment)).rejects.toThrow(message)
})

test.each([
  [['serve'], 'There is no command "serve".'],
  [['--port'], 'There is no command "--port".'],
  [['reseal', 'now'], 'The command `reseal` takes no arguments, not "now".'],
])('the arguments %j end with 1 and what is wrong', (args, message) => {
  const { status, stdout, stderr } = run(...args)
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
  expect(stderr).toContain(message)
})

test('backstory.json may have a $schema and comments, and the greeting says how to try the gateway', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'backstory-first-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'backstory.json')
  const config = `{
    "$schema": "./.github/settings.schema.json",
    "BACKSTORY_KEYS": "ada:one,ada:two", // two keys of one person
    /* "PORT": 1, */
    "UPSTREAMS": [{ "name": "a", "wire": "chat", "baseUrl": "http://127.0.0.1:9/v1" }]
  }`
  writeFileSync(path, config)
  const environment = { BACKSTORY_CONFIG: path, DATABASE_URL: 'sqlite::memory:' }
  const gateway = await startChild(environment)
  await gateway.kill('SIGTERM')
  expect(gateway.output()).toContain('  keys       ada\n')
  expect(gateway.output()).toMatch(/Try it, with a model that http:\S+\/v1\/models lists:/)

  writeFileSync(path, config.replace('"$schema":', '"$schema"'))
  await expect(startChild(environment)).rejects.toThrow(
    `${path} is not JSON: it is broken at line 2, column 15.`,
  )
})
