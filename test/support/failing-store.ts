/** The store of a running gateway, with functions that can be made to fail, hang or respond late. */
import type { GatewayDependencies } from '../../src/gateway/dependencies-interface.ts'

/** The fault of a call: it hangs, is delayed by a number of milliseconds, or fails. */
export type StoreFault = 'none' | 'hangs' | 'fails' | number

export type StoreFunction = 'findTurns' | 'openTurn' | 'journalItems' | 'closeTurn' | 'touchTurns'

export type FaultRule = (verb: StoreFunction) => StoreFault

export interface FailingStore {
  faultRule: FaultRule
  /** The function of the real store, without faults. */
  readonly findTurns: GatewayDependencies['recall']['findTurns']
}

export const NO_FAULTS: FaultRule = () => 'none'

export function makeStoreFail({ store, recall }: GatewayDependencies): FailingStore {
  const { findTurns } = recall
  const memory: FailingStore = { faultRule: NO_FAULTS, findTurns }
  const verbs: readonly (readonly [object, readonly StoreFunction[]])[] = [
    [store, ['openTurn', 'journalItems', 'closeTurn']],
    [recall, ['findTurns', 'touchTurns']],
  ]
  for (const [port, names] of verbs) {
    for (const name of names) {
      const own = port as Record<string, (...given: readonly unknown[]) => Promise<unknown>>
      const verb = own[name]
      if (verb === undefined) throw new Error(`There is no ${name}.`)
      own[name] = async (...given) => {
        await applyFault(memory.faultRule(name))
        return verb(...given)
      }
    }
  }
  return memory
}

async function applyFault(mishap: StoreFault): Promise<void> {
  if (mishap === 'hangs') await new Promise(() => undefined)
  if (mishap === 'fails') throw new Error('database or disk is full')
  if (typeof mishap === 'number') await new Promise((resolve) => setTimeout(resolve, mishap))
}
