/** Reads the bytes of SQLite files after a deletion: no text of the deleted user may be left in them. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { createStores, type Stores } from '../../../src/store/create-stores.ts'
import { openEngine } from '../../../src/store/database/open-engine.ts'
import type { NewTurn } from '../../../src/store/turns/turn-store-interface.ts'
import { newFact } from '../contract-facts.ts'
import { newVersion } from '../contract-layers.ts'
import { newSummary } from '../contract-summaries.ts'
import { assistant, createEnding, newId, newTurn, nextTurn, numberItems, user } from '../turns.ts'

function openFolder(): { readonly path: string; readonly readFiles: () => string } {
  const folder = mkdtempSync(join(tmpdir(), 'backstory-erased-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return {
    path: join(folder, 'a.db'),
    readFiles: () =>
      readdirSync(folder)
        .map((name) => readFileSync(join(folder, name), 'latin1'))
        .join(''),
  }
}

/** The kinds of words that `storeEverything` writes, each followed by the name of its user. */
const KINDS =
  'asked answered reasoned called output instructed failed labeled titled context event event2 summarized noted fact area layer sent about upstream picture fetched model2 account2 item callid reference'.split(
    ' ',
  )

/** Stores every kind of data for a user. `size` is the number of repetitions of each word. */
async function storeEverything(stores: Stores, name: string, size: number): Promise<void> {
  const owner = { tenant: 'tenant', user: name }
  const say = (kind: (typeof KINDS)[number]): string => `${kind}-of-${name} `.repeat(size)
  const now = Date.now()
  const conversationId = `conv_${newId()}`
  await stores.conversations.createConversation(
    { id: conversationId, ...owner, metadata: { title: say('titled') }, createdAtMs: now },
    null,
  )
  await stores.conversations.setPolicyOverrides(owner, conversationId, { note: say('context') })
  const image = Buffer.from(say('picture').padEnd(3000, 'x')).toString('base64')
  const turn = newTurn({
    ...owner,
    background: true,
    replicaId: 'R1',
    conversation: conversationId,
    request: { instructions: say('instructed') },
    metadata: { label: say('labeled') },
    input: [
      user(say('asked')),
      {
        type: 'message',
        role: 'user',
        content: [{ type: 'input_image', image_url: `data:image/png;base64,${image}` }],
      } as never,
      { type: 'function_call_output', call_id: `callid-of-${name}`, output: say('output') },
    ],
  })
  await stores.runs.openRun(turn, { first: 0, last: 0, text: say('event') })
  const run = { turnId: turn.id, ...owner, replicaId: 'R1' }
  await stores.runs.recordRun(run, { first: 0, last: 1, text: say('event2').repeat(2) }, [])
  await stores.runs.endRun(
    run,
    createEnding(turn, {
      failure: {
        status: 500,
        type: 'server_error',
        code: null,
        param: null,
        message: say('failed'),
      },
      servedModel: `model2-of-${name}`,
      origin: { ...turn.origin, account: `account2-of-${name}` },
      items: numberItems([
        { type: 'reasoning', summary: [{ type: 'summary_text', text: say('reasoned') }] },
        { ...assistant(say('answered')), id: `item-of-${name}` },
        {
          type: 'function_call',
          call_id: `callid-of-${name}`,
          name: 'x',
          arguments: JSON.stringify(say('called')),
        },
      ]),
    }),
    null,
  )
  await stores.requests.saveRequests(owner, turn.id, async () => ({
    baseTurnId: null,
    requests: [{ body: JSON.stringify(say('sent')), items: say('upstream'), about: say('about') }],
  }))
  const later = nextTurn(turn, { input: [user(say('reference'))] })
  await stores.store.openTurn(later)
  await stores.store.closeTurn(createEnding(later))
  await stores.media.saveMedium(
    { ...owner, thread: turn.thread },
    `https://example.com/${name}.png`,
    { type: 'image/png', base64: say('fetched') },
    now,
  )
  await stores.summaries.saveSummary(
    newSummary({ ...owner, turnId: turn.id, text: say('summarized'), facts: [say('noted')] }),
  )
  await stores.facts.saveFact(newFact({ ...owner, text: say('fact'), area: say('area') }))
  await stores.layers.saveVersion(
    newVersion({ owner, layer: 'working_memory', thread: null }, { body: { text: say('layer') } }),
  )
  await stores.requests.waitForPendingWrites()
}

function listWordsInFiles(bytes: string, name: string): readonly string[] {
  const isStored = (text: string): boolean =>
    bytes.includes(text) ||
    [0, 1, 2].some((shift) => {
      // The text may be at any position of a base64 text.
      const base64 = Buffer.from('x'.repeat(shift) + text).toString('base64')
      return bytes.includes(base64.slice(shift === 0 ? 0 : 4, -4))
    })
  return KINDS.filter((kind) => isStored(`${kind}-of-${name}`))
}

