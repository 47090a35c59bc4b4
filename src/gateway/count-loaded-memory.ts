/** Claims memory for the turns, items and upstream requests that a request loads from the database. */
import type { Ports } from './dependencies-interface.ts'
import type { RequestMemory } from './request-memory.ts'

/** Returns the dependencies with stores that call `claim` before they load large turns, items or upstream requests. */
export function countLoadedMemory<
  Needed extends Ports<'archive' | 'recall' | 'requests' | 'store'>,
>(ports: Needed, { claim }: RequestMemory): Needed {
  const { archive, recall, requests, store } = ports
  return {
    ...ports,
    store: {
      ...store,
      loadChain: (owner, turnId, options) =>
        store.loadChain(owner, turnId, { ...options, claimMemory: claim }),
    },
    archive: {
      ...archive,
      loadTurn: (owner, turnId) => archive.loadTurn(owner, turnId, claim),
      loadChainSlice: (owner, slice) => archive.loadChainSlice(owner, slice, claim),
      listTurns: (page) => archive.listTurns(page, claim),
      findItems: (owner, ids, checkSize = () => undefined) =>
        archive.findItems(owner, ids, (size) => {
          checkSize(size)
          claim(size)
        }),
    },
    recall: { ...recall, findTurns: (keys) => recall.findTurns(keys, claim) },
    requests: {
      ...requests,
      loadRequest: (owner, turnId, round, rule) =>
        requests.loadRequest(owner, turnId, round, rule, claim),
    },
  }
}
