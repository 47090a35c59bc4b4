/** Contract tests for the ids of answers' messages on every database: who finds them, and when they are deleted. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Caller } from '../../../src/core/client/caller.ts'
import type { AnswerMessageStore } from '../../../src/store/recall/answer-message-store-interface.ts'
import { createAnswerMessageStore } from '../../../src/store/recall/sql-answer-message-store.ts'
import type { Engine } from '../../../src/store/database/engine-interface.ts'
import { createExpiryAndDeletionStore } from '../../../src/store/deletion/sql-expiry-and-deletion-store.ts'
import { createTurnStore } from '../../../src/store/turns/sql-turn-store.ts'
import type { NewTurn } from '../../../src/store/turns/turn-store-interface.ts'
import { ENGINES } from '../engines.ts'
import { assistant, createEnding, newId, newTurn, numberItems } from '../turns.ts'

describe.each(ENGINES)('the ids of messages on %s', (_, open) => {
  let engine: Engine
  let answers: AnswerMessageStore
  let owner: Caller
  let chat: string
  beforeAll(async () => {
    engine = await open()
    answers = createAnswerMessageStore(engine)
  })
  afterAll(() => engine.close())
  beforeEach(() => {
    owner = { tenant: newId(), user: newId() }
    chat = newId()
  })

  const addPlain = async (message: string, parent: string, createdAtMs = 1000): Promise<string> => {
    const id = newId()
    const ids = { chat, message, parent }
    await answers.addPlainAnswer({ id, ...owner, ids, segment: 0, continues: false, createdAtMs })
    return id
  }
  const addTurn = async (
    message: string,
    parent: string | null,
    fields: Partial<NewTurn> = {},
  ): Promise<NewTurn> => {
    const answerMessage = { ids: { chat, message, parent }, segment: 1, continues: true }
    const turn = newTurn({ ...owner, answerMessage, createdAtMs: 1000, ...fields })
    const store = createTurnStore(engine)
    await store.openTurn(turn)
    await store.closeTurn(createEnding(turn, { items: numberItems([assistant('Hello')]) }))
    return turn
  }
  const listMessages = async (by: Partial<Caller> = {}, inChat = chat) =>
    (await answers.listAnswers({ ...owner, ...by }, inChat)).map(({ message }) => message)

  test('a chat lists its answers, with and without a stored turn', async () => {
    const plain = await addPlain('a1', '')
    const turn = await addTurn('a2', 'a1')
    await addTurn('a3"\0', null)
    const list = await answers.listAnswers(owner, chat)
    expect(list.toSorted((one, other) => (one.message < other.message ? -1 : 1))).toEqual([
      {
        id: plain,
        message: 'a1',
        parent: '',
        segment: 0,
        continues: false,
        hasTurn: false,
        usedAtMs: 1000,
      },
      {
        id: turn.id,
        message: 'a2',
        parent: 'a1',
        segment: 1,
        continues: true,
        hasTurn: true,
        usedAtMs: 1000,
      },
      expect.objectContaining({ message: 'a3"\0', parent: null }),
    ])
  })

  test('nobody else finds them: no other tenant, no other user, no caller without a user, no other chat', async () => {
    await addPlain('a1', '')
    await addTurn('a2', 'a1')
    expect(await listMessages()).toHaveLength(2)
    expect(await listMessages({ tenant: newId() })).toEqual([])
    expect(await listMessages({ user: newId() })).toEqual([])
    expect(await listMessages({ user: null })).toEqual([])
    expect(await listMessages({}, newId())).toEqual([])
  })

  test('they are deleted with their user, and none is added for an answer that began before', async () => {
    await addPlain('a1', '')
    await addTurn('a2', 'a1')
    await createExpiryAndDeletionStore(engine).deleteUser(owner.tenant, owner.user ?? '', 2000)
    expect(await listMessages()).toEqual([])
    await addPlain('a3', 'a2', 1500)
    expect(await listMessages()).toEqual([])
    await addPlain('a4', '', Date.now() + 3_600_000)
    expect(await listMessages()).toEqual(['a4'])
  })

  test('they are hidden as soon as the deletion of their user is requested', async () => {
    await addPlain('a1', '')
    await engine.write([
      {
        name: null,
        sql: `insert into erasures (id, tenant, kind, name, user_id, requested_at)
          values ('${newId()}', '${owner.tenant}', 'user', '${owner.user}', '${owner.user}', 2000)`,
        parameters: [],
      },
    ])
    expect(await listMessages()).toEqual([])
  })

  test('the deletion of a chat deletes those of its plain answers, too', async () => {
    await addPlain('a1', '')
    const turn = await addTurn('a2', 'a1')
    await addPlain('a3', 'a2')
    const deletion = createExpiryAndDeletionStore(engine)
    await deletion.deleteThread({ ...owner, turnId: turn.id, nowMs: 2000 })
    expect(await listMessages()).toEqual([])
  })

  test('the deletion of one thread of a chat leaves the answers of its other threads, which are still stored', async () => {
    const turn = await addTurn('a1', '')
    const other = await addTurn('a2', '')
    await addPlain('a3', 'a2')
    const deletion = createExpiryAndDeletionStore(engine)
    await deletion.deleteThread({ ...owner, turnId: turn.id, nowMs: 2000 })
    expect(await listMessages()).toEqual(['a2'])
    await deletion.deleteThread({ ...owner, turnId: other.id, nowMs: 2000 })
    expect(await listMessages()).toEqual([])
  })

  test('the deletion of a chat leaves a chat of another user with the same id', async () => {
    const turn = await addTurn('a1', '')
    const other = { ...owner, user: newId() }
    const ids = { chat, message: 'b1', parent: '' }
    await answers.addPlainAnswer({
      id: newId(),
      ...other,
      ids,
      segment: 0,
      continues: false,
      createdAtMs: 1000,
    })
    const deletion = createExpiryAndDeletionStore(engine)
    await deletion.deleteThread({ ...owner, turnId: turn.id, nowMs: 2000 })
    expect(await listMessages()).toEqual([])
    expect(await listMessages(other)).toEqual(['b1'])
  })

  test('they expire with the turns, temporary ones earlier, unless they were used', async () => {
    const used = await addPlain('used', '')
    await addPlain('unused', 'used')
    await addTurn('with a turn', 'unused')
    const ids = { chat, message: 'temporary', parent: '' }
    const temporary = {
      id: newId(),
      ...owner,
      ids,
      segment: 0,
      continues: false,
      isTemporary: true,
    }
    await answers.addPlainAnswer({ ...temporary, createdAtMs: 1000 })
    await answers.touchAnswers(newId(), [used], 5000)
    await answers.touchAnswers(owner.tenant, [used], 3000)
    const deletion = createExpiryAndDeletionStore(engine)
    const page = { unusedSinceMs: 2000, nowMs: 9000, after: null, limit: 100 }
    await deletion.expireTurns({ ...page, chats: 'temporary' })
    expect((await listMessages()).toSorted()).toEqual(['unused', 'used', 'with a turn'])
    await deletion.expireTurns({ ...page, chats: 'all' })
    expect(await listMessages()).toEqual(['used'])
  })
})
