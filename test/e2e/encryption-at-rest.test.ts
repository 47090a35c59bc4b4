/** Encryption at rest: the database contains no readable content without its key, and keys can be rotated. */
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { startGateway } from '../support/gateway.ts'
import { HOSTS } from './hosts.ts'

const OLD = `old:${Buffer.alloc(32, 1).toString('base64')}`
const NEW = `new:${Buffer.alloc(32, 2).toString('hex')}`
const DEMO = {
  UPSTREAMS: '[{"name":"demo","wire":"demo","models":["demo"],"quirks":{"delayMs":1}}]',
}
const ASKED = '/think zebra-thought\n/call look {"at":"zebra-call"}\n/say zebra-answer'
const CHATTED = '/think zebra-thought\n/say zebra-answer'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'backstory-sealed-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

type Gateway = Awaited<ReturnType<typeof startGateway>>

function settingsWith(keys: string) {
  return { ...DEMO, DATABASE_URL: `sqlite:${folder}/turns.db`, STORAGE_KEYS: keys }
}

async function withKeys<Result>(
  keys: string,
  run: (gateway: Gateway) => Promise<Result>,
): Promise<Result> {
  const gateway = await startGateway(settingsWith(keys))
  try {
    return await run(gateway)
  } finally {
    await gateway.close()
  }
}

/** Creates every kind of stored data: requests, answers, background runs with their log, failures and chats. */
async function createData(gateway: Gateway): Promise<string> {
  const asking = { model: 'demo', instructions: 'zebra-instructions', input: ASKED }
  const { id } = await gateway.openai.responses.create(asking)
  const stream = await gateway.openai.responses.create({
    ...asking,
    stream: true,
    background: true,
  })
  for await (const event of stream) void event
  const failed = { model: 'demo', input: '/error zebra-failure' }
  await (await gateway.post('/v1/responses', failed)).text()
  const messages = [{ role: 'user' as const, content: CHATTED }]
  await gateway.openai.chat.completions.create({ model: 'demo', messages })
  return id
}

function findReadableWords(): readonly string[] {
  const files = ['turns.db', 'turns.db-wal'].map((name) => join(folder, name)).filter(existsSync)
  const bytes = Buffer.concat(files.map((file) => readFileSync(file))).toString('latin1')
  return [...new Set(bytes.match(/zebra-[a-z]+/g))].toSorted()
}

async function reseal(
  keys: string,
): Promise<{ readonly code: number | null; readonly told: string }> {
  const child = spawn(process.execPath, ['src/main/start.js', 'reseal'], {
    cwd: new URL('../..', import.meta.url).pathname,
    env: { ...process.env, ...settingsWith(keys) },
  })
  let result = ''
  child.stderr.on('data', (bytes: Buffer) => (result += String(bytes)))
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, told: result })))
}

async function askAboutName(gateway: Gateway, id: string): Promise<string> {
  const asking = { model: 'demo', input: 'Who am I?', previous_response_id: id }
  return (await gateway.openai.responses.create(asking)).output_text
}
const REMEMBERS = 'I remember 1 earlier of your messages'

function warnings({ log }: Gateway): readonly unknown[] {
  return log.filter(({ event }) => event === 'unreadable-rows').map(({ level }) => level)
}

describe('the content of the database file with and without an encryption key', () => {
  test('the database file has readable content only without an encryption key (C109)', async () => {
    await withKeys(OLD, createData)
    expect(findReadableWords()).toEqual([])
    await withKeys('', createData)
    expect(findReadableWords()).toEqual(
      ['answer', 'call', 'failure', 'instructions', 'thought'].map((word) => `zebra-${word}`),
    )
  })

  test('the database file has no readable content after `reseal`, which may run beside a serving gateway', async () => {
    const id = await withKeys('', createData)
    const result = await withKeys(OLD, async (gateway) => {
      const done = await reseal(OLD)
      expect(await askAboutName(gateway, id)).toContain(REMEMBERS)
      return done
    })
    expect(result).toMatchObject({ code: 0 })
    expect(result.told).toMatch(/reseal: \d+ rows encrypted, 0 rows unchanged/)
    expect(findReadableWords()).toEqual([])
    await withKeys(OLD, async (gateway) => {
      expect(await askAboutName(gateway, id)).toContain(REMEMBERS)
      expect(warnings(gateway)).toEqual([])
    })
  })

  test('`reseal` without a key changes nothing in the database file', async () => {
    const { code, told } = await reseal('')
    expect(code).toBe(1)
    expect(told).toContain('STORAGE_KEYS is not set')
  })
})

describe('changing the encryption key', () => {
  test('a new key before the old key in STORAGE_KEYS reads rows that were written with either key', async () => {
    const before = await withKeys(OLD, createData)
    await withKeys(`${NEW},${OLD}`, async (gateway) => {
      const after = await createData(gateway)
      expect(await askAboutName(gateway, before)).toContain(REMEMBERS)
      expect(await askAboutName(gateway, after)).toContain(REMEMBERS)
      expect(warnings(gateway)).toEqual([])
    })
  })

  test('after the old key is removed, stored text is unreadable, and chats have only the text that the client sends (C109, C110)', async () => {
    const id = await withKeys(OLD, createData)
    await withKeys(NEW, async (gateway) => {
      expect(await askAboutName(gateway, id)).toContain('Who am I?')
      expect(warnings(gateway)).toEqual(['warn'])
      const asking = { model: 'demo', input: 'Who am I?', previous_response_id: id }
      const result: unknown = await (await gateway.post('/v1/context/explain', asking)).json()
      expect(result).toMatchObject({ notes: [{ did: 'dropped', why: 'unreadable' }] })
      const messages = [
        { role: 'user' as const, content: CHATTED },
        { role: 'assistant' as const, content: 'zebra-answer' },
        { role: 'user' as const, content: 'Who am I?' },
      ]
      const chat = await gateway.openai.chat.completions.create({ model: 'demo', messages })
      expect(chat.choices[0]?.message.content).toContain(REMEMBERS)
      expect(new Set(warnings(gateway))).toEqual(new Set(['warn']))
      expect(JSON.stringify(gateway.log)).not.toContain('zebra')
      const read = await fetch(`${gateway.url}/v1/responses/${id}`)
      expect(await read.json()).toMatchObject({ id, output: [] })
    })
  })
})

test.each(HOSTS)('encrypted turns are recalled on %s', async (_, start) => {
  const host = await start({ ...DEMO, STORAGE_KEYS: NEW })
  const respond = async (fields: object) => {
    const response = await fetch(`${host.url}/v1/responses`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'demo', ...fields }),
    })
    return (await response.json()) as { readonly id: string }
  }
  // Long enough to be compressed as well.
  const { id } = await respond({ input: 'My name is Ada. '.repeat(2_000) })
  const next = await respond({ input: 'Who am I?', previous_response_id: id })
  expect(JSON.stringify(next)).toContain(REMEMBERS)
  await host.close()
})
