/** Background runs in one process, and on Workers. */
import { describe, expect, test } from 'vitest'
import { createWebHttpExchange } from '../../src/server/runtime/web-http-exchange.ts'
import { conversationId } from '../../src/core/turn-derived-ids.ts'
import { createRequestRuns } from '../../src/background/background-runs.ts'
import { OWNERLESS_RUN_TIMEOUT_MS } from '../../src/store/background-runs/run-store-interface.ts'
import { framesIn } from '../support/logs.ts'
import { responsesFaults } from '../support/responses-checker.ts'
import { newTurn } from '../store/turns.ts'
import { newTurnId } from './kit.ts'
import { ANN, asked, beginInVain, inTown, UNANSWERED, until } from './town.ts'

describe.concurrent('a resumable stream', () => {
  test('is cancelled if its client disconnects before the answer starts', () =>
    inTown(async (town) => {
      const { runs, cancelled } = await town.citizen()
      const client = new AbortController()
      const body = { stream: true, input: UNANSWERED }
      const answer = runs.answer(asked(body, true, client.signal))
      const id = await until(async () => town.opened[0])
      await until(async () => (await town.turn(`resp_${id}`))?.state === 'open')
      client.abort()
      await expect(answer).rejects.toThrow()
      expect(cancelled()).toBeGreaterThan(0)
      await until(async () => (await town.turn(`resp_${id}`))?.state === 'cancelled')
    }))

  test('fails with an error if the upstream rejects the request', () =>
    inTown(async (town) => {
      const { runs } = await town.citizen()
      const body = { stream: true, input: '/status 418 No' }
      await expect(runs.answer(asked(body, true))).rejects.toMatchObject({
        failure: { status: 418 },
      })
      await until(async () => (await town.turn(`resp_${town.opened[0]}`))?.state === 'failed')
    }))

  test('is ignored without a stream and rejected with store: false', () =>
    inTown(async (town) => {
      const { runs } = await town.citizen()
      expect(runs.answer(asked({ input: 'x' }, true))).toBeNull()
      expect(runs.answer(asked({ input: 'x', stream: true }))).toBeNull()
      const kept = asked({ input: 'x', stream: true, store: false }, true)
      expect(() => runs.answer(kept)).toThrow(/x-backstory-resumable/)
    }))
})

describe.concurrent('an unreachable database', () => {
  test('lets no run start, and requests can still be rejected', () =>
    inTown(async (town) => {
      const { runs, cancelled } = await town.citizen()
      town.faults.open = 2
      for (const body of [{ background: true }, { stream: true }]) {
        const answer = runs.answer(asked({ input: UNANSWERED, ...body }, true))
        await expect(answer).rejects.toMatchObject({ failure: { code: 'store_unavailable' } })
      }
      await until(async () => cancelled() > 1)
    }))

  test('for a moment does not end the run', () =>
    inTown(async (town) => {
      const citizen = await town.citizen()
      town.faults.record = 2
      const id = await town.begin(citizen, '/repeat 20 word')
      await until(async () => (await town.turn(id))?.state === 'complete')
      const messages = [...(await town.events(id)), { data: '[DONE]' }]
      expect(responsesFaults(messages)).toEqual([])
    }))
})

