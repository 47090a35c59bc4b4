import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { runExplainCommand, type ExplainEnvironment } from '../../../src/main/commands/explain.ts'
import { openaiFor, startGateway, upstreams } from '../../support/gateway.ts'

const folder = mkdtempSync(join(tmpdir(), 'explain-'))
afterAll(() => rmSync(folder, { recursive: true }))

const DEMO = upstreams({ name: 'demo', wire: 'demo', baseUrl: 'http://demo', models: ['*'] })

/** What it prints, what it complains of, and the code that it exits with. */
async function run(words: readonly string[], changes: Partial<ExplainEnvironment> = {}) {
  const heard = { printed: '', complaints: '' }
  const code = await runExplainCommand(words, {
    environment: { DATABASE_URL: 'sqlite::memory:', ...DEMO },
    configFile: () => ({}),
    read: () => {
      throw new Error('no such file')
    },
    input: () => Promise.resolve(''),
    print: (text) => (heard.printed += text),
    complain: (line) => (heard.complaints += line),
    ...changes,
  })
  return { code, ...heard }
}

const CHAT = { model: 'demo', messages: [{ role: 'user', content: 'Hello there.' }] }

describe('C145: explain', () => {
  test('tells what would be sent for a request of either API, in a file or from the input', async () => {
    const files = new Map([['chat.json', JSON.stringify(CHAT)]])
    const told = await run(['chat.json'], { read: (path) => files.get(path) ?? '' })
    expect(told).toMatchObject({ code: 0, complaints: '' })
    expect(told.printed).toMatch(/^demo at demo \(demo\) +dry run\n/)
    expect(told.printed).toMatch(/^= +0  user +Hello there\./m)

    const input = () => Promise.resolve(JSON.stringify({ model: 'demo', input: 'Hello there.' }))
    const { printed } = await run(['-', '--json'], { input })
    expect(JSON.parse(printed)).toMatchObject({ api: 'responses', items: { sent: 1 } })
    const body = await run(['--body', '-'], { input })
    expect(JSON.parse(body.printed)).toEqual(
      (JSON.parse(printed) as { upstream: { body: unknown } }).upstream.body,
    )
  })

  test('tells what was sent for an answer that is kept, to whom it belongs', async () => {
    const environment = {
      ...DEMO,
      DATABASE_URL: `sqlite:${join(folder, 'memory.db')}`,
      BACKSTORY_KEYS: 'ada:one,bob:two',
    }
    const gateway = await startGateway(environment)
    const ada = openaiFor(gateway.url, 'one')
    const { id } = await ada.responses.create({ model: 'demo', input: 'Hello there.' })
    const headers = { authorization: 'Bearer one', accept: 'text/plain' }
    const told = await fetch(`${gateway.url}/v1/context/explain/${id}`, { headers })
    const picture = await told.text()
    await gateway.close()

    const asked = (...more: string[]) => run([id, ...more], { environment })
    expect(await asked('--key', 'ada')).toEqual({ code: 0, printed: picture, complaints: '' })
    expect(await asked('--key', 'ada', '--round', 'last')).toMatchObject({ code: 0 })
    for (const more of [['--key=bob'], ['--key', 'ada', '--user', 'eve']]) {
      expect(await asked(...more)).toEqual({
        code: 1,
        printed: '',
        complaints: `No request is kept for an answer with id '${id}'.`,
      })
    }
    expect(await asked('--key', 'ada', '--round', '1')).toMatchObject({
      complaints: 'The answer was asked for in one round, 0.',
    })
    expect(await asked()).toMatchObject({
      code: 1,
      complaints: 'There are several keys (ada, bob); --key says whose it is.',
    })
    expect(await asked('--key', 'eve')).toMatchObject({
      complaints: 'There is no key "eve". There is: ada, bob.',
    })
  })

  const input = (text: string) => () => Promise.resolve(text)
  test.each([
    [[], {}, 'What is to be explained?\nUsage: npm start -- explain FILE|-|ID'],
    [['a', 'b'], {}, 'There is no option "b".\nUsage: '],
    [['missing.json'], {}, 'missing.json cannot be read, and is no id of an answer.'],
    [['-'], { input: input('{') }, 'The input is not JSON: '],
    [['-'], { input: input('[]') }, 'The input is not a request: it must be a JSON object'],
    [['-'], { input: input('{"model": "demo"}') }, 'input'],
    [['-'], { input: input('{"model": 1, "messages": []}') }, 'model'],
    [['-', '--json', '--body'], {}, '--json and --body are two forms of the same.'],
    [['-', '--round', '1'], {}, '--round is for an answer that is kept.'],
    [['-', '--key', 'ada'], { input: input('{}') }, 'There is no key "ada". There is: local.'],
    [['-'], { input: input('{}'), environment: { PORT: 'x' } }, 'The settings have faults:'],
  ])('says what is wrong with %j, and exits with 1: %#', async (words, changes, sentence) => {
    const { code, printed, complaints } = await run(words, changes)
    expect({ code, printed }).toEqual({ code: 1, printed: '' })
    expect(complaints).toContain(sentence)
  })

  test('is a command of the program', () => {
    const start = new URL('../../../src/main/start.js', import.meta.url).pathname
    const { status, stdout, stderr } = spawnSync(process.execPath, [start, 'explain', '-'], {
      input: JSON.stringify(CHAT),
      env: { PATH: process.env['PATH'], DATABASE_URL: 'sqlite::memory:', ...DEMO },
      encoding: 'utf8',
    })
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    expect(stdout).toContain('Hello there.')
  })

  test('explains itself', async () => {
    const { code, printed } = await run(['--help'])
    expect(code).toBe(0)
    expect(printed).toMatch(/^Usage: npm start -- explain/)
  })
})
