/**
 * What of the memory reaches a model with the next request: what is asked of it, what is sent of it, and
 * how often. The upstream thinks in every answer, so that there is something to be remembered.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startGateway, upstreams } from '../support/gateway.ts'
import { askInText, goneOn, type Message } from '../support/text-client.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'
import { speak } from '../support/wires.ts'

type Gateway = Awaited<ReturnType<typeof startGateway>>

let upstream: Upstream
let gateway: Gateway
beforeAll(async () => {
  let thoughts = 0
  upstream = await startUpstream((response, received) => {
    thoughts += 1
    return speak({ reasoning: `Thought ${thoughts}.`, text: 'Noted.' })(response, received)
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

describe('what the memory is asked', () => {
  /** Every verb by which something is read, of every port, while this runs. */
  async function askedOf(run: () => Promise<unknown>): Promise<readonly string[]> {
    const asked: string[] = []
    const { store, archive, recall, media, summaries, requests, facts, layers } =
      gateway.dependencies
    const ports = { store, archive, recall, media, summaries, requests, facts, layers }
    const own = Object.values(ports).map((port) => ({ port, verbs: { ...port } }))
    for (const { port, verbs } of own) {
      for (const [name, verb] of Object.entries(verbs)) {
        const counted = (...given: readonly unknown[]): unknown => {
          asked.push(name)
          return (verb as (...given: readonly unknown[]) => unknown)(...given)
        }
        Object.assign(port, { [name]: counted })
      }
    }
    await run()
    for (const { port, verbs } of own) Object.assign(port, verbs)
    return asked.filter((verb) => !WRITES.has(verb))
  }
  /** Some of them come behind the answer, and how many there are depends on how it came. */
  const WRITES = new Set(['openTurn', 'journalItems', 'closeTurn', 'keepRequest'])

  const question = (content: string): Message => ({ role: 'user', content })

  test('is nothing where there is nothing to look up (C7)', async () => {
    const asked = await askedOf(() => complete([question('New?')]))
    expect(asked).not.toContain('findTurns')
    const answered = [question('New?'), { role: 'assistant', content: 'Yes.' }, question('Why?')]
    expect(await askedOf(() => complete(answered))).toContain('findTurns')
  })

  test('is no more in a long chat than in a short one (C7)', async () => {
    let chat: readonly Message[] = [question('Round 0?')]
    const rounds: (readonly string[])[] = []
    for (let round = 1; round <= 12; round += 1) {
      const asking = { url: gateway.url, isOpenWebUi: true, chat, model: 'gpt-5', stream: false }
      rounds.push(
        await askedOf(async () => void (chat = goneOn(chat, await askInText(asking), '?'))),
      )
    }
    expect(last().match(/Thought \d+\./g)?.length ?? 0).toBeGreaterThan(0)
    expect(rounds).toEqual([[], ...Array.from({ length: 11 }, () => ['findTurns'])])
  })
})

describe('what is asked now', () => {
  test('is sent once, and last, behind what was said before (C21, C22)', async () => {
    const id = await respond({ instructions: 'Be brief.', input: 'First question' })
    await respond({ instructions: 'Be kind.', input: 'Second question', previous_response_id: id })
    expect([timesSent('First question'), timesSent('Second question')]).toEqual([1, 1])
    const order = ['Be kind.', 'First question', 'Noted.', 'Second question']
    const places = order.map((text) => last().indexOf(text))
    expect(places).toEqual(places.toSorted((a, b) => a - b))
  })

  test('is sent once in a chat whose turns are remembered with their questions (C22)', async () => {
    const url = gateway.url
    let chat: readonly Message[] = [{ role: 'user', content: 'Where do I live?' }]
    for (const next of ['In which street?', 'Which number?']) {
      const told = await askInText({ url, chat, isOpenWebUi: true, model: 'gpt-5' })
      chat = goneOn(chat, told, next)
    }
    await askInText({ url, chat, isOpenWebUi: true, model: 'gpt-5' })
    const sent = ['Where do I live?', 'In which street?', 'Which number?'].map(timesSent)
    expect(sent).toEqual([1, 1, 1])
    expect(timesSent('Thought')).toBeGreaterThan(0)
  })
})

