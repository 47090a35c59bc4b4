/** Background runs in one process, and on Workers. */
import { describe, expect, test } from 'vitest'
import { createWebHttpExchange } from '../../src/server/runtime/web-http-exchange.ts'
import { conversationId } from '../../src/core/turn-derived-ids.ts'
import { createBackgroundRunsOfRequest } from '../../src/background/background-runs.ts'
import { OWNERLESS_RUN_TIMEOUT_MS } from '../../src/store/background-runs/retention-and-orphan-times.ts'
import { decodeFrames } from '../support/logs.ts'
import { responsesFaults } from '../support/responses-checker.ts'
import { newTurn } from '../store/turns.ts'
import { UNLIMITED_MEMORY } from '../support/unlimited-memory.ts'
import { newTurnId } from './background-test-support.ts'
import {
  ANN,
  createAnswerRequest,
  startSilentRun,
  withReplicas,
  UNANSWERED,
  until,
} from './replica-cluster.ts'

describe.concurrent('starting and rejecting a resumable stream', () => {
  test('a resumable stream is cancelled if its client disconnects before the answer starts', () =>
    withReplicas(async (cluster) => {
      const { runs, cancelled } = await cluster.startReplica()
      const client = new AbortController()
      const body = { stream: true, input: UNANSWERED }
      const answer = runs.answer(createAnswerRequest(body, true, client.signal))
      const id = await until(async () => cluster.opened[0])
      await until(async () => (await cluster.turn(`resp_${id}`))?.state === 'open')
      client.abort()
      await expect(answer).rejects.toThrow()
      expect(cancelled()).toBeGreaterThan(0)
      await until(async () => (await cluster.turn(`resp_${id}`))?.state === 'cancelled')
    }))

  test('if the upstream rejects the request of a resumable stream, the client gets the error as response and the run ends as failed', () =>
    withReplicas(async (cluster) => {
      const { runs } = await cluster.startReplica()
      const body = { stream: true, input: '/status 418 No' }
      await expect(runs.answer(createAnswerRequest(body, true))).rejects.toMatchObject({
        failure: { status: 418 },
      })
      await until(async () => (await cluster.turn(`resp_${cluster.opened[0]}`))?.state === 'failed')
    }))

  test('the header x-backstory-resumable has no effect on a non-streamed request, and is an error together with store: false', () =>
    withReplicas(async (cluster) => {
      const { runs } = await cluster.startReplica()
      expect(runs.answer(createAnswerRequest({ input: 'x' }, true))).toBeNull()
      expect(runs.answer(createAnswerRequest({ input: 'x', stream: true }))).toBeNull()
      const kept = createAnswerRequest({ input: 'x', stream: true, store: false }, true)
      expect(() => runs.answer(kept)).toThrow(/x-backstory-resumable/)
    }))
})

describe.concurrent('background runs while the database is unreachable', () => {
  test('no run starts while the database is unreachable, and invalid requests are still rejected', () =>
    withReplicas(async (cluster) => {
      const { runs, cancelled } = await cluster.startReplica()
      cluster.faults.open = 2
      for (const body of [{ background: true }, { stream: true }]) {
        const answer = runs.answer(createAnswerRequest({ input: UNANSWERED, ...body }, true))
        await expect(answer).rejects.toMatchObject({ failure: { code: 'store_unavailable' } })
      }
      await until(async () => cancelled() > 1)
    }))

  test('a background run is completed even if the database is unreachable for a moment', () =>
    withReplicas(async (cluster) => {
      const replica = await cluster.startReplica()
      cluster.faults.record = 2
      const id = await cluster.startRun(replica, '/repeat 20 word')
      await until(async () => (await cluster.turn(id))?.state === 'complete')
      const messages = [...(await cluster.events(id)), { data: '[DONE]' }]
      expect(responsesFaults(messages)).toEqual([])
    }))
})

