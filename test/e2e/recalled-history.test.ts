/**
 * Recalled history: which database reads a request needs, which stored items are sent, and how often. The
 * upstream reasons in every answer, so that each turn is stored.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startGateway, upstreams } from '../support/gateway.ts'
import { askInText, addRound, type Message } from '../support/text-client.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'
import { answerWith } from '../support/answer-formats.ts'

type Gateway = Awaited<ReturnType<typeof startGateway>>

let upstream: Upstream
let gateway: Gateway
beforeAll(async () => {
  let thoughts = 0
  upstream = await startUpstream((response, received) => {
    thoughts += 1
    return answerWith({ reasoning: `Thought ${thoughts}.`, text: 'Noted.' })(response, received)
  })
  const account = { baseUrl: upstream.url, apiKey: 'k' }
  gateway = await startGateway(
    upstreams(
      { name: 'r', wire: 'responses', models: ['gpt-5'], ...account },
      { name: 'c', wire: 'chat', models: ['m'], ...account },
    ),
  )
})
afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

const last = () => upstream.received.at(-1)?.text ?? ''
const timesSent = (text: string) => last().split(text).length - 1

async function respond(fields: object): Promise<string> {
  const response = await gateway.post('/v1/responses', { model: 'gpt-5', ...fields })
  expect(response.status).toBe(200)
  return ((await response.json()) as { readonly id: string }).id
}

async function complete(messages: readonly object[], model = 'gpt-5'): Promise<void> {
  const response = await gateway.post('/v1/chat/completions', { model, messages })
  expect(response.status).toBe(200)
  await response.text()
}

describe('database reads of recall', () => {
  /** Returns the names of all store functions that read during `run`. */
  async function askedOf(run: () => Promise<unknown>): Promise<readonly string[]> {
    const requestFields: string[] = []
    const { store, archive, recall, media, summaries, requests, facts, layers } =
      gateway.dependencies
    const ports = { store, archive, recall, media, summaries, requests, facts, layers }
    const own = Object.values(ports).map((port) => ({ port, verbs: { ...port } }))
    for (const { port, verbs } of own) {
      for (const [name, verb] of Object.entries(verbs)) {
        const counted = (...given: readonly unknown[]): unknown => {
          requestFields.push(name)
          return (verb as (...given: readonly unknown[]) => unknown)(...given)
        }
        Object.assign(port, { [name]: counted })
      }
    }
    await run()
    for (const { port, verbs } of own) Object.assign(port, verbs)
    return requestFields.filter((verb) => !WRITES.has(verb))
  }
  /** Writes are left out: some happen after the answer, in a number that depends on its timing. */
  const WRITES = new Set(['openTurn', 'journalItems', 'closeTurn', 'saveRequests'])

  const question = (content: string): Message => ({ role: 'user', content })

  test('recall reads no database if a request has nothing to look up (C7)', async () => {
    const requestFields = await askedOf(() => complete([question('New?')]))
    expect(requestFields).not.toContain('findTurns')
    const answered = [question('New?'), { role: 'assistant', content: 'Yes.' }, question('Why?')]
    expect(await askedOf(() => complete(answered))).toContain('findTurns')
  })

  test('the number of database reads of recall does not increase with the length of a chat (C7)', async () => {
    let chat: readonly Message[] = [question('Round 0?')]
    const rounds: (readonly string[])[] = []
    for (let round = 1; round <= 12; round += 1) {
      const asking = { url: gateway.url, isOpenWebUi: true, chat, model: 'gpt-5', stream: false }
      rounds.push(
        await askedOf(async () => void (chat = addRound(chat, await askInText(asking), '?'))),
      )
    }
    expect(last().match(/Thought \d+\./g)?.length ?? 0).toBeGreaterThan(0)
    expect(rounds).toEqual([[], ...Array.from({ length: 11 }, () => ['findTurns'])])
  })
})

describe('the current question in the prompt', () => {
  test('the current question is sent once, after the stored items (C21, C22)', async () => {
    const id = await respond({ instructions: 'Be brief.', input: 'First question' })
    await respond({ instructions: 'Be kind.', input: 'Second question', previous_response_id: id })
    expect([timesSent('First question'), timesSent('Second question')]).toEqual([1, 1])
    const order = ['Be kind.', 'First question', 'Noted.', 'Second question']
    const places = order.map((text) => last().indexOf(text))
    expect(places).toEqual(places.toSorted((a, b) => a - b))
  })

  test('the current question is sent once in a chat whose turns are stored with their questions (C22)', async () => {
    const url = gateway.url
    let chat: readonly Message[] = [{ role: 'user', content: 'Where do I live?' }]
    for (const next of ['In which street?', 'Which number?']) {
      const result = await askInText({ url, chat, isOpenWebUi: true, model: 'gpt-5' })
      chat = addRound(chat, result, next)
    }
    await askInText({ url, chat, isOpenWebUi: true, model: 'gpt-5' })
    const sent = ['Where do I live?', 'In which street?', 'Which number?'].map(timesSent)
    expect(sent).toEqual([1, 1, 1])
    expect(timesSent('Thought')).toBeGreaterThan(0)
  })
})

