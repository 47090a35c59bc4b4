import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import type { SimulationNumbers } from '../../../src/simulate/results-as-numbers.ts'
import { runSimulateCommand, type CommandEnvironment } from '../../../src/main/commands/simulate.ts'
import { startGateway, upstreams } from '../../support/gateway.ts'

const folder = mkdtempSync(join(tmpdir(), 'simulate-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** A terminal that keeps what it is told. */
function terminal(changes: Partial<CommandEnvironment> = {}) {
  const heard = { printed: '', complaints: '', progress: [] as string[], files: new Map() }
  const at: CommandEnvironment = {
    environment: {},
    configFile: () => ({}),
    read: () => {
      throw new Error('no such file')
    },
    write: (path, text) => heard.files.set(path, text),
    print: (text) => (heard.printed += text),
    complain: (line) => (heard.complaints += line),
    progress: (line) => heard.progress.push(line),
    columns: 80,
    ...changes,
  }
  return { at, heard }
}

describe('C145: simulate', () => {
  test('plays made conversations, tells of its progress, and draws', async () => {
    const { at, heard } = terminal()
    const code = await runSimulateCommand(
      ['--seeds', '4', '--policies', 'lean', '--svg', 'a.svg'],
      at,
    )
    expect(code).toBe(0)
    expect(heard.printed).toMatch(/^1 made conversation of 60 turns, \d+ requests/)
    expect(heard.printed).toMatch(/\nlean +\d+\.\d MB/)
    expect(heard.progress).toEqual(['1 played: seed 4, replay', '2 played: seed 4, lean', ''])
    expect(heard.files.get('a.svg')).toMatch(/^<svg/)
  })

  test('plays what was recorded in a file, and prints figures', async () => {
    const read = (path: string) => {
      expect(path).toBe('chats.json')
      return JSON.stringify([[{ role: 'user', content: 'hello' }], { input: 'hello' }])
    }
    const { at, heard } = terminal({ read })
    expect(await runSimulateCommand(['--from', 'chats.json', '--json'], at)).toBe(0)
    const figures = JSON.parse(heard.printed) as SimulationNumbers
    expect(figures.conversations).toBe(2)
    for (const { of_replay: cost, requests } of figures.policies) {
      expect({ cost, requests }).toEqual({ cost: 1, requests: 2 })
    }
  })

  test('plays a stored conversation and the chain of a response', async () => {
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

    for (const words of [
      ['--conversation', conversation],
      ['--response', second.id],
    ]) {
      const { at, heard } = terminal({ environment })
      expect(await runSimulateCommand([...words, '--json'], at)).toBe(0)
      expect((JSON.parse(heard.printed) as SimulationNumbers).policies[0]).toMatchObject({
        policy: 'replay',
        requests: 2,
      })
    }

    const { at, heard } = terminal({ environment })
    expect(await runSimulateCommand(['--response', second.id, '--user', 'bob'], at)).toBe(2)
    expect(heard.complaints).toBe(
      `There is no response "${second.id}" of local, user bob in the database.`,
    )
  })

  test('asks whose it is where there are several keys', async () => {
    const environment = { DATABASE_URL: 'sqlite::memory:', BACKSTORY_KEYS: 'a:key1,b:key2' }
    const { at, heard } = terminal({ environment })
    expect(await runSimulateCommand(['--conversation', 'conv_1'], at)).toBe(2)
    expect(heard.complaints).toBe('There are several keys; --tenant says whose it is.')
  })

  test.each([
    [['--seeds', 'x'], '"x" is none'],
    [['--from', 'missing.json'], '--from names missing.json, which cannot be read.'],
  ])('says what is wrong with %j, and exits with 2', async (words, sentence) => {
    const { at, heard } = terminal()
    expect(await runSimulateCommand(words, at)).toBe(2)
    expect(heard.complaints).toContain(sentence)
    expect(heard.printed).toBe('')
  })

  test('explains itself', async () => {
    const { at, heard } = terminal()
    expect(await runSimulateCommand(['--help'], at)).toBe(0)
    expect(heard.printed).toMatch(/^Usage: npm run simulate/)
  })
})
