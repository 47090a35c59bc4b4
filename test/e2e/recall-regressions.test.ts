/**
 * Regression tests for text clients: each plays the conversation in which a promise of the recall was once
 * broken.
 */
import { describe, expect, test } from 'vitest'
import type { Item } from '../../src/core/item.ts'
import { formatMarkerLine } from '../../src/core/markers/format-and-extract-markers.ts'
import { restoreForgottenItems } from '../../src/recall/restore-forgotten-items.ts'
import { splitIntoSegments } from '../../src/recall/split-and-fingerprint-segments.ts'
import { openEngine } from '../../src/store/database/open-engine.ts'
import { createStores } from '../../src/store/create-stores.ts'
import { assistant, createEnding, newTurn, ORIGIN, numberItems, user } from '../store/turns.ts'
import { startGateway, upstreams } from '../support/gateway.ts'
import { answerJson, startUpstream, type Upstream } from '../support/upstream.ts'
import { countPropertyReads } from '../support/count-reads.ts'

const MODEL = 'm'
const OPEN_WEBUI = { 'x-backstory-chat': 'chat', 'x-backstory-message': 'message' }

type Gateway = Awaited<ReturnType<typeof startGateway>>

async function withGateway(
  run: (gateway: Gateway, upstream: Upstream) => Promise<void>,
  environment: Readonly<Record<string, string>> = {},
): Promise<void> {
  const upstream = await startUpstream()
  const quirks = { reasoningField: 'reasoning_content' }
  const account = { name: 'up', wire: 'chat', baseUrl: upstream.url, apiKey: 'k', quirks }
  const gateway = await startGateway({ ...upstreams(account), ...environment })
  try {
    await run(gateway, upstream)
  } finally {
    await gateway.close()
    await upstream.close()
  }
}

function answerJsonWith(content: string, thought: string | null = null) {
  const reasoning = thought === null ? {} : { reasoning_content: thought }
  const message = { role: 'assistant', content, ...reasoning }
  const choices = [{ index: 0, finish_reason: 'stop', message }]
  return answerJson(200, { id: 'c', object: 'chat.completion', created: 1, model: MODEL, choices })
}

const chatMessage = (role: string, content: unknown) => ({ role, content })

async function complete(gateway: Gateway, messages: readonly unknown[], headers = {}) {
  const body = { model: MODEL, messages }
  return (await gateway.post('/v1/chat/completions', body, headers)).text()
}

async function respond(gateway: Gateway, fields: object, headers = {}): Promise<string> {
  const response = await gateway.post('/v1/responses', { model: MODEL, ...fields }, headers)
  return ((await response.json()) as { readonly id: string }).id
}

describe('reasoning and markers of other chats, users and tenants', () => {
  test('reasoning about one text is not sent with a chat about another (C132)', async () => {
    await withGateway(async (gateway, upstream) => {
      upstream.behave = answerJsonWith('Yes.', 'She earns 90k.')
      await complete(gateway, [chatMessage('user', 'My contract: 90k a year\n\nIs this fair?')])
      upstream.behave = answerJsonWith('Because.')
      await complete(gateway, [
        chatMessage('user', 'My rent: 1k a month\n\nIs this fair?'),
        chatMessage('assistant', 'Yes.'),
        chatMessage('user', 'Why?'),
      ])
      expect(upstream.received.at(-1)?.text).not.toContain('90k')
    })
  })

  test('reasoning about one picture is not sent with a chat about another', async () => {
    await withGateway(async (gateway, upstream) => {
      const shown = (bytes: string) =>
        chatMessage('user', [
          { type: 'text', text: 'What is this?' },
          { type: 'image_url', image_url: { url: `data:image/png;base64,${bytes}` } },
        ])
      upstream.behave = answerJsonWith('A cat.', 'Black, with one eye.')
      await complete(gateway, [shown('AAAA')])
      upstream.behave = answerJsonWith('Grey.')
      await complete(gateway, [
        shown('BBBB'),
        chatMessage('assistant', 'A cat.'),
        chatMessage('user', 'Colour?'),
      ])
      expect(upstream.received.at(-1)?.text).not.toContain('one eye')
    })
  })

  test('a marker of another tenant is treated like an unknown one in the look-up, the prompt and the answer (C132)', async () => {
    await withGateway(
      async (gateway, upstream) => {
        const key = (name: string) => ({ ...OPEN_WEBUI, authorization: `Bearer ${name}` })
        upstream.behave = answerJsonWith('Hello', 'A secret.')
        const result = await complete(gateway, [chatMessage('user', 'Hi')], key('theirs'))
        const [foreign = ''] = /\[\w{20}\]: #/.exec(result) ?? []
        upstream.behave = answerJsonWith('So.')
        const request: unknown[] = []
        const { recall } = gateway.dependencies
        const { findTurns } = recall
        Object.assign(recall, {
          findTurns: (keys: { readonly turnIds: readonly string[] }) => {
            request.push({ ...keys, turnIds: keys.turnIds.length })
            return findTurns(keys as never)
          },
        })
        const answers: string[] = []
        for (const marker of [foreign, formatMarkerLine('0123456789ABCDEFGHJK')]) {
          const chat = [
            chatMessage('user', 'Hi'),
            chatMessage('assistant', `${marker}\n\nHello`),
            chatMessage('user', 'And?'),
          ]
          const answer = await complete(gateway, chat, key('ours'))
          answers.push(answer.replaceAll(/chatcmpl-\w+|"created":\d+/g, ''))
        }
        expect(foreign).not.toBe('')
        expect(request).toHaveLength(2)
        expect(request[0]).toEqual(request[1])
        const [theirs, nobodys] = upstream.received.slice(-2).map(({ text }) => text)
        expect(theirs).toBe(nobodys)
        expect(theirs).not.toMatch(/A secret|\]: #/)
        expect(answers[0]).toBe(answers[1])
      },
      { BACKSTORY_KEYS: 'ours:ours,theirs:theirs' },
    )
  })

  test('a response of another user is not found', async () => {
    await withGateway(
      async (gateway, upstream) => {
        upstream.behave = answerJsonWith('Hello', 'A secret.')
        const alice = { 'x-backstory-user': 'alice' }
        const headers = { 'x-backstory-user': 'bob' }
        const id = await respond(gateway, { input: 'Hi' }, alice)
        const more = { model: MODEL, input: 'What was said?', previous_response_id: id }
        const next = await gateway.post('/v1/responses', more, headers)
        const read = await fetch(`${gateway.url}/v1/responses/${id}`, { headers })
        expect([next.status, read.status]).toEqual([400, 404])
      },
      { TRUST_USER_HEADERS: 'on' },
    )
  })
})

