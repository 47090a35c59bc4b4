/**
 * Finds the recorded output of a recorded tool call. The gateway stores an output in the input of
 * the next turn. Call ids repeat in a conversation (some providers count them from 0 in each
 * answer), so an output is found by its call's turn and number, not only by the call id.
 */
import type { Item } from '../core/item.ts'
import {
  readToolCallIdentity,
  isToolCallOutput,
  type ToolCallIdentity,
} from '../core/items/tool-call-pairs.ts'
import type { RecordedTurn } from '../core/items/recorded-turn.ts'
import type { TurnAncestry } from './turn-ancestry.ts'
import { appendToGroup } from './map-and-list-helpers.ts'

export interface RecordedOutput {
  readonly output: Item
  /** The turn whose input contains the output, and the output's index in that input. */
  readonly turn: RecordedTurn
  readonly inputIndex: number
}

/**
 * Returns the recorded output of a turn's call. `callKey` is e.g. `function call_0`; `callNumber` is the
 * call's number among the turn's calls with this key, from 0. Returns `null` if no output was
 * recorded.
 */
export type FindToolOutput = (
  turn: RecordedTurn,
  callKey: string,
  callNumber: number,
) => RecordedOutput | null

/**
 * Returns a lookup for the outputs of all calls that the matched turns made. `matchedTurns` are in
 * the order of the client's list. An output is found in the inputs of these turns and of their
 * ancestors.
 */
export function indexRecordedOutputs(
  matchedTurns: readonly RecordedTurn[],
  ancestry: TurnAncestry,
): FindToolOutput {
  // If no turn has a tool output in its input, the search below would find nothing.
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
 * Returns a key that a tool call and its output share, e.g. `function call_1`. Returns `null` if
 * the item is not the requested `side` (`call` or `output`) of a tool call.
 */
export function readToolCallKey(item: Item, side: ToolCallIdentity['side']): string | null {
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
 * Returns for each turn the tool outputs in its input, each with the nearest ancestor that made the
 * call. Walks the tree of turns depth-first with a stack of the calls on the current path, so that
 * each turn is visited once.
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
    const outputs = numberCallEnds(turn.input, 'output').flatMap(({ callName, item, index }) => {
      const caller = callersByName.get(callName)?.at(-1)
      const recordedOutput = { output: item, turn, inputIndex: index }
      return caller === undefined ? [] : [{ callName, caller, recordedOutput }]
    })
    outputsByTurn.set(turn, outputs)
    const madeCalls = numberCallEnds(turn.output, 'call').map(({ callName }) => callName)
    for (const callName of madeCalls) appendToGroup(callersByName, callName, turn)
    pendingSteps.push({ turn, callsToLeave: madeCalls })
    for (const child of children.get(turn) ?? [])
      pendingSteps.push({ turn: child, callsToLeave: null })
  }
  return outputsByTurn
}

/**
 * One step of the walk through the tree of turns. If `callsToLeave` is `null`, the walk enters the
 * turn; else it leaves the turn and removes these calls of it from the current path.
 */
interface WalkStep {
  readonly turn: RecordedTurn
  readonly callsToLeave: readonly string[] | null
}

/**
 * Lists the tool calls (or the outputs) among the items, each with a name that counts equal keys
 * from 0. For example, the second call with the id `call_0` gets the name `1 function call_0`.
 */
function numberCallEnds(items: readonly Item[], side: ToolCallIdentity['side']) {
  const counts = new Map<string, number>()
  return items.flatMap((item, index) => {
    const key = readToolCallKey(item, side)
    if (key === null) return []
    const nth = counts.get(key) ?? 0
    counts.set(key, nth + 1)
    return [{ callName: `${nth} ${key}`, item, index }]
  })
}

/**
 * Builds the tree of `turns` and their ancestors from the stored parent of each turn. If damaged
 * links form a circle, the circle has no root, so its turns are left out.
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
      if (parent === null) roots.push(current)
      else appendToGroup(children, parent, current)
      current = parent
    }
  }
  return { roots, children }
}