describe.concurrent('a run in a conversation', () => {
  async function conversationIn({ conversations }: Parameters<typeof createRequestRuns>[0]) {
    const id = conversationId(newTurnId())
    const conversation = { id, ...ANN, metadata: {}, createdAtMs: 1 }
    await conversations.createConversation(conversation, null)
    const head = async () => (await conversations.findConversation(ANN, id))?.head
    return { id, head }
  }

  test('adds its turn at the end and locks the conversation until then', () =>
    inTown(async (town) => {
      const citizen = await town.citizen()
      const { id: conversation, head } = await conversationIn(town.shared)
      const id = await town.begin(citizen, '/repeat 30 word', { conversation })
      await expect(town.begin(citizen, 'x', { conversation })).rejects.toMatchObject({
        failure: { code: 'conversation_locked' },
      })
      await until(async () => (await town.turn(id))?.state === 'complete')
      expect(`resp_${await head()}`).toBe(id)
    }))

  test('adds nothing if cancelled and unlocks the conversation', () =>
    inTown(async (town) => {
      const citizen = await town.citizen()
      const { id: conversation, head } = await conversationIn(town.shared)
      await town.cancel(citizen, await town.begin(citizen, '/say a\n/hang', { conversation }))
      expect(await head()).toBeNull()
      const next = await town.begin(citizen, '/say b', { conversation })
      await until(async () => (await town.turn(next))?.state === 'complete')
      expect(`resp_${await head()}`).toBe(next)
    }))

  test('is restarted if the conversation has no other new turns', () =>
    inTown(async (town) => {
      const first = await town.citizen()
      const { id: conversation, head } = await conversationIn(town.shared)
      const begun = await town.begin(first, '/say one', { conversation })
      await until(async () => (await town.turn(begun))?.state === 'complete')
      const lost = await beginInVain(town, first, { conversation })
      first.die()
      const second = await town.citizen()
      await until(async () => (await town.turn(lost))?.state === 'complete')
      expect((await town.turn(lost))?.owner).toBe(second.id)
      expect(`resp_${await head()}`).toBe(lost)
    }))
})

test("a restarted run sends the same request, including the client's items", () =>
  inTown(async (town) => {
    const first = await town.citizen()
    const said = (role: string, text: string) => ({ role, content: text })
    const before = [said('user', 'One'), said('assistant', 'Yes'), said('user', 'Two')]
    const plain = { model: 'demo', input: before, instructions: 'Be kind.' }
    const begun = await town.begin(first, '', plain)
    await until(async () => (await town.turn(begun))?.state === 'complete')
    const answer = (await town.turn(begun))?.output ?? []
    const whole = [...before, ...answer, said('user', UNANSWERED)] as never
    const lost = await town.begin(first, '', { ...plain, input: whole })
    await until(async () => (await town.turn(lost))?.state === 'open')
    first.die()
    const bodies = first.sent()
    const second = await town.citizen()
    await until(async () => (await town.turn(lost))?.state === 'complete')
    expect(second.sent()).toEqual([bodies.at(-1)])
  }))

describe.concurrent('on Workers', () => {
  const visit = () => createWebHttpExchange(new Request('http://localhost/'), () => undefined)

  test('reading an orphaned run restarts or ends it', () =>
    inTown(async (town) => {
      const first = await town.citizen()
      const untold = await beginInVain(town, first)
      const told = await town.begin(first, '/repeat 3 word\n/hang')
      await until(async () => (await town.turn(told))?.output.length === 1)
      first.die()
      await town.shared.runs.retireReplica(first.id)
      const runs = createRequestRuns(town.shared)
      await runs.lookAfter({ id: told, caller: ANN, exchange: visit() })
      expect((await town.turn(told))?.state).toBe('failed')
      const follow = { id: untold, startingAfter: null, caller: ANN, exchange: visit() }
      const text = await (await runs.follow(follow)).text()
      expect(responsesFaults(framesIn(text))).toEqual([])
      expect((await town.turn(untold))?.state).toBe('complete')
    }))

  test('running and missing responses are left alone', () =>
    inTown(async (town) => {
      const first = await town.citizen()
      const id = await town.begin(first, '/hang')
      const runs = createRequestRuns(town.shared)
      for (const one of [id, 'resp_01JZZZZZZZZZZZZZZZZZ', 'resp_x']) {
        await runs.lookAfter({ id: one, caller: ANN, exchange: visit() })
      }
      expect((await town.turn(id))?.state).toMatch(/queued|open/)
      expect(await runs.cancel(id, ANN)).toMatchObject({ status: 'cancelled' })
    }))

  test('a run without a recorded owner is ended after a long timeout', () =>
    inTown(async (town) => {
      const turn = newTurn({ id: newTurnId(), ...ANN, createdAtMs: Date.now() })
      await town.shared.store.openTurn(turn)
      const look = { id: `resp_${turn.id}`, caller: ANN, exchange: visit() }
      await createRequestRuns(town.shared).lookAfter(look)
      expect((await town.turn(look.id))?.state).toBe('open')
      const later = { ...town.shared, nowMs: () => Date.now() + OWNERLESS_RUN_TIMEOUT_MS }
      await createRequestRuns(later).lookAfter(look)
      expect((await town.turn(look.id))?.state).toBe('failed')
    }))
})