describe('requests that store a turn or not', () => {
  test('a task request on a Responses connection stores no turn (C128)', async () => {
    await withGateway(async (gateway, upstream) => {
      upstream.behave = answerJsonWith('{"title":"T"}')
      const headers = { ...OPEN_WEBUI, 'x-backstory-task': 'title_generation' }
      const id = await respond(gateway, { input: 'Title?' }, headers)
      expect((await fetch(`${gateway.url}/v1/responses/${id}`)).status).toBe(404)
    })
  })

  test('a task request on a chat connection stores no turn and recalls none (C128)', async () => {
    await withGateway(async (gateway, upstream) => {
      const { store } = gateway.dependencies
      let opened = 0
      const { openTurn } = store
      Object.assign(store, { openTurn: (turn: never) => ((opened += 1), openTurn(turn)) })
      upstream.behave = answerJsonWith('Hello', 'A thought.')
      await complete(gateway, [chatMessage('user', 'Hi')], OPEN_WEBUI)
      expect(opened).toBe(1)
      const history = [
        chatMessage('user', 'Hi'),
        chatMessage('assistant', 'Hello'),
        chatMessage('user', 'A title?'),
      ]
      const task = { ...OPEN_WEBUI, 'x-backstory-task': 'title_generation' }
      const result = await complete(gateway, history, task)
      expect(upstream.received.at(-1)?.text).not.toContain('A thought.')
      expect(result).not.toContain(']: #')
      expect(opened).toBe(1)
    })
  })

  test('a temporary chat on a Responses connection is not stored for other chats', async () => {
    await withGateway(async (gateway, upstream) => {
      upstream.behave = answerJsonWith('Hello', 'Thought.')
      const id = await respond(gateway, { input: 'Hi' }, { 'x-backstory-chat': 'local:tab' })
      const chain = await gateway.dependencies.store.loadChain(
        { tenant: 'local', user: null },
        id.slice('resp_'.length),
      )
      expect(chain?.map(({ isTemporary }) => isTemporary)).toEqual([true])
    })
  })

  test('an answer has no turn marker with `REMEMBER=off`', async () => {
    await withGateway(
      async (gateway, upstream) => {
        upstream.behave = answerJsonWith('Hello', 'Thought.')
        const request = { model: MODEL, input: 'Hi' }
        const result = await (await gateway.post('/v1/responses', request, OPEN_WEBUI)).text()
        expect(result).not.toContain(']: #')
      },
      { REMEMBER: 'off' },
    )
  })

  test('a turn without reasoning records that the upstream rejected earlier reasoning', async () => {
    await withGateway(async (gateway, upstream) => {
      const messages = [chatMessage('user', 'Q')]
      const counts: number[] = []
      upstream.behave = answerJsonWith('A0', 'sealed')
      for (let turn = 1; turn <= 4; turn += 1) {
        const before = upstream.received.length
        await complete(gateway, messages)
        counts.push(upstream.received.length - before)
        messages.push(chatMessage('assistant', `A${turn - 1}`), chatMessage('user', 'Q'))
        const message = 'The encrypted content could not be verified.'
        const refuse = answerJson(400, { error: { message, code: 'invalid_encrypted_content' } })
        upstream.behave = (response, received) =>
          (received.text.includes('sealed') ? refuse : answerJsonWith(`A${turn}`))(
            response,
            received,
          )
      }
      expect(counts).toEqual([1, 2, 1, 1])
    })
  })
})

