/**
 * Finds the recorded turns that may have made a tool call in the client's list. The name and the
 * arguments must be equal, not only the id: some providers count ids from 0 in every answer (`call_0`).
 */
import type { Item } from '../../core/item.ts'
import { readToolCallIdentity } from '../../core/items/tool-call-pairs.ts'
import type { RecordedTurn } from '../../core/items/recorded-turn.ts'
import { normalizeTurnText, removeEmptyFences } from '../text/normalize-text.ts'
import { toolCallKey } from '../find-recorded-tool-outputs.ts'
import type { Segment } from '../split-and-fingerprint-segments.ts'
import { isSameCall } from '../compare-items.ts'
import { appendToGroup } from '../append-to-group.ts'

/** Returns the turns that may have made the call; none if the item is no tool call. */
export type FindCallingTurns = (call: Item, segment: Segment) => readonly RecordedTurn[]

export function indexCallingTurns(turns: readonly RecordedTurn[]): FindCallingTurns {
  const turnsByCallKey = groupTurnsByCallKey(turns)
  return (call, segment) => {
    const key = toolCallKey(call, 'call')
    const turnsOfKey = key === null ? undefined : turnsByCallKey.get(key)
    return turnsOfKey?.filter((turn) => isLikelyCaller(turn, call, segment)) ?? []
  }
}

function groupTurnsByCallKey(turns: readonly RecordedTurn[]): ReadonlyMap<string, RecordedTurn[]> {
  const turnsByCallKey = new Map<string, RecordedTurn[]>()
  for (const turn of turns) {
    for (const key of new Set(turn.output.map((item) => toolCallKey(item, 'call')))) {
      if (key === null) continue
      appendToGroup(turnsByCallKey, key, turn)
    }
  }
  return turnsByCallKey
}

/**
 * True if the turn made this call. For a predictable id, the text of turn and segment must not
 * contradict each other.
 */
function isLikelyCaller(turn: RecordedTurn, call: Item, segment: Segment): boolean {
  const key = toolCallKey(call, 'call')
  const recordedCall = turn.output.find(
    (item) => toolCallKey(item, 'call') === key && isSameCall(item, call),
  )
  if (recordedCall === undefined) return false
  if (!hasPredictableId(recordedCall) || segment.normalizedText === '') return true
  const segmentText = removeEmptyFences(segment.normalizedText)
  const turnText = normalizeTurnText([turn])
  return turnText === segmentText || (turnText !== '' && segmentText.includes(turnText))
}

/**
 * True for ids without a long random part, e.g. `call_0`, `functions.weather:3`, or the name of the
 * function.
 */
function hasPredictableId(call: Item): boolean {
  const id = readToolCallIdentity(call)?.callId ?? ''
  const idWithoutName = 'name' in call ? id.replace(call.name, '') : id
  const lastAlphanumerics = /[0-9A-Za-z]*$/.exec(idWithoutName)?.[0] ?? ''
  return lastAlphanumerics.length < MIN_RANDOM_ID_CHARS
}

const MIN_RANDOM_ID_CHARS = 8
