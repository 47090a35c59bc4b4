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

/** Runs the command and returns its output, its error output and its exit code. */
async function run(args: readonly string[], changes: Partial<ExplainEnvironment> = {}) {
  const output = { printed: '', errors: '' }
  const code = await runExplainCommand(args, {
    environment: { DATABASE_URL: 'sqlite::memory:', ...DEMO },
    readConfigFile: () => ({}),
    readFile: () => {
      throw new Error('no such file')
    },
    readInput: () => Promise.resolve(''),
    print: (text) => (output.printed += text),
    printError: (line) => (output.errors += line),
    ...changes,
  })
  return { code, ...output }
}

const CHAT = { model: 'demo', messages: [{ role: 'user', content: 'Hello there.' }] }

describe('the command `explain` (C145)', () => {
  test('the command `explain` explains what would be sent for a chat request in a file or a Responses request on standard input', async () => {
    const files = new Map([['chat.json', JSON.stringify(CHAT)]])
    const result = await run(['chat.json'], { readFile: (path) => files.get(path) ?? '' })
    expect(result).toMatchObject({ code: 0, errors: '' })
    expect(result.printed).toMatch(/^demo at demo \(demo\) +dry run\n/)
    expect(result.printed).toMatch(/^= +0  user +Hello there\./m)

    const readInput = () =>
      Promise.resolve(JSON.stringify({ model: 'demo', input: 'Hello there.' }))
    const { printed } = await run(['-', '--json'], { readInput })
    expect(JSON.parse(printed)).toMatchObject({ api: 'responses', items: { sent: 1 } })
    const body = await run(['--body', '-'], { readInput })
    expect(JSON.parse(body.printed)).toEqual(
      (JSON.parse(printed) as { upstream: { body: unknown } }).upstream.body,
    )
  })

  test('the command `explain` explains what was sent for a stored answer, but only with the key and the user of the answer', async () => {
    const environment = {
      ...DEMO,
      DATABASE_URL: `sqlite:${join(folder, 'memory.db')}`,
      BACKSTORY_KEYS: 'ada:one,bob:two',
    }
    const gateway = await startGateway(environment)
    const ada = openaiFor(gateway.url, 'one')
    const { id } = await ada.responses.create({ model: 'demo', input: 'Hello there.' })
    const headers = { authorization: 'Bearer one', accept: 'text/plain' }
    const response = await fetch(`${gateway.url}/v1/context/explain/${id}`, { headers })
    const report = await response.text()
    await gateway.close()

    const explain = (...options: string[]) => run([id, ...options], { environment })
    expect(await explain('--key', 'ada')).toEqual({ code: 0, printed: report, errors: '' })
    expect(await explain('--key', 'ada', '--round', 'last')).toMatchObject({ code: 0 })
    const turnId = id.slice('resp_'.length)
    for (const name of [turnId, `req_${turnId}`, `chatcmpl-${turnId}`, `[${turnId}]: #`]) {
      expect(await run([name, '--key', 'ada'], { environment })).toMatchObject({ code: 0 })
    }
    for (const options of [['--key=bob'], ['--key', 'ada', '--user', 'eve']]) {
      expect(await explain(...options)).toEqual({
        code: 1,
        printed: '',
        errors: `No request is kept for an answer with id '${id}'.`,
      })
    }
    expect(await explain('--key', 'ada', '--round', '1')).toMatchObject({
      errors: 'The answer was asked for in one round, 0.',
    })
    expect(await explain()).toMatchObject({
      code: 1,
      errors:
        'There are several API keys (ada, bob). Name the one that owns the answer with --key.',
    })
    expect(await explain('--key', 'eve')).toMatchObject({
      errors: 'There is no key "eve". There is: ada, bob.',
    })
  })

  const readInput = (text: string) => () => Promise.resolve(text)
  test.each([
    [[], {}, 'What is to be explained?\nUsage: npm start -- explain FILE|-|ID'],
    [['a', 'b'], {}, "Unexpected argument 'b'.\nUsage: "],
    [['missing.json'], {}, 'missing.json cannot be read, and is not the id of an answer.'],
    [['-'], { readInput: readInput('{') }, 'The input is not JSON: it ends before'],
    [
      ['-'],
      { readInput: readInput('[}') },
      'The input is not JSON: it is broken at line 1, column 2.',
    ],
    [['-'], { readInput: readInput('[]') }, 'The input is not a request: it must be a JSON object'],
    [['-'], { readInput: readInput('{"model": "demo"}') }, 'input'],
    [['-'], { readInput: readInput('{"model": 1, "messages": []}') }, 'model'],
    [['-', '--json', '--body'], {}, '--json and --body are two forms of the same.'],
    [['-', '--round', '1'], {}, '--round is for a stored answer.'],
    [
      ['-', '--key', 'ada'],
      { readInput: readInput('{}') },
      'There is no key "ada". There is: local.',
    ],
    [
      ['-'],
      { readInput: readInput('{}'), environment: { PORT: 'x' } },
      'The settings have faults:',
    ],
  ])(
    'the command `explain` reports what is wrong with %j, and exits with 1 (case %#)',
    async (args, changes, message) => {
      const { code, printed, errors } = await run(args, changes)
      expect({ code, printed }).toEqual({ code: 1, printed: '' })
      expect(errors).toContain(message)
    },
  )

  test('`start.js explain -` explains a request on standard input', () => {
    const start = new URL('../../../src/main/start.js', import.meta.url).pathname
    const { status, stdout, stderr } = spawnSync(process.execPath, [start, 'explain', '-'], {
      input: JSON.stringify(CHAT),
      env: { PATH: process.env['PATH'], DATABASE_URL: 'sqlite::memory:', ...DEMO },
      encoding: 'utf8',
    })
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    expect(stdout).toContain('Hello there.')
  })

  test('the command `explain` needs no API keys of upstreams, because it sends nothing', async () => {
    const readConfigFile = () => ({
      UPSTREAMS: [{ name: 'a', wire: 'chat', baseUrl: 'http://a', apiKey: 'env:NOT_SET' }],
    })
    const environment = { DATABASE_URL: 'sqlite::memory:' }
    const readChat = readInput(JSON.stringify(CHAT))
    const result = await run(['-'], { environment, readConfigFile, readInput: readChat })
    expect(result).toMatchObject({ code: 0, errors: '' })
  })

  test('the command `explain` prints its usage with --help', async () => {
    const { code, printed } = await run(['--help'])
    expect(code).toBe(0)
    expect(printed).toMatch(/^Usage: npm start -- explain/)
  })
})
