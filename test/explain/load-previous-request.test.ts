/** A request is compared with the request that its conversation continues, or with none. */
import { expect, test } from 'vitest'
import { loadPreviousRequest } from '../../src/explain/load-previous-request.ts'
import type { GatewayDependencies } from '../../src/gateway/dependencies-interface.ts'
import { NO_HISTORY } from '../../src/gateway/history/loaded-history.ts'

test.each([
  ['a request continues the latest turn', 'loaded from that turn', { id: 'turn' }, ['turn']],
  ['the previous answer is unknown', 'not loaded', null, []],
])('if %s, the previous request is %s', async (_case, _turn, parent, asked) => {
  const looked: string[] = []
  const requests = {
    loadRequest: (_owner: unknown, turnId: string) => {
      looked.push(turnId)
      return Promise.resolve(null)
    },
  } as unknown as GatewayDependencies['requests']
  const recallResult = {
    latestStoredTurn: { id: 'turn' },
    parentOfNewTurn: parent,
    itemsAfterLastAnswer: [],
  }
  const items = [{ type: 'message', role: 'assistant', content: [] }]
  const prepared = { history: { ...NO_HISTORY, recallResult }, items } as never
  const owner = { tenant: 't', user: null }
  expect(await loadPreviousRequest(prepared, owner, { requests })).toBeUndefined()
  expect(looked).toEqual(asked)
})
