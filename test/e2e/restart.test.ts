/** What a client was told survives the death of the process that told it. */
import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openaiFor } from '../support/gateway.ts'

const folder = mkdtempSync(join(tmpdir(), 'backstory-'))
const running: ChildProcess[] = []
afterAll(() => {
  for (const child of running) child.kill('SIGKILL')
  rmSync(folder, { recursive: true, force: true })
})

/** The gateway as people start it. */
function start(environment: Readonly<Record<string, string>> = {}) {
  const child = spawn(process.execPath, ['src/main/start.js'], {
    cwd: new URL('../..', import.meta.url).pathname,
    env: {
      ...process.env,
      PORT: '0',
      DATABASE_URL: `sqlite:${folder}/backstory.db`,
      UPSTREAMS: '[{"name":"demo","wire":"demo","models":["demo"],"quirks":{"delayMs":1}}]',
      ...environment,
    },
  })
  running.push(child)
  let out = ''
  const url = new Promise<string>((resolve, reject) => {
    const read = (text: Buffer) => {
      out += String(text)
      const found = /listening on (http:\S+)/.exec(out)
      if (found?.[1] !== undefined) resolve(found[1])
    }
    child.stdout.on('data', read)
    child.stderr.on('data', read)
    child.on('exit', () => reject(new Error(out)))
  })
  const exited = new Promise<number | null>((resolve) => child.on('exit', resolve))
  return { child, url, exited, out: () => out }
}

let first: ReturnType<typeof start>
beforeAll(async () => {
  first = start()
  await first.url
})

test('killed right after response.completed, it remembers the response', async () => {
  const events = await openaiFor(await first.url).responses.create({
    model: 'demo',
    stream: true,
    input: 'My name is Ada.',
  })
  let id = ''
  for await (const event of events) {
    if (event.type !== 'response.completed') continue
    id = event.response.id
    first.child.kill('SIGKILL')
    break
  }
  await first.exited

  const second = start()
  const openai = openaiFor(await second.url)
  const response = await openai.responses.create({
    model: 'demo',
    input: 'Who am I?',
    previous_response_id: id,
  })
  expect(response.output_text).toContain('I remember 1 earlier of your messages')

  second.child.kill('SIGTERM')
  expect(await second.exited).toBe(0)
})

test.each([
  ['once', ['SIGTERM']],
  // As a terminal, a shell and a service manager do, who all pass it on.
  ['by several at once', ['SIGTERM', 'SIGINT', 'SIGTERM']],
] as const)('asked to stop %s, it lets an open stream finish', async (_, signals) => {
  const gateway = start()
  const openai = openaiFor(await gateway.url)
  const stream = await openai.responses.create({
    model: 'demo',
    stream: true,
    input: '/repeat 400 word',
  })
  let last = ''
  for await (const event of stream) {
    if (event.type === 'response.created') {
      for (const signal of signals) gateway.child.kill(signal)
    }
    last = event.type
  }
  expect(last).toBe('response.completed')
  expect(await gateway.exited).toBe(0)
})

test('it ends where whoever has started it is gone', async () => {
  const nobody = start({ PORT: 'x' })
  await expect(nobody.url).rejects.toThrow('PORT must be')
  const gateway = start({ BACKSTORY_STARTED_BY: String(nobody.child.pid) })
  await gateway.url
  expect(await gateway.exited).toBe(0)
})

test('asked to stop again, it waits for nobody', async () => {
  const gateway = start()
  const hanging = await openaiFor(await gateway.url).responses.create({
    model: 'demo',
    stream: true,
    input: '/hang',
  })
  // It is left open: to leave would let the gateway end.
  await hanging[Symbol.asyncIterator]().next()
  gateway.child.kill('SIGTERM')
  const again = setInterval(() => gateway.child.kill('SIGTERM'), 400)
  expect(await gateway.exited).toBe(1)
  clearInterval(again)
})

test('faults in the settings are told, all of them, and it does not start', async () => {
  const gateway = start({ PORT: 'x', HEARTBEAT_SECONDS: '0' })
  await expect(gateway.url).rejects.toThrow(/PORT must be[^]*HEARTBEAT_SECONDS must be/)
  expect(await gateway.exited).toBe(1)
})
