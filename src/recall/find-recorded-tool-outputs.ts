/**
 * Which output belongs to a call that was recorded: what a turn was given before it answered are the
 * outputs of the calls of the turn that it goes on from. Ids repeat, so it is asked for the call of
 * a certain turn and not for an id.
 */
import type { Item } from '../core/item.ts'
import { callEndOf, isCallOutput, type ToolCallEnd } from '../core/items/tool-call-pairs.ts'
import type { RecordedTurn } from '../core/items/recorded-turn.ts'
import type { TurnAncestry } from './turn-ancestry.ts'
import { appendToGroup } from './append-to-group.ts'

export interface RecordedOutput {
  readonly output: Item
  /** The turn that was given it, and its place in what that turn was given. */
  readonly turn: RecordedTurn
  readonly inputIndex: number
}

/** The output of the turn's call number `nth` under this key, counted from 0. */
export type FindRecordedOutput = (
  turn: RecordedTurn,
  key: string,
  nth: number,
) => RecordedOutput | null

/** `attached` are the turns of a list, in their order. Those known to lie between are asked, too. */
export function indexRecordedOutputs(
  matchedTurns: readonly RecordedTurn[],
  ancestry: TurnAncestry,
): FindRecordedOutput {
  // Most turns were given none, and nothing is to be found out about them.
  if (!ancestry.allTurns.some(({ input }) => input.some(isCallOutput))) return () => null
  const matchedTurnSet = new Set(matchedTurns)
  const outputsByTurn = matchOutputsToCallers(matchedTurns, ancestry)
  const visitedTurns = new Set<RecordedTurn>()
  const outputsByCaller = new Map<RecordedTurn, Map<string, RecordedOutput>>()
  const visitTurn = (turn: RecordedTurn): void => {
    visitedTurns.add(turn)
    for (const { callName, caller, recordedOutput } of outputsByTurn.get(turn) ?? []) {
      const outputs = outputsByCaller.get(caller) ?? new Map<string, RecordedOutput>()
      outputsByCaller.set(caller, outputs)
      if (!outputs.has(callName)) outputs.set(callName, recordedOutput)
    }
  }
  for (const turn of matchedTurns) {
    if (!visitedTurns.has(turn)) visitTurn(turn)
    for (const ancestor of ancestry.listAncestors(turn)) {
      if (matchedTurnSet.has(ancestor) || visitedTurns.has(ancestor)) break
      visitTurn(ancestor)
    }
  }
  return (turn, key, nth) => outputsByCaller.get(turn)?.get(`${nth} ${key}`) ?? null
}

/** `null` for what is not that end of a call. */
export function toolCallKey(item: Item, side: ToolCallEnd['side']): string | null {
  const callEnd = callEndOf(item)
  return callEnd?.side === side && callEnd.callId !== ''
    ? `${callEnd.family} ${callEnd.callId}`
    : null
}

interface MatchedOutput {
  readonly callName: string
  readonly caller: RecordedTurn
  readonly recordedOutput: RecordedOutput
}

/**
 * For each turn the outputs it was given, with the nearest turn before it that has made the call. All
 * ways from the first turns down are gone once, with the calls that were made on the way.
 */
function matchOutputsToCallers(
  matchedTurns: readonly RecordedTurn[],
  ancestry: TurnAncestry,
): ReadonlyMap<RecordedTurn, readonly MatchedOutput[]> {
  const { roots, children } = buildTurnTree(matchedTurns, ancestry)
  const outputsByTurn = new Map<RecordedTurn, readonly MatchedOutput[]>()
  const callersByName = new Map<string, RecordedTurn[]>()
  const pendingSteps: WalkStep[] = roots.map((turn) => ({ turn, callsToLeave: null }))
  for (let step = pendingSteps.pop(); step !== undefined; step = pendingSteps.pop()) {
    const { turn, callsToLeave } = step
    if (callsToLeave !== null) {
      for (const callName of callsToLeave) callersByName.get(callName)?.pop()
      continue
    }
    outputsByTurn.set(turn, matchTurnOutputs(turn, callersByName))
    const madeCalls = numberCallEnds(turn.output, 'call').map(({ callName }) => callName)
    for (const callName of madeCalls) {
      appendToGroup(callersByName, callName, turn)
    }
    pendingSteps.push({ turn, callsToLeave: madeCalls })
    for (const child of children.get(turn) ?? [])
      pendingSteps.push({ turn: child, callsToLeave: null })
  }
  return outputsByTurn
}

/** To a turn, or back from it, when its calls are no longer on the way. */
interface WalkStep {
  readonly turn: RecordedTurn
  readonly callsToLeave: readonly string[] | null
}

function matchTurnOutputs(
  turn: RecordedTurn,
  callersByName: ReadonlyMap<string, readonly RecordedTurn[]>,
): readonly MatchedOutput[] {
  return numberCallEnds(turn.input, 'output').flatMap(({ callName, item: output, inputIndex }) => {
    const caller = callersByName.get(callName)?.at(-1)
    return caller === undefined
      ? []
      : [{ callName, caller, recordedOutput: { output, turn, inputIndex } }]
  })
}

/** Each end of a call under its key, and which one of that key it is. */
function numberCallEnds(items: readonly Item[], side: ToolCallEnd['side']) {
  const counts = new Map<string, number>()
  return items.flatMap((item, inputIndex) => {
    const key = toolCallKey(item, side)
    if (key === null) return []
    const nth = counts.get(key) ?? 0
    counts.set(key, nth + 1)
    return [{ callName: `${nth} ${key}`, item, inputIndex }]
  })
}

/** These turns and all before them. Links that lead in a circle lead to no first turn. */
function buildTurnTree(turns: readonly RecordedTurn[], ancestry: TurnAncestry) {
  const roots: RecordedTurn[] = []
  const children = new Map<RecordedTurn, RecordedTurn[]>()
  const visitedTurns = new Set<RecordedTurn>()
  for (const turn of turns) {
    let current: RecordedTurn | null = turn
    while (current !== null && !visitedTurns.has(current)) {
      visitedTurns.add(current)
      const parent: RecordedTurn | null = ancestry.findParent(current)
      const siblings = parent === null ? roots : (children.get(parent) ?? [])
      siblings.push(current)
      if (parent !== null) children.set(parent, siblings)
      current = parent
    }
  }
  return { roots, children }
}
