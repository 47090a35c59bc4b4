/** The routes that delete the stored data of a conversation or of a user. */
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { completionId, responseId } from '../../../src/core/turn-derived-ids.ts'
import { THREAD_AND_USER_DELETION_ROUTES } from '../../../src/server/stored-object-routes/thread-and-user-deletion.ts'
import type { AuthenticatedRequest } from '../../../src/server/authenticate-request.ts'
import type { NewTurn } from '../../../src/store/turns/turn-store-interface.ts'
import type { GatewayDependencies } from '../../../src/gateway/dependencies-interface.ts'
import { startGateway } from '../../support/gateway.ts'
import { createEnding, newTurn, nextTurn } from '../../store/turns.ts'
import { DEMO } from './databases.ts'

let gateway: Awaited<ReturnType<typeof startGateway>>
beforeAll(async () => {
  gateway = await startGateway({ ...DEMO, BACKSTORY_KEYS: 'ours:key-1,theirs:key-2' })
})
afterAll(() => gateway.close())

async function remove(path: string, key = 'key-1') {
  const response = await fetch(`${gateway.url}/v1/memory/${path}`, {
    method: 'DELETE',
    headers: { authorization: `Bearer ${key}` },
  })
  const body: unknown = await response.json()
  return { status: response.status, body }
}

const deletedTurns = (turns: number) => ({
  status: 200,
  body: { object: 'memory.deleted', deleted: true, turns },
})

async function saveTurn(fields: Partial<NewTurn> = {}): Promise<NewTurn> {
  // Later than any deletion before it.
  const createdAtMs = gateway.dependencies.nowMs() + 1
  const turn = newTurn({
    id: gateway.dependencies.newTurnId(),
    tenant: 'ours',
    ...fields,
    createdAtMs,
  })
  await gateway.dependencies.store.openTurn(turn)
  await gateway.dependencies.store.closeTurn(createEnding(turn))
  return turn
}

const isStored = async (turn: NewTurn) =>
  (await gateway.dependencies.store.loadChain(turn, turn.id)) !== null

describe('DELETE /v1/memory/turns/{id}', () => {
  test.each([
    ['a response', responseId],
    ['a chat completion', completionId],
    ['a marker', (id: string) => id],
  ])(
    'DELETE /v1/memory/turns with the id of %s deletes all turns of the conversation',
    async (_, toId) => {
      const first = await saveTurn()
      const second = await saveTurn(nextTurn(first, { id: gateway.dependencies.newTurnId() }))
      const other = await saveTurn()
      expect(await remove(`turns/${toId(second.id)}`)).toEqual(deletedTurns(2))
      expect(await Promise.all([first, second, other].map(isStored))).toEqual([false, false, true])
      expect((await remove(`turns/${toId(second.id)}`)).status).toBe(404)
    },
  )

  test('DELETE /v1/memory/turns deletes the branches and clones of a chat, too, and returns the number of deleted turns', async () => {
    const next = (turn: NewTurn) =>
      saveTurn(nextTurn(turn, { id: gateway.dependencies.newTurnId() }))
    const first = await saveTurn()
    const [answer, regenerated, cloned] = [await next(first), await next(first), await next(first)]
    const later = await next(cloned)
    expect(await remove(`turns/${answer.id}`)).toEqual(deletedTurns(5))
    const all = [first, answer, regenerated, cloned, later]
    expect(await Promise.all(all.map(isStored))).toEqual(all.map(() => false))
  })

  test('a request for a response gets status 404 after the turns of its chat were deleted', async () => {
    const headers = { authorization: 'Bearer key-1' }
    const created = await gateway.post('/v1/responses', { model: 'demo', input: 'hi' }, headers)
    const { id } = (await created.json()) as { readonly id: string }
    expect(await remove(`turns/${id}`)).toEqual(deletedTurns(1))
    const again = await fetch(`${gateway.url}/v1/responses/${id}`, { headers })
    expect(again.status).toBe(404)
  })

  test('DELETE /v1/memory/turns does not delete a turn of another tenant', async () => {
    const turn = await saveTurn()
    const message = `There is no stored answer '${turn.id}'.`
    expect(await remove(`turns/${turn.id}`, 'key-2')).toEqual({
      status: 404,
      body: { error: { type: 'invalid_request_error', code: null, param: null, message } },
    })
    expect(await isStored(turn)).toBe(true)
  })

  test.each([
    'foo',
    'conv_01K9Z6N1N0ZZZZZZZZZZ',
    'resp_foo',
    '01k9z6n1n0zzzzzzzzzz',
    '01K9Z6N1N0ZZZZZZZZZZX',
    'resp_chatcmpl-01K9Z6N1N0ZZZZZZZZZZ',
  ])('DELETE /v1/memory/turns rejects an id of an unknown kind: %s', async (id) => {
    const { status, body } = await remove(`turns/${id}`)
    expect(status).toBe(400)
    expect(body).toEqual({
      error: {
        type: 'invalid_request_error',
        code: 'invalid_value',
        param: 'id',
        message: expect.stringMatching(`'${id}'.*resp_.*chatcmpl-.*marker`) as string,
      },
    })
  })
})