test('recall finds reasoning by the id of its tool call, without its text or a marker (C130)', async () => {
  const { behave } = upstream
  const call = { id: 'call_of_mine', name: 'look', arguments: '{}' }
  upstream.behave = answerWith({ reasoning: 'I must look.', text: 'I look.', calls: [call] })
  const requestFields = [{ role: 'user', content: 'Is there fog?' }]
  await complete(requestFields)
  upstream.behave = behave
  const made = { id: call.id, type: 'function', function: { name: 'look', arguments: '{}' } }
  const called = { role: 'assistant', content: null, tool_calls: [made] }
  const output = { role: 'tool', tool_call_id: call.id, content: 'fog' }
  await complete([...requestFields, called, output])
  expect(timesSent('I must look.')).toBe(1)
  expect(last().indexOf('I must look.')).toBeLessThan(last().indexOf(call.id))
})

describe('instructions of earlier requests', () => {
  test('instructions are those of the current request only (C20)', async () => {
    const id = await respond({ instructions: 'Speak like a pirate.', input: 'Hello' })
    expect(last()).toContain('pirate')
    await respond({ input: 'Again', previous_response_id: id })
    expect(last()).toContain('Hello')
    expect(last()).not.toContain('pirate')
  })

  test('leading developer items are not inherited from earlier requests (C20)', async () => {
    const instructions = [{ role: 'developer', content: 'Speak like a pirate.' }]
    const id = await respond({ instructions, input: 'Hello' })
    expect(timesSent('pirate')).toBe(1)
    await respond({ input: 'Again', previous_response_id: id })
    expect([timesSent('pirate'), timesSent('Hello')]).toEqual([0, 1])
  })

  test('a system item of a stored conversation stays in later prompts, as at OpenAI (C20)', async () => {
    const system = { role: 'system', content: 'The ship is called Ada.' }
    const id = await respond({ input: [system, { role: 'user', content: 'Hello' }] })
    await respond({ input: 'Again', previous_response_id: id })
    expect(timesSent('The ship is called Ada.')).toBe(1)
  })

  test('instructions of a chat are those that its client sends now (C20)', async () => {
    const reply = [
      { role: 'user', content: 'What is tided?' },
      { role: 'assistant', content: 'Noted.' },
      { role: 'user', content: 'Go on.' },
    ]
    await complete([{ role: 'system', content: 'Today is Monday.' }, ...reply.slice(0, 1)])
    await complete([{ role: 'system', content: 'Today is Tuesday.' }, ...reply])
    expect(last()).toMatch(/Thought \d+/)
    expect([timesSent('Monday'), timesSent('Tuesday')]).toEqual([0, 1])
  })
})

describe('invalid Unicode in requests', () => {
  test('half a surrogate pair becomes U+FFFD in this and in later requests (C19)', async () => {
    const id = await respond({ input: 'half \ud83d of one' })
    expect(last()).toContain('half � of one')
    await respond({ input: 'And?', previous_response_id: id })
    expect(last()).toContain('half � of one')
  })

  /** Sends bytes as a client would write them, and returns what the upstream received. */
  async function passedOn(path: string, written: string | Uint8Array): Promise<string> {
    const headers = { 'content-type': 'application/json' }
    const body = Buffer.from(written)
    const answer = await fetch(gateway.url + path, { method: 'POST', headers, body })
    expect(answer.status).toBe(200)
    const sent = Number(upstream.received.at(-1)?.headers['content-length'])
    // Decoding would hide an invalid byte, so the lengths are compared.
    expect(sent).toBe(Buffer.byteLength(last()))
    return last()
  }
  const CHAT = '{"model":"m", "messages":[{"role":"user","content":"a'
  const RESPONSE = '{"model":"gpt-5","store":false, "input":[{"role":"user","content":"a'

  test.each([
    ['/v1/chat/completions', CHAT],
    ['/v1/responses', RESPONSE],
  ])(
    'half a surrogate pair is also replaced in an otherwise unchanged body of %s (C19)',
    async (path, before) => {
      const whole = `${before} \\\\ud83d \\ud83e\\uDD8A 🦊"}]}`
      expect(await passedOn(path, whole)).toBe(whole)
      const broken = ['\\ud83d', '\\uDD8a', '\\uDD8a\\ud83d', '\\\\\\ud83e']
      const mended = ['\\ufffd', '\\ufffd', '\\ufffd\\ufffd', '\\\\\\ufffd']
      for (const [at, half] of broken.entries())
        expect(await passedOn(path, `${before}${half} 🦊"}]}`)).toBe(
          `${before}${mended[at]} 🦊"}]}`,
        )
      const bytes = [Buffer.from(before), Buffer.of(0xff, 0xc3), Buffer.from('"}]}')]
      expect(await passedOn(path, Buffer.concat(bytes))).toBe(`${before}��"}]}`)
    },
  )
})