describe('prompts with recalled items', () => {
  test('the prompt contains white space that the user edited in an answer', async () => {
    await withGateway(async (gateway, upstream) => {
      upstream.behave = answerJsonWith('for x in y:\nprint(x)', 'Thought.')
      await complete(gateway, [chatMessage('user', 'Code?')])
      const edited = chatMessage('assistant', 'for x in y:\n    print(x)')
      await complete(gateway, [
        chatMessage('user', 'Code?'),
        edited,
        chatMessage('user', 'Run it.'),
      ])
      expect(upstream.received.at(-1)?.json['messages']).toMatchObject([{}, edited, {}])
    })
  })

  test('recalled reasoning comes before the text of an answer that a killed gateway did not finish', () => {
    const id = '0123456789ABCDEFGHJK'
    const thought: Item = { type: 'reasoning', summary: [{ type: 'summary_text', text: 't' }] }
    const request = newTurn({ id, input: [user('q')] })
    const turn = { ...request, fingerprint: null, reasoningRefusedBy: null, usedAtMs: 0 }
    const output = [{ ...thought, origin: ORIGIN }]
    const items = [user('q'), assistant(`${formatMarkerLine(id)}\n\nIt was`), user('Go on.')]
    const policy = { replaysTools: true }
    const recalled = restoreForgottenItems(
      items,
      splitIntoSegments(items),
      [{ ...turn, output }],
      policy,
    )
    const types = recalled.items.map(({ type }) => type)
    expect(types).toEqual(['message', 'reasoning', 'message', 'message'])
  })

  test('the prompt for Open WebUI is the one that explain shows', async () => {
    await withGateway(async (gateway, upstream) => {
      upstream.behave = answerJsonWith('Hello')
      const body = { model: MODEL, stream: true, messages: [chatMessage('user', 'Hi')] }
      await (await gateway.post('/v1/chat/completions', body, OPEN_WEBUI)).text()
      const explained = await gateway.post('/v1/context/explain', body, OPEN_WEBUI)
      const sent = { body: upstream.received.at(-1)?.json }
      expect(await explained.json()).toMatchObject({ upstream: sent })
    })
  })
})

describe('look-up of the turns of a chat', () => {
  const keysOf = (turnIds: readonly string[]) => ({
    tenant: 't',
    user: null,
    turnIds,
    callIds: [],
    fingerprints: [],
  })
  async function memory() {
    const engine = await openEngine('sqlite::memory:')
    const { store, recall } = createStores(engine)
    let stored = 0
    const keep = async (words: string) => {
      stored += 1
      const turn = newTurn({
        id: String(stored).padStart(20, '0'),
        tenant: 't',
        input: [user('q')],
      })
      await store.openTurn(turn)
      await store.closeTurn(createEnding(turn, { items: numberItems([assistant(words)]) }))
      return turn.id
    }
    const find = async (turnIds: readonly string[]) =>
      (await recall.findTurns(keysOf(turnIds))).turns.map(({ id }) => id).toSorted()
    return { engine, keep, find }
  }

  test('the look-up finds all turns of a chat after other chats have filled the cache', async () => {
    const { keep, find } = await memory()
    const long = 'x'.repeat(3_000_000)
    const chat = [await keep(long), await keep(long)]
    expect(await find(chat)).toEqual(chat)
    for (let other = 0; other < 3; other += 1) await find([await keep(long)])
    const longer = [...chat, await keep(long)]
    expect(await find(longer)).toEqual(longer)
  })

  test('the look-up finds all turns except the one with a damaged row (C9, C18)', async () => {
    const { engine, keep, find } = await memory()
    const ids = [await keep('a'), await keep('b'), await keep('c')]
    const sql = `update items set body = '{' where turn_id = '${ids[1] ?? ''}' and side = 'out'`
    await engine.write([{ name: null, sql, parameters: [] }])
    expect(await find(ids)).toEqual([ids[0], ids[2]])
  })

  test('recall reads a turn whose marker is in a thousand messages no more often than in ten', () => {
    const id = '0123456789ABCDEFGHJK'
    const turn = { ...newTurn({ id }), fingerprint: null, reasoningRefusedBy: null, usedAtMs: 0 }
    const output: readonly Item[] = [{ ...assistant('word '.repeat(40_000)), origin: ORIGIN }]
    const rounds = (count: number) =>
      Array.from({ length: count }, (_, at) => [
        user('q'),
        assistant(`x${at}\n\n${formatMarkerLine(id)}`),
      ]).flat()
    const recalled = (count: number) => {
      const items = rounds(count)
      return (given: readonly Item[]) =>
        restoreForgottenItems(items, splitIntoSegments(items), [{ ...turn, output: given }], {
          replaysTools: true,
        })
    }
    expect(countPropertyReads(output, recalled(1000))).toBe(
      countPropertyReads(output, recalled(10)),
    )
  })
})
