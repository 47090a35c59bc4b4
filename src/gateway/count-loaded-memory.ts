/** Claims memory for the turns and items that a request loads from the database. */
import type { Ports } from './dependencies-interface.ts'
import type { RequestMemory } from './request-memory.ts'

/** Returns the dependencies with stores that call `claim` before they load large turns or items. */
export function countLoadedMemory<Needed extends Ports<'archive' | 'recall' | 'store'>>(
  ports: Needed,
  { claim }: RequestMemory,
): Needed {
  const { archive, recall, store } = ports
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
      listTurns: (page) => archive.listTurns(page, claim),
      findItems: (owner, ids, checkSize = () => undefined) =>
        archive.findItems(owner, ids, (size) => {
          checkSize(size)
          claim(size)
        }),
    },
    recall: { ...recall, findTurns: (keys) => recall.findTurns(keys, claim) },
  }
}

/** Returns the dependencies with a store that calls `claim` before it decodes large upstream requests. */
export function countLoadedRequests<Needed extends Ports<'requests'>>(
  ports: Needed,
  { claim }: RequestMemory,
): Needed {
  const { requests } = ports
  return {
    ...ports,
    requests: {
      ...requests,
      loadRequest: (owner, turnId, round, rule) =>
        requests.loadRequest(owner, turnId, round, rule, claim),
    },
  }
}
