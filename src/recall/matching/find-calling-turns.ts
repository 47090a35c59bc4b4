/**
 * Which turns may have made a call that a client brings. Some providers count their calls from 0 in
 * every answer: such an id says little, and the call must be the same in all else.
 */
import type { Item } from '../../core/item.ts'
import { callEndOf } from '../../core/items/tool-call-pairs.ts'
import type { RecordedTurn } from '../../core/items/recorded-turn.ts'
import { normalizeTurnText, removeEmptyFences } from '../text/normalize-text.ts'
import { toolCallKey } from '../find-recorded-tool-outputs.ts'
import type { Segment } from '../split-and-fingerprint-segments.ts'
import { isSameCall } from '../compare-items.ts'

/** `call` is any item of the run. */
export type FindCallingTurns = (call: Item, run: Segment) => readonly RecordedTurn[]

export function indexCallingTurns(turns: readonly RecordedTurn[]): FindCallingTurns {
  const callers = callersIn(turns)
  return (call, run) => {
    const key = toolCallKey(call, 'call')
    const known = key === null ? undefined : callers.get(key)
    return known?.filter((turn) => hasMade(turn, call, run)) ?? []
  }
}

function callersIn(turns: readonly RecordedTurn[]): ReadonlyMap<string, RecordedTurn[]> {
  const callers = new Map<string, RecordedTurn[]>()
  for (const turn of turns) {
    for (const key of new Set(turn.output.map((item) => toolCallKey(item, 'call')))) {
      if (key === null) continue
      const known = callers.get(key)
      if (known === undefined) callers.set(key, [turn])
      else known.push(turn)
    }
  }
  return callers
}

/** An id that somebody may have counted up to needs words that do not contradict it. */
function hasMade(turn: RecordedTurn, call: Item, run: Segment): boolean {
  const key = toolCallKey(call, 'call')
  const made = turn.output.find(
    (item) => toolCallKey(item, 'call') === key && isSameCall(item, call),
  )
  if (made === undefined) return false
  if (!isCounted(made) || run.words === '') return true
  const [words, said] = [removeEmptyFences(run.words), normalizeTurnText([turn])]
  return said === words || (said !== '' && words.includes(said))
}

/** `call_0`, `functions.weather:3`, or the name of the function itself. */
function isCounted(call: Item): boolean {
  const id = callEndOf(call)?.callId ?? ''
  const rest = 'name' in call ? id.replace(call.name, '') : id
  const lastWord = /[0-9A-Za-z]*$/.exec(rest)?.[0] ?? ''
  return lastWord.length < SHORTEST_RANDOM
}

const SHORTEST_RANDOM = 8
