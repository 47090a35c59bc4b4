import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import type { SimulationNumbers } from '../../../src/simulate/convert-results-to-numbers.ts'
import { runSimulateCommand, type CommandEnvironment } from '../../../src/main/commands/simulate.ts'
import { startGateway, upstreams } from '../../support/gateway.ts'

const folder = mkdtempSync(join(tmpdir(), 'simulate-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** Creates a command environment that records all output. */
function createTerminal(changes: Partial<CommandEnvironment> = {}) {
  const output = { printed: '', errors: '', progress: [] as string[], files: new Map() }
  const terminal: CommandEnvironment = {
    environment: {},
    readConfigFile: () => ({}),
    readFile: () => {
      throw new Error('no such file')
    },
    writeFile: (path, text) => output.files.set(path, text),
    print: (text) => (output.printed += text),
    printError: (line) => (output.errors += line),
    printProgress: (line) => output.progress.push(line),
    columns: 80,
    ...changes,
  }
  return { terminal, output }
}

describe('the command `simulate` (C145)', () => {
  test('the command `simulate` plays generated conversations, shows its progress, and writes a chart', async () => {
    const { terminal, output } = createTerminal()
    const code = await runSimulateCommand(
      ['--seeds', '4', '--policies', 'lean', '--svg', 'a.svg'],
      terminal,
    )
    expect(code).toBe(0)
    expect(output.printed).toMatch(/^1 generated conversation of 60 turns, \d+ requests/)
    expect(output.printed).toMatch(/\nlean +\d+\.\d MB/)
    expect(output.progress).toEqual(['1 played: seed 4, replay', '2 played: seed 4, lean', ''])
    expect(output.files.get('a.svg')).toMatch(/^<svg/)
  })

  test('`simulate --from FILE` plays the conversations of the file, and prints requests and cost of each policy', async () => {
    const read = (path: string) => {
      expect(path).toBe('chats.json')
      return JSON.stringify([[{ role: 'user', content: 'hello' }], { input: 'hello' }])
    }
    const { terminal, output } = createTerminal({ readFile: read })
    expect(await runSimulateCommand(['--from', 'chats.json', '--json'], terminal)).toBe(0)
    const figures = JSON.parse(output.printed) as SimulationNumbers
    expect(figures.conversations).toBe(2)
    for (const { of_replay: cost, requests } of figures.policies) {
      expect({ cost, requests }).toEqual({ cost: 1, requests: 2 })
    }
  })

  test('the command `simulate` plays a stored conversation, or the turns up to a stored response', async () => {
    const environment = {
      DATABASE_URL: `sqlite:${join(folder, 'memory.db')}`,
      ...upstreams({ name: 'demo', wire: 'demo', baseUrl: 'http://demo', models: ['*'] }),
    }
    const gateway = await startGateway(environment)
    const { openai } = gateway
    const { id: conversation } = await openai.conversations.create({})
    const first = await openai.responses.create({ model: 'demo', input: 'one', conversation })
    const second = await openai.responses.create({ model: 'demo', input: 'two', conversation })
    expect(first.output_text).not.toBe('')
    await gateway.close()

    for (const args of [
      ['--conversation', conversation],
      ['--response', second.id],
    ]) {
      const { terminal, output } = createTerminal({ environment })
      expect(await runSimulateCommand([...args, '--json'], terminal)).toBe(0)
      expect((JSON.parse(output.printed) as SimulationNumbers).policies[0]).toMatchObject({
        policy: 'replay',
        requests: 2,
      })
    }

    const { terminal, output } = createTerminal({ environment })
    expect(await runSimulateCommand(['--response', second.id, '--user', 'bob'], terminal)).toBe(2)
    expect(output.errors).toBe(
      `There is no response "${second.id}" of local, user bob in the database.`,
    )
  })

  test('the command `simulate` requires --key for a stored conversation if there are several keys', async () => {
    const environment = { DATABASE_URL: 'sqlite::memory:', BACKSTORY_KEYS: 'a:key1,b:key2' }
    const { terminal, output } = createTerminal({ environment })
    expect(await runSimulateCommand(['--conversation', 'conv_1'], terminal)).toBe(2)
    expect(output.errors).toBe(
      'There are several API keys (a, b). Name the one that owns the conversation with --key.',
    )
  })

  test.each([
    [['--seeds', 'x'], '"x" is none'],
    [['--from', 'missing.json'], '--from names missing.json, which cannot be read.'],
  ])(
    'the command `simulate` reports what is wrong with %j, and exits with 2',
    async (args, message) => {
      const { terminal, output } = createTerminal()
      expect(await runSimulateCommand(args, terminal)).toBe(2)
      expect(output.errors).toContain(message)
      expect(output.printed).toBe('')
    },
  )

  test('the command `simulate` prints its usage with --help', async () => {
    const { terminal, output } = createTerminal()
    expect(await runSimulateCommand(['--help'], terminal)).toBe(0)
    expect(output.printed).toMatch(/^Usage: npm run simulate/)
  })
})