describe('DELETE /v1/memory/users/{user}', () => {
  test('deleting a user deletes all turns of that user, and no others', async () => {
    const user = 'a/b c@d.e?%ü'
    const own = [await saveTurn({ user }), await saveTurn({ user })]
    const others = [
      await saveTurn({ user: 'a' }),
      await saveTurn(),
      await saveTurn({ tenant: 'theirs', user }),
    ]
    expect(await remove(`users/${encodeURIComponent(user)}`)).toEqual(deletedTurns(2))
    expect(await remove(`users/${encodeURIComponent(user)}`)).toEqual(deletedTurns(0))
    expect(await Promise.all(own.map(isStored))).toEqual([false, false])
    expect(await Promise.all(others.map(isStored))).toEqual([true, true, true])
  })
})

describe('deletion requests of a caller with a user', () => {
  const deleteAsAnn = (
    path: string,
    parameters: Readonly<Record<string, string>>,
    world?: GatewayDependencies,
  ) => {
    const caller = { tenant: 'ours', user: 'ann' }
    const getPathParameter = (name: string) => parameters[name] ?? ''
    const exchange = { waitUntil: () => undefined }
    const query = new URLSearchParams()
    const request = { caller, exchange, getPathParameter, query } as unknown as AuthenticatedRequest
    const route = THREAD_AND_USER_DELETION_ROUTES.find((route) => route.path === path)
    return route?.handle(request, world ?? gateway.dependencies)
  }

  test('a caller with a user may delete its own data, but not that of another user', async () => {
    const [own, other] = [await saveTurn({ user: 'ann' }), await saveTurn({ user: 'bob' })]
    await expect(deleteAsAnn('/memory/users/:user', { user: 'bob' })).rejects.toMatchObject({
      failure: { status: 403, code: 'insufficient_permissions', param: 'user' },
    })
    expect(await deleteAsAnn('/memory/users/:user', { user: 'ann' })).toMatchObject({ turns: 1 })
    expect([await isStored(own), await isStored(other)]).toEqual([false, true])
  })

  test('a caller with a user can delete only the chats of that user', async () => {
    const [own, other, withoutUser] = [
      await saveTurn({ user: 'ann' }),
      await saveTurn({ user: 'bob' }),
      await saveTurn(),
    ]
    for (const { id } of [other, withoutUser]) {
      await expect(deleteAsAnn('/memory/turns/:id', { id })).rejects.toMatchObject({
        failure: { status: 404 },
      })
    }
    expect(await deleteAsAnn('/memory/turns/:id', { id: own.id })).toMatchObject({ turns: 1 })
    expect(await isStored(other)).toBe(true)
  })

  test('the answer to a deletion that takes long says that it is in progress', async () => {
    vi.useFakeTimers()
    onTestFinished(() => void vi.useRealTimers())
    const deletion = {
      deleteUser: (_: string, __: string, ___: number, onProgress: (turns: number) => void) => {
        onProgress(300)
        return new Promise(() => undefined)
      },
    }
    const withSlowStore = { ...gateway.dependencies, deletion } as unknown as GatewayDependencies
    const answer = deleteAsAnn('/memory/users/:user', { user: 'ann' }, withSlowStore)
    await vi.advanceTimersByTimeAsync(5_000)
    expect(await answer).toEqual({
      object: 'memory.deleted',
      deleted: true,
      turns: 300,
      in_progress: true,
    })
  })

  test('a request to delete stored data gets status 503 if the database fails', async () => {
    const deletion = { deleteUser: () => Promise.reject(new Error('The connection was lost.')) }
    const withFailingStore = { ...gateway.dependencies, deletion } as unknown as GatewayDependencies
    await expect(
      deleteAsAnn('/memory/users/:user', { user: 'ann' }, withFailingStore),
    ).rejects.toMatchObject({
      failure: { status: 503, code: 'store_unavailable' },
    })
  })
})
