/**
 * Which output belongs to a call that was recorded: what a turn was given before it answered are the
 * outputs of the calls of the turn that it goes on from. Ids repeat, so it is asked for the call of
 * a certain turn and not for an id.
 */
import type { Item } from '../core/item.ts'
import { callEndOf, isCallOutput, type ToolCallEnd } from '../core/items/tool-call-pairs.ts'
import type { RecordedTurn } from '../core/items/recorded-turn.ts'
import type { TurnAncestry } from './turn-ancestry.ts'

export interface RecordedOutput {
  readonly output: Item
  /** The turn that was given it, and its place in what that turn was given. */
  readonly turn: RecordedTurn
  readonly place: number
}

/** The output of the turn's call number `nth` under this key, counted from 0. */
export type FindRecordedOutput = (
  turn: RecordedTurn,
  key: string,
  nth: number,
) => RecordedOutput | null

/** `attached` are the turns of a list, in their order. Those known to lie between are asked, too. */
export function indexRecordedOutputs(
  attached: readonly RecordedTurn[],
  kin: TurnAncestry,
): FindRecordedOutput {
  // Most turns were given none, and nothing is to be found out about them.
  if (!kin.all.some(({ input }) => input.some(isCallOutput))) return () => null
  const isAttached = new Set(attached)
  const given = outputsGiven(attached, kin)
  const asked = new Set<RecordedTurn>()
  const found = new Map<RecordedTurn, Map<string, RecordedOutput>>()
  const ask = (turn: RecordedTurn): void => {
    asked.add(turn)
    for (const { name, caller, atHand } of given.get(turn) ?? []) {
      const outputs = found.get(caller) ?? new Map<string, RecordedOutput>()
      found.set(caller, outputs)
      if (!outputs.has(name)) outputs.set(name, atHand)
    }
  }
  for (const turn of attached) {
    if (!asked.has(turn)) ask(turn)
    for (let next = kin.parent(turn); next !== null; next = kin.parent(next)) {
      if (isAttached.has(next) || asked.has(next)) break
      ask(next)
    }
  }
  return (turn, key, nth) => found.get(turn)?.get(`${nth} ${key}`) ?? null
}

/** `null` for what is not that end of a call. */
export function toolCallKey(item: Item, side: ToolCallEnd['side']): string | null {
  const end = callEndOf(item)
  return end?.side === side && end.callId !== '' ? `${end.family} ${end.callId}` : null
}

interface Given {
  readonly name: string
  readonly caller: RecordedTurn
  readonly atHand: RecordedOutput
}

/**
 * For each turn the outputs it was given, with the nearest turn before it that has made the call. All
 * ways from the first turns down are gone once, with the calls that were made on the way.
 */
function outputsGiven(
  attached: readonly RecordedTurn[],
  kin: TurnAncestry,
): ReadonlyMap<RecordedTurn, readonly Given[]> {
  const { roots, children } = treeOf(attached, kin)
  const given = new Map<RecordedTurn, readonly Given[]>()
  const callers = new Map<string, RecordedTurn[]>()
  const way: Step[] = roots.map((turn) => ({ turn, calls: null }))
  for (let step = way.pop(); step !== undefined; step = way.pop()) {
    const { turn, calls } = step
    if (calls !== null) {
      for (const name of calls) callers.get(name)?.pop()
      continue
    }
    given.set(turn, givenTo(turn, callers))
    const made = namesOf(turn.output, 'call').map(({ name }) => name)
    for (const name of made) {
      const before = callers.get(name)
      if (before === undefined) callers.set(name, [turn])
      else before.push(turn)
    }
    way.push({ turn, calls: made })
    for (const child of children.get(turn) ?? []) way.push({ turn: child, calls: null })
  }
  return given
}

/** To a turn, or back from it, when its calls are no longer on the way. */
interface Step {
  readonly turn: RecordedTurn
  readonly calls: readonly string[] | null
}

function givenTo(
  turn: RecordedTurn,
  callers: ReadonlyMap<string, readonly RecordedTurn[]>,
): readonly Given[] {
  return namesOf(turn.input, 'output').flatMap(({ name, item: output, place }) => {
    const caller = callers.get(name)?.at(-1)
    return caller === undefined ? [] : [{ name, caller, atHand: { output, turn, place } }]
  })
}

/** Each end of a call under its key, and which one of that key it is. */
function namesOf(items: readonly Item[], side: ToolCallEnd['side']) {
  const seen = new Map<string, number>()
  return items.flatMap((item, place) => {
    const key = toolCallKey(item, side)
    if (key === null) return []
    const nth = seen.get(key) ?? 0
    seen.set(key, nth + 1)
    return [{ name: `${nth} ${key}`, item, place }]
  })
}

/** These turns and all before them. Links that lead in a circle lead to no first turn. */
function treeOf(turns: readonly RecordedTurn[], kin: TurnAncestry) {
  const roots: RecordedTurn[] = []
  const children = new Map<RecordedTurn, RecordedTurn[]>()
  const known = new Set<RecordedTurn>()
  for (const turn of turns) {
    for (let next: RecordedTurn | null = turn; next !== null && !known.has(next);) {
      known.add(next)
      const parent = kin.parent(next)
      const siblings = parent === null ? roots : (children.get(parent) ?? [])
      siblings.push(next)
      if (parent !== null) children.set(parent, siblings)
      next = parent
    }
  }
  return { roots, children }
}
