/** Forgetting, as its clients ask for it. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { completionId, responseId } from '../../../src/core/turn-derived-ids.ts'
import { THREAD_AND_USER_DELETION_ROUTES } from '../../../src/server/stored-object-routes/delete-thread-or-user.ts'
import type { NewTurn } from '../../../src/store/turns/turn-store-interface.ts'
import type { GatewayDependencies } from '../../../src/gateway/dependencies-interface.ts'
import { startGateway } from '../../support/gateway.ts'
import { ending, newTurn, nextTurn } from '../../store/turns.ts'
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

const forgot = (turns: number) => ({
  status: 200,
  body: { object: 'memory.deleted', deleted: true, turns },
})

async function said(fields: Partial<NewTurn> = {}): Promise<NewTurn> {
  // Behind whatever was forgotten before.
  const createdAtMs = gateway.dependencies.nowMs() + 1
  const turn = newTurn({
    id: gateway.dependencies.newTurnId(),
    tenant: 'ours',
    ...fields,
    createdAtMs,
  })
  await gateway.dependencies.store.openTurn(turn)
  await gateway.dependencies.store.closeTurn(ending(turn))
  return turn
}

const isThere = async (turn: NewTurn) =>
  (await gateway.dependencies.store.loadChain(turn, turn.id)) !== null

describe('of a turn', () => {
  test.each([
    ['a response', responseId],
    ['a chat completion', completionId],
    ['a marker', (id: string) => id],
  ])('the whole conversation is forgotten, by the id of %s', async (_, named) => {
    const first = await said()
    const second = await said(nextTurn(first, { id: gateway.dependencies.newTurnId() }))
    const other = await said()
    expect(await remove(`turns/${named(second.id)}`)).toEqual(forgot(2))
    expect(await Promise.all([first, second, other].map(isThere))).toEqual([false, false, true])
    expect((await remove(`turns/${named(second.id)}`)).status).toBe(404)
  })

  test('its branches and clones are forgotten with it, and counted', async () => {
    const next = (turn: NewTurn) => said(nextTurn(turn, { id: gateway.dependencies.newTurnId() }))
    const first = await said()
    const [answer, regenerated, cloned] = [await next(first), await next(first), await next(first)]
    const later = await next(cloned)
    expect(await remove(`turns/${answer.id}`)).toEqual(forgot(5))
    const all = [first, answer, regenerated, cloned, later]
    expect(await Promise.all(all.map(isThere))).toEqual(all.map(() => false))
  })

  test('a response that is forgotten is not there any more', async () => {
    const headers = { authorization: 'Bearer key-1' }
    const asked = await gateway.post('/v1/responses', { model: 'demo', input: 'hi' }, headers)
    const { id } = (await asked.json()) as { readonly id: string }
    expect(await remove(`turns/${id}`)).toEqual(forgot(1))
    const again = await fetch(`${gateway.url}/v1/responses/${id}`, { headers })
    expect(again.status).toBe(404)
  })

  test('nothing is forgotten of another tenant', async () => {
    const turn = await said()
    const message = `Nothing is remembered of '${turn.id}'.`
    expect(await remove(`turns/${turn.id}`, 'key-2')).toEqual({
      status: 404,
      body: { error: { type: 'invalid_request_error', code: null, param: null, message } },
    })
    expect(await isThere(turn)).toBe(true)
  })

  test.each([
    'foo',
    'conv_01K9Z6N1N0ZZZZZZZZZZ',
    'resp_foo',
    '01k9z6n1n0zzzzzzzzzz',
    '01K9Z6N1N0ZZZZZZZZZZX',
    'resp_chatcmpl-01K9Z6N1N0ZZZZZZZZZZ',
  ])('an id of no kind is a mistake: %s', async (id) => {
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

describe('of a user', () => {
  test('everything is forgotten, and nothing of others', async () => {
    const user = 'a/b c@d.e?%ü'
    const own = [await said({ user }), await said({ user })]
    const others = [await said({ user: 'a' }), await said(), await said({ tenant: 'theirs', user })]
    expect(await remove(`users/${encodeURIComponent(user)}`)).toEqual(forgot(2))
    expect(await remove(`users/${encodeURIComponent(user)}`)).toEqual(forgot(0))
    expect(await Promise.all(own.map(isThere))).toEqual([false, false])
    expect(await Promise.all(others.map(isThere))).toEqual([true, true, true])
  })
})

describe('a caller with a user of its own', () => {
  const ask = (
    path: string,
    named: Readonly<Record<string, string>>,
    world?: GatewayDependencies,
  ) =>
    THREAD_AND_USER_DELETION_ROUTES.find((resource) => resource.path === path)?.answer(
      {
        caller: { tenant: 'ours', user: 'ann' },
        named: (name) => named[name] ?? '',
        query: new URLSearchParams(),
        body: () => Promise.resolve({}),
        maybeBody: () => Promise.resolve({}),
        value: () => Promise.resolve({}),
      },
      world ?? gateway.dependencies,
    )

  test('may forget itself, and nobody else', async () => {
    const [own, other] = [await said({ user: 'ann' }), await said({ user: 'bob' })]
    await expect(ask('/memory/users/:user', { user: 'bob' })).rejects.toMatchObject({
      failure: { status: 403, code: 'insufficient_permissions', param: 'user' },
    })
    expect(await ask('/memory/users/:user', { user: 'ann' })).toMatchObject({ turns: 1 })
    expect([await isThere(own), await isThere(other)]).toEqual([false, true])
  })

  test('finds no turns but its own', async () => {
    const [own, other, nobodys] = [
      await said({ user: 'ann' }),
      await said({ user: 'bob' }),
      await said(),
    ]
    for (const { id } of [other, nobodys]) {
      await expect(ask('/memory/turns/:id', { id })).rejects.toMatchObject({
        failure: { status: 404 },
      })
    }
    expect(await ask('/memory/turns/:id', { id: own.id })).toMatchObject({ turns: 1 })
    expect(await isThere(other)).toBe(true)
  })

  test('is told when it is not certain', async () => {
    const recall = { forgetUser: () => Promise.reject(new Error('It is away.')) }
    const away = { ...gateway.dependencies, recall } as unknown as GatewayDependencies
    await expect(ask('/memory/users/:user', { user: 'ann' }, away)).rejects.toMatchObject({
      failure: { status: 503, code: 'store_unavailable' },
    })
  })
})
