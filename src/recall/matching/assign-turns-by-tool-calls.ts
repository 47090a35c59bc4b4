/**
 * Assigns stored turns to answer segments (consecutive model-made items in the client's list) by
 * their tool calls. Some providers count call ids from 0 in each answer (`call_0`), so the name and
 * the arguments of the call must be equal, too.
 */
import type { Item } from '../../core/item.ts'
import type { RecordedTurn } from '../../core/items/recorded-turn.ts'
import { readToolCallIdentity } from '../../core/items/tool-call-pairs.ts'
import { appendToGroup, listPreviousValues } from '../map-and-list-helpers.ts'
import { isSameCall } from '../compare-items.ts'
import { readToolCallKey } from '../find-recorded-tool-outputs.ts'
import type { Segment } from '../split-and-fingerprint-segments.ts'
import { normalizeTurnText, removeEmptyFences } from '../text/normalize-text.ts'
import {
  type MatchState,
  hasFingerprintOfOtherSegment,
  getOnlyTurn,
  assignTurn,
} from './match-state.ts'

/**
 * Assigns turns to the answer segments that have no turn yet. The last segment comes first: if
 * several turns made the same call, an ancestor of a later segment's turn is preferred.
 */
export function assignTurnsByToolCalls(state: MatchState): void {
  const { segments, ancestry, turnsBySegment, assignedTurns, ambiguousSegments } = state
  const isUnassigned = (segment: Segment, index: number) =>
    segment.callIds.length > 0 &&
    turnsBySegment[index]?.length === 0 &&
    !ambiguousSegments.has(index)
  if (!segments.some(isUnassigned)) return
  const callersByKey = groupCallersByKey(ancestry.allTurns)
  const earlierTurns = listPreviousValues(turnsBySegment.map((turns) => turns.at(-1) ?? null))
  let laterTurn: RecordedTurn | null = null
  for (const [index, segment] of [...segments.entries()].toReversed()) {
    const segmentTurns = turnsBySegment[index] ?? []
    if (isUnassigned(segment, index)) {
      let hasSeveralCallers = false
      for (const call of state.items.slice(segment.start, segment.end)) {
        const callers = callersByKey.get(readToolCallKey(call, 'call') ?? '') ?? []
        const candidates = callers.flatMap((caller) =>
          isLikelyCaller(caller, call, segment) &&
          !hasFingerprintOfOtherSegment(state, caller.turn, index) &&
          (!assignedTurns.has(caller.turn) || segmentTurns.includes(caller.turn))
            ? [caller.turn]
            : [],
        )
        const turn =
          getOnlyTurn(candidates) ??
          ancestry.findNearestAncestor(laterTurn, candidates) ??
          ancestry.findOnlyDescendant(earlierTurns[index] ?? null, candidates)
        if (turn !== null) assignTurn(state, index, turn)
        hasSeveralCallers ||= candidates.length > 1
      }
      if (hasSeveralCallers && segmentTurns.length === 0) ambiguousSegments.add(index)
    }
    laterTurn = segmentTurns[0] ?? laterTurn
  }
}

/** A turn and the first of its calls with one key. */
interface Caller {
  readonly turn: RecordedTurn
  readonly call: Item
}

function groupCallersByKey(turns: readonly RecordedTurn[]): ReadonlyMap<string, Caller[]> {
  const callersByKey = new Map<string, Caller[]>()
  for (const turn of turns)
    for (const call of turn.output) {
      const key = readToolCallKey(call, 'call')
      if (key !== null && callersByKey.get(key)?.at(-1)?.turn !== turn)
        appendToGroup(callersByKey, key, { turn, call })
    }
  return callersByKey
}

/**
 * True if the turn probably made this call: its call has the same name and arguments. If the id is
 * predictable, e.g. `call_0`, this proves little. If the answer segment has text, it must then
 * contain the turn's text, too.
 */
function isLikelyCaller({ turn, call: recorded }: Caller, call: Item, segment: Segment): boolean {
  if (!isSameCall(recorded, call)) return false
  if (!hasPredictableId(recorded) || segment.normalizedText === '') return true
  const segmentText = removeEmptyFences(segment.normalizedText)
  const turnText = normalizeTurnText([turn])
  return turnText === segmentText || (turnText !== '' && segmentText.includes(turnText))
}

/**
 * True if other calls may have the same id by coincidence, because the id has no long random part,
 * e.g. `call_0`, `functions.weather:3`, or the name of the function.
 */
function hasPredictableId(call: Item): boolean {
  const id = readToolCallIdentity(call)?.callId ?? ''
  const idWithoutName = 'name' in call ? id.replace(call.name, '') : id
  const lastAlphanumerics = /[0-9A-Za-z]*$/.exec(idWithoutName)?.[0] ?? ''
  return lastAlphanumerics.length < MIN_RANDOM_ID_CHARS
}

const MIN_RANDOM_ID_CHARS = 8