describe.concurrent('background runs in a conversation', () => {
  async function conversationIn({
    conversations,
  }: Parameters<typeof createBackgroundRunsOfRequest>[0]) {
    const id = conversationId(newTurnId())
    const conversation = { id, ...ANN, metadata: {}, createdAtMs: 1 }
    await conversations.createConversation(conversation, null)
    const head = async () => (await conversations.findConversation(ANN, id))?.headTurnId
    return { id, head }
  }

  test('a background run locks its conversation, and adds its turn to it at the end', () =>
    withReplicas(async (cluster) => {
      const replica = await cluster.startReplica()
      const { id: conversation, head } = await conversationIn(cluster.shared)
      const id = await cluster.startRun(replica, '/repeat 30 word', { conversation })
      await expect(cluster.startRun(replica, 'x', { conversation })).rejects.toMatchObject({
        failure: { code: 'conversation_locked' },
      })
      await until(async () => (await cluster.turn(id))?.state === 'complete')
      expect(`resp_${await head()}`).toBe(id)
    }))

  test('a cancelled background run adds nothing to its conversation and unlocks it', () =>
    withReplicas(async (cluster) => {
      const replica = await cluster.startReplica()
      const { id: conversation, head } = await conversationIn(cluster.shared)
      await cluster.cancel(
        replica,
        await cluster.startRun(replica, '/say a\n/hang', { conversation }),
      )
      expect(await head()).toBeNull()
      const next = await cluster.startRun(replica, '/say b', { conversation })
      await until(async () => (await cluster.turn(next))?.state === 'complete')
      expect(`resp_${await head()}`).toBe(next)
    }))

  test('an orphaned run in a conversation is restarted if no other turn was added meanwhile', () =>
    withReplicas(async (cluster) => {
      const first = await cluster.startReplica()
      const { id: conversation, head } = await conversationIn(cluster.shared)
      const begun = await cluster.startRun(first, '/say one', { conversation })
      await until(async () => (await cluster.turn(begun))?.state === 'complete')
      const lost = await startSilentRun(cluster, first, { conversation })
      first.kill()
      const second = await cluster.startReplica()
      await until(async () => (await cluster.turn(lost))?.state === 'complete')
      expect((await cluster.turn(lost))?.replicaId).toBe(second.id)
      expect(`resp_${await head()}`).toBe(lost)
    }))
})

test("a restarted background run sends the upstream the same request as before, including the client's items", () =>
  withReplicas(async (cluster) => {
    const first = await cluster.startReplica()
    const said = (role: string, text: string) => ({ role, content: text })
    const before = [said('user', 'One'), said('assistant', 'Yes'), said('user', 'Two')]
    const plain = { model: 'demo', input: before, instructions: 'Be kind.' }
    const begun = await cluster.startRun(first, '', plain)
    await until(async () => (await cluster.turn(begun))?.state === 'complete')
    const answer = (await cluster.turn(begun))?.output ?? []
    const whole = [...before, ...answer, said('user', UNANSWERED)] as never
    const lost = await cluster.startRun(first, '', { ...plain, input: whole })
    await until(async () => (await cluster.turn(lost))?.state === 'open')
    first.kill()
    const bodies = first.sent()
    const second = await cluster.startReplica()
    await until(async () => (await cluster.turn(lost))?.state === 'complete')
    expect(second.sent()).toEqual([bodies.at(-1)])
  }))

describe.concurrent('orphaned runs on Workers', () => {
  const visit = () => createWebHttpExchange(new Request('http://localhost/'), () => undefined)

  test('on Workers, an orphaned run is ended as failed, with or without output, and its request is not sent again', () =>
    withReplicas(async (cluster) => {
      const first = await cluster.startReplica()
      const untold = await startSilentRun(cluster, first)
      const told = await cluster.startRun(first, '/repeat 3 word\n/hang')
      await until(async () => (await cluster.turn(told))?.output.length === 1)
      first.kill()
      await cluster.shared.runs.retireReplica(first.id)
      const runs = createBackgroundRunsOfRequest(cluster.shared)
      await runs.recoverIfOrphaned({ responseId: told, caller: ANN })
      expect((await cluster.turn(told))?.state).toBe('failed')
      const follow = { responseId: untold, startingAfter: null, caller: ANN, exchange: visit() }
      const text = await (await runs.follow(follow)).text()
      expect(responsesFaults(decodeFrames(text))).toEqual([])
      expect(await cluster.turn(untold)).toMatchObject({
        state: 'failed',
        output: [],
        failure: {
          message: expect.stringMatching(/30 seconds after its client has left/) as string,
        },
      })
    }))

  test('on Workers, a request for a response that is missing or still being generated changes nothing', () =>
    withReplicas(async (cluster) => {
      const first = await cluster.startReplica()
      const id = await cluster.startRun(first, '/hang')
      const runs = createBackgroundRunsOfRequest(cluster.shared)
      for (const one of [id, 'resp_01JZZZZZZZZZZZZZZZZZ', 'resp_x']) {
        await runs.recoverIfOrphaned({ responseId: one, caller: ANN })
      }
      expect((await cluster.turn(id))?.state).toMatch(/queued|open/)
      expect(await runs.cancel(id, ANN, UNLIMITED_MEMORY.trackRequest(ANN.tenant))).toMatchObject({
        status: 'cancelled',
      })
    }))

  test('on Workers, a run without a recorded replica is ended as failed after one hour', () =>
    withReplicas(async (cluster) => {
      const runs = createBackgroundRunsOfRequest(cluster.shared)
      const stateAfter = async (ageMs: number) => {
        const turn = newTurn({ id: newTurnId(), ...ANN, createdAtMs: Date.now() - ageMs })
        await cluster.shared.store.openTurn(turn)
        const responseId = `resp_${turn.id}`
        await runs.recoverIfOrphaned({ responseId, caller: ANN })
        return (await cluster.turn(responseId))?.state
      }
      expect(await stateAfter(OWNERLESS_RUN_TIMEOUT_MS - 60_000)).toBe('open')
      expect(await stateAfter(OWNERLESS_RUN_TIMEOUT_MS)).toBe('failed')
    }))
})
