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
      findItems: (owner, ids, checkSize = () => undefined) =>
        archive.findItems(owner, ids, (size) => {
          checkSize(size)
          claim(size)
        }),
    },
    recall: { ...recall, findTurns: (keys) => recall.findTurns(keys, claim) },
  }
}
