/**
 * Which output belongs to a call that was recorded: what a turn was given before it answered are the
 * outputs of the calls of the turn that it goes on from. Ids repeat, so it is asked for the call of
 * a certain turn and not for an id.
 */
import type { Item } from '../conversation/item.ts'
import { callEndOf, type CallEnd } from '../conversation/pairs.ts'
import type { RememberedTurn } from '../conversation/remembered.ts'
import type { Kin } from './kin.ts'

export interface OutputAtHand {
  readonly output: Item
  /** The turn that was given it, and its place in what that turn was given. */
  readonly turn: RememberedTurn
  readonly place: number
}

/** The output of the turn's call number `nth` under this key, counted from 0. */
export type FindOutput = (turn: RememberedTurn, key: string, nth: number) => OutputAtHand | null

/** `attached` are the turns of a list, in their order. Those known to lie between are asked, too. */
export function outputsAtHand(attached: readonly RememberedTurn[], kin: Kin): FindOutput {
  const isAttached = new Set(attached)
  const found = new Map<RememberedTurn, Map<string, OutputAtHand>>()
  const callsOf = callCounter()
  const supply = (turn: RememberedTurn): void => {
    const seen = new Map<string, number>()
    for (const [place, output] of turn.input.entries()) {
      const key = endKey(output, 'output')
      if (key === null) continue
      const nth = seen.get(key) ?? 0
      seen.set(key, nth + 1)
      const caller = firstOf(kin.ancestors(turn), (one) => (callsOf(one).get(key) ?? 0) > nth)
      if (caller === null) continue
      const outputs = found.get(caller) ?? new Map<string, OutputAtHand>()
      found.set(caller, outputs)
      const name = `${nth} ${key}`
      if (!outputs.has(name)) outputs.set(name, { output, turn, place })
    }
  }
  for (const turn of attached) {
    supply(turn)
    for (const ancestor of kin.ancestors(turn)) {
      if (isAttached.has(ancestor)) break
      supply(ancestor)
    }
  }
  return (turn, key, nth) => found.get(turn)?.get(`${nth} ${key}`) ?? null
}

/** `null` for what is not that end of a call. */
export function endKey(item: Item, side: CallEnd['side']): string | null {
  const end = callEndOf(item)
  return end?.side === side && end.callId !== '' ? `${end.family} ${end.callId}` : null
}

function callCounter() {
  const known = new Map<RememberedTurn, ReadonlyMap<string, number>>()
  return (turn: RememberedTurn): ReadonlyMap<string, number> => {
    const before = known.get(turn)
    if (before !== undefined) return before
    const counts = new Map<string, number>()
    for (const item of turn.output) {
      const key = endKey(item, 'call')
      if (key !== null) counts.set(key, (counts.get(key) ?? 0) + 1)
    }
    known.set(turn, counts)
    return counts
  }
}

function firstOf(
  turns: Iterable<RememberedTurn>,
  matches: (turn: RememberedTurn) => boolean,
): RememberedTurn | null {
  for (const turn of turns) if (matches(turn)) return turn
  return null
}
