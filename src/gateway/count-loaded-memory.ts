import type { Ports } from './dependencies-interface.ts'
import type { RequestMemory } from './request-memory.ts'

/** Returns the dependencies of one request, which claims the memory of everything that they load for it. */
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
