/** Claims memory for the turns that a request loads from the database. */
import type { Ports } from './dependencies-interface.ts'
import type { RequestMemory } from './request-memory.ts'

/** Returns the dependencies with stores that call `claim` before they load large turns. */
export function countLoadedMemory<Needed extends Ports<'recall' | 'store'>>(
  ports: Needed,
  { claim }: RequestMemory,
): Needed {
  const { recall, store } = ports
  return {
    ...ports,
    store: {
      ...store,
      loadChain: (owner, turnId, options) =>
        store.loadChain(owner, turnId, { ...options, claimMemory: claim }),
    },
    recall: { ...recall, findTurns: (keys) => recall.findTurns(keys, claim) },
  }
}