test.each([
  ['short texts', 1],
  ['texts of several pages', 1200],
])(
  'after a user was deleted and the process has stopped, no word of the user is left in the files (%s)',
  async (_, size) => {
    const { path, readFiles } = openFolder()
    const stores = createStores(await openEngine(`sqlite:${path}`))
    for (let round = 0; round < 6; round++) {
      await Promise.all([
        storeEverything(stores, 'alice', size),
        storeEverything(stores, 'bob', size),
      ])
    }
    expect(listWordsInFiles(readFiles(), 'alice')).toEqual(KINDS)
    expect(await stores.deletion.deleteUser('tenant', 'alice', Date.now())).toBe(12)
    await stores.store.close()
    expect(listWordsInFiles(readFiles(), 'alice')).toEqual([])
    // The longer log replaced the event.
    const kept = KINDS.filter((kind) => kind !== 'event')
    expect(listWordsInFiles(readFiles(), 'bob')).toEqual(kept)
  },
)

const DELETIONS: readonly (readonly [
  string,
  (stores: Stores, turn: NewTurn) => Promise<unknown>,
])[] = [
  [
    'a response',
    ({ archive }, turn) =>
      archive.deleteTurn({ ...turn, turnId: turn.id, dialect: 'responses', nowMs: Date.now() }),
  ],
  [
    'a thread',
    ({ deletion }, turn) => deletion.deleteThread({ ...turn, turnId: turn.id, nowMs: Date.now() }),
  ],
  ['a user', ({ deletion }) => deletion.deleteUser('tenant', 'alice', Date.now())],
  [
    'what expired',
    ({ deletion }) =>
      deletion.expireTurns({
        chats: 'all',
        unusedSinceMs: Date.now() + 1000,
        nowMs: Date.now(),
        after: null,
        limit: 500,
      }),
  ],
]

test.each(DELETIONS)(
  'no piece of a long text is left in the files after the deletion of %s',
  async (_, deleteTurn) => {
    const { path, readFiles } = openFolder()
    const stores = createStores(await openEngine(`sqlite:${path}`))
    const owner = { tenant: 'tenant', user: 'alice' }
    const say = (kind: string): string => `${kind}-of-alice `.repeat(150_000)
    const turn = newTurn({
      ...owner,
      background: true,
      replicaId: 'R1',
      request: { instructions: say('instructed') },
      input: [user('short'), { type: 'function_call_output', call_id: 'c', output: say('output') }],
    })
    await stores.runs.openRun(turn, { first: 0, last: 0, text: say('event') })
    const run = { ...owner, turnId: turn.id, replicaId: 'R1' }
    const items = numberItems([assistant(say('answered'))])
    await stores.runs.endRun(run, createEnding(turn, { items }), {
      first: 1,
      last: 1,
      text: say('event2'),
    })
    const kinds = ['answered', 'output', 'instructed', 'event', 'event2']
    expect(listWordsInFiles(readFiles(), 'alice').toSorted()).toEqual(kinds.toSorted())
    await deleteTurn(stores, turn)
    expect(await stores.store.loadChain(turn, turn.id)).toBeNull()
    await stores.store.close()
    expect(listWordsInFiles(readFiles(), 'alice')).toEqual([])
  },
)

test('while the process keeps running, the words of a deleted thread disappear from the files soon', async () => {
  const { path, readFiles } = openFolder()
  const stores = createStores(await openEngine(`sqlite:${path}`))
  const turn = newTurn({ user: 'alice', input: [user('asked-of-alice '.repeat(3000))] })
  await stores.store.openTurn(turn)
  await stores.store.closeTurn(createEnding(turn))
  await stores.deletion.deleteThread({ ...turn, turnId: turn.id, nowMs: Date.now() })
  await vi.waitFor(() => expect(listWordsInFiles(readFiles(), 'alice')).toEqual([]), 20_000)
  expect(statSync(`${path}-wal`).size).toBe(0)
  await stores.store.close()
})

test('texts that an earlier version left in free pages are erased when the file is opened and closed', async () => {
  const { path, readFiles } = openFolder()
  await (await openEngine(`sqlite:${path}`)).close()
  const earlier = new DatabaseSync(path)
  earlier.exec(`pragma user_version = 0; pragma secure_delete = off;
    create table old (text text); insert into old values (hex(zeroblob(9000)) || 'asked-of-alice');
    drop table old`)
  earlier.close()
  expect(listWordsInFiles(readFiles(), 'alice')).toEqual(['asked'])
  await (await openEngine(`sqlite:${path}`)).close()
  expect(listWordsInFiles(readFiles(), 'alice')).toEqual([])
})
