/** The memory of a running gateway, whose verbs can be made to fail one by one and to come back. */
import type { GatewayDependencies } from '../../src/gateway/dependencies-interface.ts'

/** What becomes of a verb that is asked for: it hangs, takes so many milliseconds, or fails. */
export type Mishap = 'none' | 'hangs' | 'fails' | number

export type Verb = 'findTurns' | 'openTurn' | 'journalItems' | 'closeTurn' | 'touchTurns'

export type Mood = (verb: Verb) => Mishap

export interface FailingMemory {
  mood: Mood
  /** The memory behind it, which is always well. */
  readonly findTurns: GatewayDependencies['recall']['findTurns']
}

export const WELL: Mood = () => 'none'

export function failingMemory({ store, recall }: GatewayDependencies): FailingMemory {
  const { findTurns } = recall
  const memory: FailingMemory = { mood: WELL, findTurns }
  const verbs: readonly (readonly [object, readonly Verb[]])[] = [
    [store, ['openTurn', 'journalItems', 'closeTurn']],
    [recall, ['findTurns', 'touchTurns']],
  ]
  for (const [port, names] of verbs) {
    for (const name of names) {
      const own = port as Record<string, (...given: readonly unknown[]) => Promise<unknown>>
      const verb = own[name]
      if (verb === undefined) throw new Error(`There is no ${name}.`)
      own[name] = async (...given) => {
        await befall(memory.mood(name))
        return verb(...given)
      }
    }
  }
  return memory
}

async function befall(mishap: Mishap): Promise<void> {
  if (mishap === 'hangs') await new Promise(() => undefined)
  if (mishap === 'fails') throw new Error('database or disk is full')
  if (typeof mishap === 'number') await new Promise((resolve) => setTimeout(resolve, mishap))
}