describe('a call', () => {
  test('brings back the reasoning that led to it, though its words are gone, and no marker was there (C130)', async () => {
    const { behave } = upstream
    const call = { id: 'call_of_mine', name: 'look', arguments: '{}' }
    upstream.behave = speak({ reasoning: 'I must look.', text: 'I look.', calls: [call] })
    const asked = [{ role: 'user', content: 'Is there fog?' }]
    await complete(asked)
    upstream.behave = behave
    const made = { id: call.id, type: 'function', function: { name: 'look', arguments: '{}' } }
    const called = { role: 'assistant', content: null, tool_calls: [made] }
    const output = { role: 'tool', tool_call_id: call.id, content: 'fog' }
    await complete([...asked, called, output])
    expect(timesSent('I must look.')).toBe(1)
    expect(last().indexOf('I must look.')).toBeLessThan(last().indexOf(call.id))
  })
})

describe('the instructions', () => {
  test('are those of the request, and not those of the one before (C20)', async () => {
    const id = await respond({ instructions: 'Speak like a pirate.', input: 'Hello' })
    expect(last()).toContain('pirate')
    await respond({ input: 'Again', previous_response_id: id })
    expect(last()).toContain('Hello')
    expect(last()).not.toContain('pirate')
  })

  test('are not inherited when they are items either (C20)', async () => {
    const instructions = [{ role: 'developer', content: 'Speak like a pirate.' }]
    const id = await respond({ instructions, input: 'Hello' })
    expect(timesSent('pirate')).toBe(1)
    await respond({ input: 'Again', previous_response_id: id })
    expect([timesSent('pirate'), timesSent('Hello')]).toEqual([0, 1])
  })

  test('that were an item of the conversation stay one, as at OpenAI (C20)', async () => {
    const system = { role: 'system', content: 'The ship is called Ada.' }
    const id = await respond({ input: [system, { role: 'user', content: 'Hello' }] })
    await respond({ input: 'Again', previous_response_id: id })
    expect(timesSent('The ship is called Ada.')).toBe(1)
  })

  test('of a chat are those that its client sends now (C20)', async () => {
    const said = [
      { role: 'user', content: 'What is tided?' },
      { role: 'assistant', content: 'Noted.' },
      { role: 'user', content: 'Go on.' },
    ]
    await complete([{ role: 'system', content: 'Today is Monday.' }, ...said.slice(0, 1)])
    await complete([{ role: 'system', content: 'Today is Tuesday.' }, ...said])
    expect(last()).toMatch(/Thought \d+/)
    expect([timesSent('Monday'), timesSent('Tuesday')]).toEqual([0, 1])
  })
})

describe('text that is no text', () => {
  test('half a character reaches the model as a broken one, now and later (C19)', async () => {
    const id = await respond({ input: 'half \ud83d of one' })
    expect(last()).toContain('half � of one')
    await respond({ input: 'And?', previous_response_id: id })
    expect(last()).toContain('half � of one')
  })

  /** As a client writes it, byte for byte; and what of that the upstream is sent. */
  async function passedOn(path: string, written: string | Uint8Array): Promise<string> {
    const headers = { 'content-type': 'application/json' }
    const body = Buffer.from(written)
    const answer = await fetch(gateway.url + path, { method: 'POST', headers, body })
    expect(answer.status).toBe(200)
    const sent = Number(upstream.received.at(-1)?.headers['content-length'])
    // Read as a text, what is broken looks as if it had been mended on the way.
    expect(sent).toBe(Buffer.byteLength(last()))
    return last()
  }
  const CHAT = '{"model":"m", "messages":[{"role":"user","content":"a'
  const RESPONSE = '{"model":"gpt-5","store":false, "input":[{"role":"user","content":"a'

  test.each([
    ['/v1/chat/completions', CHAT],
    ['/v1/responses', RESPONSE],
  ])('also where nothing else is changed, in %s (C19)', async (path, before) => {
    const whole = `${before} \\\\ud83d \\ud83e\\uDD8A 🦊"}]}`
    expect(await passedOn(path, whole)).toBe(whole)
    const broken = ['\\ud83d', '\\uDD8a', '\\uDD8a\\ud83d', '\\\\\\ud83e']
    const mended = ['�', '�', '��', '\\\\�']
    for (const [at, half] of broken.entries())
      expect(await passedOn(path, `${before}${half} 🦊"}]}`)).toBe(`${before}${mended[at]} 🦊"}]}`)
    const bytes = [Buffer.from(before), Buffer.of(0xff, 0xc3), Buffer.from('"}]}')]
    expect(await passedOn(path, Buffer.concat(bytes))).toBe(`${before}��"}]}`)
  })
})
