/**
 * Finds the recorded output of a recorded tool call. The input of a turn contains the outputs of
 * its parent's calls. Call ids repeat in a conversation, so an output is found by the turn and the
 * number of the call, not only by the id.
 */
import type { Item } from '../core/item.ts'
import {
  readToolCallIdentity,
  isToolCallOutput,
  type ToolCallIdentity,
} from '../core/items/tool-call-pairs.ts'
import type { RecordedTurn } from '../core/items/recorded-turn.ts'
import type { TurnAncestry } from './turn-ancestry.ts'
import { appendToGroup } from './append-to-group.ts'

export interface RecordedOutput {
  readonly output: Item
  /** The turn whose input contains the output, and the output's index there. */
  readonly turn: RecordedTurn
  readonly inputIndex: number
}

/** Returns the output of the turn's call number `nth` (from 0) with this key. */
export type FindToolOutput = (turn: RecordedTurn, key: string, nth: number) => RecordedOutput | null

/**
 * Returns a lookup for the outputs of all calls of the matched turns. `matchedTurns` are in the order
 * of the client's list; the known turns between them are searched as well.
 */
export function indexRecordedOutputs(
  matchedTurns: readonly RecordedTurn[],
  ancestry: TurnAncestry,
): FindToolOutput {
  // Without any tool output, the search below would find nothing.
  if (!ancestry.allTurns.some(({ input }) => input.some(isToolCallOutput))) return () => null
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

/**
 * Returns e.g. `function call_1`; `null` if the item is not this side (`call` or `output`) of a
 * tool call.
 */
export function toolCallKey(item: Item, side: ToolCallIdentity['side']): string | null {
  const callEnd = readToolCallIdentity(item)
  return callEnd?.side === side && callEnd.callId !== ''
    ? `${callEnd.toolKind} ${callEnd.callId}`
    : null
}

interface MatchedOutput {
  readonly callName: string
  readonly caller: RecordedTurn
  readonly recordedOutput: RecordedOutput
}

/**
 * Returns for each turn the outputs in its input, each with the nearest ancestor that made the
 * call. Walks the tree of turns depth-first and keeps the calls of the current path, so each turn
 * is visited once.
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

/** One step of the walk: it enters a turn (`callsToLeave` is `null`) or leaves it with its calls. */
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

/**
 * Lists the calls or the outputs, each with a name that counts equal keys from 0: the second call
 * with the id `call_0` is named `1 function call_0`.
 */
function numberCallEnds(items: readonly Item[], side: ToolCallIdentity['side']) {
  const counts = new Map<string, number>()
  return items.flatMap((item, inputIndex) => {
    const key = toolCallKey(item, side)
    if (key === null) return []
    const nth = counts.get(key) ?? 0
    counts.set(key, nth + 1)
    return [{ callName: `${nth} ${key}`, item, inputIndex }]
  })
}

/**
 * Builds the tree of these turns and their ancestors. Turns whose links form a circle have no root
 * and are left out.
 */
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
