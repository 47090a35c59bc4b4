/**
 * Finds the recorded output of a recorded tool call. The gateway stores an output in the input of
 * the turn after the call. Call ids repeat in a conversation (some providers count them from 0 in
 * each answer). So an output is found by the turn that made the call, and by the call's number
 * among that turn's calls with the same id.
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
 * Returns the recorded output of a call that `turn` made; `null` if no output was recorded.
 * `callKey` is the kind of the tool and the call id, e.g. `function call_0`; since ids repeat,
 * `callNumber` counts the turn's calls with this key, from 0.
 */
export type FindToolOutput = (
  turn: RecordedTurn,
  callKey: string,
  callNumber: number,
) => RecordedOutput | null

/**
 * Returns a function that finds the recorded output of a call. `matchedTurns` are the stored turns
 * of the client's answers, in the order of its list. Only outputs in the inputs of these turns and
 * of their ancestors are found. If a call has several outputs, the first one in this order is
 * taken.
 */
export function indexRecordedOutputs(
  matchedTurns: readonly RecordedTurn[],
  ancestry: TurnAncestry,
): FindToolOutput {
  // Without a tool output in the input of any turn, there is nothing to find.
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
 * Returns a key that a tool call and its output have in common, e.g. `function call_1`. Returns
 * `null` if the item is not the requested side (`call` or `output`) of a tool call.
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
 * Returns for each turn the tool outputs in its input, each with the turn that made the call: the
 * nearest ancestor with a call of the same name. To visit each turn only once, the tree of turns is
 * walked depth-first, with a stack of the calls between the root and the current turn.
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
 * turn. Otherwise it leaves the turn and removes the turn's calls from the stack, because turns in
 * other branches did not follow them.
 */
interface WalkStep {
  readonly turn: RecordedTurn
  readonly callsToLeave: readonly string[] | null
}

/**
 * Lists the tool calls (or the outputs) among the items, each with a name that is unique among them
 * although call ids repeat. For example, the second call with the id `call_0` gets the name `1
 * function call_0`, and so does the second output.
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
 * Builds the tree of `turns` and their ancestors from the stored parent of each turn. If the
 * parents form a circle, because the stored data is damaged, the circle has no root, so the walk
 * does not reach its turns.
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
