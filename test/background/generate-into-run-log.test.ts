import { expect, test } from 'vitest'
import { responsesDialect } from '../../src/dialects/responses/responses-dialect.ts'
import { startRun } from '../../src/background/generate-into-run-log.ts'
import { newTurnId, testWorld } from './kit.ts'

test('a run lasts until its after-answer tasks are done, because the host may stop with it', async () => {
  const world = await testWorld()
  const steps: string[] = []
  const keepRequest: (typeof world)['requests']['keepRequest'] = async (_owner, _turn, tell) => {
    await tell()
    await new Promise((resolve) => setTimeout(resolve, 50))
    steps.push('kept')
  }
  const clientRequest = responsesDialect.parse({ model: 'demo', input: 'Hi', stream: true })
  const room = {
    owner: 'R1',
    keep: () => undefined,
    leave: () => Promise.resolve(void steps.push('left')),
  }
  const run = startRun(
    {
      dialect: responsesDialect,
      clientRequest,
      caller: { tenant: 't', user: null },
      options: {},
      turnId: newTurnId(),
      createdAtMs: 0,
      logged: null,
      opensWith: 0,
      open: (turn) => world.runs.openRun(turn, null),
    },
    room,
    { ...world, requests: { ...world.requests, keepRequest } },
  )
  await run.over
  expect(steps).toEqual(['left', 'kept'])
  await world.close()
})
