/** Runs every example as its reader would: as a process of its own, with the built-in demo model. */
import { execFile, spawnSync } from 'node:child_process'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startGateway } from '../support/gateway.ts'

let gateway: Awaited<ReturnType<typeof startGateway>>
beforeAll(async () => {
  gateway = await startGateway()
})
afterAll(() => gateway.close())

const REMEMBERED =
  'I remember 1 earlier of your messages. I also see 1 thought of mine and 0 tool results.'

/** Returns the lines that the program prints. */
async function run(program: string, example: URL): Promise<readonly string[]> {
  const env = {
    ...process.env,
    BACKSTORY_URL: `${gateway.url}/v1`,
    BACKSTORY_KEY: 'any',
    MODEL: 'demo',
    // Python would send requests to this machine through a proxy of the environment.
    NO_PROXY: '127.0.0.1',
    no_proxy: '127.0.0.1',
  }
  const { stdout } = await promisify(execFile)(program, [example.pathname], { env })
  return stdout.trim().split('\n')
}

test('in the example, the model gets the reasoning that the client has forgotten', async () => {
  const lines = await run(process.execPath, new URL('forgotten-reasoning.ts', import.meta.url))
  expect(lines).toEqual([
    'sent     message               How warm is it in Oslo? /think I need th',
    'added    reasoning             I need the current temperature.',
    'sent     message               Let me look.',
    'sent     function_call         get_temperature({"city": "Oslo"})',
    'sent     function_call_output  4 degrees',
    'added    reasoning             The tools have answered.',
    'sent     message               The tools said: 4 degrees.',
    'sent     message               Do I need a coat?',
  ])
})

test('in the example, a response continues the one that its client names', async () => {
  const lines = await run(process.execPath, new URL('previous-response.ts', import.meta.url))
  expect(lines).toEqual([
    `I am the demo model, and I heard “Who am I?”. ${REMEMBERED}`,
    `I am the demo model, and I heard “Spell my name.”. ${REMEMBERED}`,
    'message',
    'reasoning',
    'message',
    'message',
  ])
})

test('the example stream has reasoning, text and one last event', async () => {
  const lines = await run(process.execPath, new URL('stream.ts', import.meta.url))
  expect(lines).toEqual([
    expect.stringMatching(/\. \[reasoning\]$/),
    expect.stringMatching(/^Hello! I am the demo model, and I heard “Hello!”\..* \[message\]$/),
    'response.completed',
  ])
})

test('in the example, explain shows what each policy would send, and why', async () => {
  const lines = await run(process.execPath, new URL('explain.ts', import.meta.url))
  const policies = lines.filter((line) => !line.startsWith(' '))
  expect(policies.map((line) => line.split(/ +/)[0])).toEqual([
    'replay',
    'retain',
    'lean',
    'capped',
  ])
  expect(lines).toContain(
    '  All is well.: A long tool output of an old turn was cut down to its beginning and end.',
  )
})

const hasPython = spawnSync('python3', ['--version']).status === 0

test.skipIf(!hasPython)(
  'the Python example holds a conversation (skipped without python3)',
  async () => {
    const lines = await run('python3', new URL('conversation.py', import.meta.url))
    expect(lines.slice(1)).toEqual([
      `I am the demo model, and I heard “Who am I?”. ${REMEMBERED}`,
      "['message', 'reasoning', 'message', 'message', 'reasoning', 'message']",
      'True',
    ])
  },
)
