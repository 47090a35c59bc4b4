import { expect, test } from 'vitest'
import { responsesDialect } from '../../src/dialects/responses/responses-dialect.ts'
import { startRun } from '../../src/background/start-run.ts'
import { newTurnId, testWorld } from './background-test-support.ts'
import { UNLIMITED_MEMORY } from '../support/unlimited-memory.ts'

test('a run lasts until its after-answer tasks are done, because the host may stop when it ends', async () => {
  const world = await testWorld()
  const steps: string[] = []
  const saveRequests: (typeof world)['requests']['saveRequests'] = async (_owner, _turn, tell) => {
    await tell()
    await new Promise((resolve) => setTimeout(resolve, 50))
    steps.push('kept')
  }
  const clientRequest = responsesDialect.parse({ model: 'demo', input: 'Hi', stream: true })
  const slot = {
    replicaId: 'R1',
    whenLeased: Promise.resolve(),
    register: () => undefined,
    close: () => Promise.resolve(void steps.push('left')),
  }
  const run = startRun(
    {
      dialect: responsesDialect,
      clientRequest,
      caller: { tenant: 't', user: null },
      memory: UNLIMITED_MEMORY.trackRequest('t'),
      options: {},
      turnId: newTurnId(),
      createdAtMs: 0,
      isStored: false,
      firstEvent: 0,
      openingEvents: null,
      storeTurn: (turn) => world.runs.openRun(turn, null),
    },
    slot,
    { ...world, requests: { ...world.requests, saveRequests } },
  )
  await run.whenOver
  expect(steps).toEqual(['left', 'kept'])
  await world.close()
})
