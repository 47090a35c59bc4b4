/**
 * Leaves out what a client repeats of a history that it also names: some send the answer that they
 * go on from once more, in front of the outputs of its calls.
 *
 * What the client repeats ends where the history ends. What stands behind that is new, even under
 * an id that occurred before.
 */
import { textOf, type Item } from '../conversation/item.ts'
import type { Note } from '../conversation/note.ts'
import { callEndOf } from '../conversation/pairs.ts'
import { isUserMessage } from '../conversation/rounds.ts'
import { compactWords } from './compact-words.ts'
import { isOfModel } from './plan-recall.ts'
import { isSameHosted, isSameReasoning } from './same-item.ts'
import type { Step } from './transform.ts'

export function dropCovered(history: readonly Item[], items: readonly Item[]): Step {
  const border = items.findIndex((item) => !isOfModel(item) && !isOutput(item))
  const repeated = items.slice(0, border < 0 ? items.length : border)
  const tail = history.slice(history.findLastIndex(isUserMessage) + 1)
  const covered = coveredBy(tail, repeated)
  if (covered.size === 0) return { items, notes: [] }
  const notes: Note[] = []
  const kept = items.filter((_, at) => {
    if (!covered.has(at)) return true
    notes.push({ did: 'dropped', at, why: 'already-remembered' })
    return false
  })
  return { items: kept, notes }
}

function isOutput(item: Item): boolean {
  return callEndOf(item)?.side === 'output'
}

/** From the end back: what is found last in the history is the last that is repeated. */
function coveredBy(tail: readonly Item[], repeated: readonly Item[]): ReadonlySet<number> {
  const covered = new Set<number>()
  if (repeated.length === 0) return covered
  let end = tail.length
  let last = -1
  for (; end > 0 && last < 0; end -= 1)
    last = repeated.findLastIndex((item) => covers(tail, end, item) > 0)
  if (last >= 0) end += 1
  for (let at = last; at >= 0; at -= 1) {
    const item = repeated[at]
    if (item === undefined) continue
    for (let before = end; before > 0; before -= 1) {
      const length = covers(tail, before, item)
      if (length === 0) continue
      covered.add(at)
      end = before - length
      break
    }
  }
  return covered
}

/** How many items of the tail in front of `end` the item says again; 0 if it does not. */
function covers(tail: readonly Item[], end: number, item: Item): number {
  const before = tail[end - 1]
  if (before === undefined) return 0
  if (before.type === 'message') return item.type === 'message' ? coversWords(tail, end, item) : 0
  if (isSameReasoning(before, item) || isSameHosted(before, item)) return 1
  const [one, other] = [callEndOf(before), callEndOf(item)]
  if (one === null || other === null || one.callId === '') return 0
  const isSame =
    one.side === other.side && one.family === other.family && one.callId === other.callId
  return isSame ? 1 : 0
}

/** Some clients make one message of all that was said between two calls. */
function coversWords(tail: readonly Item[], end: number, item: Item): number {
  if (item.type !== 'message') return 0
  const words = compactWords(textOf(item.content))
  if (words === '') return 0
  let said = ''
  for (let at = end - 1; at >= 0; at -= 1) {
    const before = tail[at]
    if (before?.type === 'reasoning') continue
    if (before?.type !== 'message' || before.role !== 'assistant') return 0
    said = compactWords(textOf(before.content)) + said
    if (!words.endsWith(said)) return 0
    if (said.length === words.length) return end - at
  }
  return 0
}
