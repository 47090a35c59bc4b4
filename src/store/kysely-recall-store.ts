/** The search verbs over any engine. */
import type { Engine } from './engine.ts'
import type { RecallStore } from './recall-store.ts'

export function createRecallStore(_engine: Engine): RecallStore {
  return {
    findTurns: () => Promise.resolve([]),
    touchTurns: () => Promise.resolve(),
    expireTurns: () => Promise.resolve(0),
    forgetThread: () => Promise.resolve(0),
    forgetUser: () => Promise.resolve(0),
  }
}
