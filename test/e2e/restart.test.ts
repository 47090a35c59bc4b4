/** Stored answers survive the end of their process, and a gateway that is asked to stop ends in order. */
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

/** Starts the gateway as a process, as users do. */
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

test('a response is still stored after a kill right after response.completed', async () => {
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
  // A terminal, a shell and a service manager may each send a signal.
  ['by three signals at once', ['SIGTERM', 'SIGINT', 'SIGTERM']],
] as const)(
  'the gateway finishes an open stream when it is asked to stop %s',
  async (_, signals) => {
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
  },
)

test('the gateway process ends when the process that started it is gone', async () => {
  const nobody = start({ PORT: 'x' })
  await expect(nobody.url).rejects.toThrow('PORT must be')
  const gateway = start({ BACKSTORY_STARTED_BY: String(nobody.child.pid) })
  await gateway.url
  expect(await gateway.exited).toBe(0)
})

test('a second stop signal ends the gateway at once', async () => {
  const gateway = start()
  const hanging = await openaiFor(await gateway.url).responses.create({
    model: 'demo',
    stream: true,
    input: '/hang',
  })
  // The stream stays open: if its client left, the gateway would end by itself.
  await hanging[Symbol.asyncIterator]().next()
  gateway.child.kill('SIGTERM')
  const again = setInterval(() => gateway.child.kill('SIGTERM'), 400)
  expect(await gateway.exited).toBe(1)
  clearInterval(again)
})

test('the gateway reports all invalid settings and does not start', async () => {
  const gateway = start({ PORT: 'x', HEARTBEAT_SECONDS: '0' })
  await expect(gateway.url).rejects.toThrow(/PORT must be[^]*HEARTBEAT_SECONDS must be/)
  expect(await gateway.exited).toBe(1)
})
