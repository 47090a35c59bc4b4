/**
 * Finds out which output answers which call, and what each call is named on this wire. Ids repeat in
 * real conversations, so calls and outputs pair in order. An id that the wire would refuse gets
 * another one, which depends on nothing that comes later: the next request names it the same.
 */
import { isToolCall, isToolOutput, type Item } from '../../../core/item.ts'
import type { NoteCollector } from '../encoding-notes.ts'
import { hashText } from '../pack-thinking-block.ts'

export interface ToolCallPairs {
  /** Place of the output, by the place of its call. */
  readonly outputOf: ReadonlyMap<number, number>
  readonly idOf: ReadonlyMap<number, string>
  /** Places of the outputs that have a call. */
  readonly answers: ReadonlySet<number>
  /** Whether anything but outputs stands between two places. */
  readonly apart: (from: number, to: number) => boolean
}

export function pairToolCalls(items: readonly Item[], notebook: NoteCollector): ToolCallPairs {
  const waiting = new Map<string, number[]>()
  const outputOf = new Map<number, number>()
  const idOf = new Map<number, string>()
  const answers = new Set<number>()
  const uses = new Map<string, number>()
  const others: number[] = []
  let count = 0
  for (const [at, item] of items.entries()) {
    others.push(count)
    if (isToolOutput(item)) {
      const call = waiting.get(item.call_id)?.shift()
      if (call === undefined) continue
      outputOf.set(call, at)
      answers.add(at)
      continue
    }
    count += 1
    if (!isToolCall(item)) continue
    const calls = waiting.get(item.call_id)
    if (calls === undefined) waiting.set(item.call_id, [at])
    else calls.push(at)
    const id = lawfulId(item.call_id, uses)
    idOf.set(at, id)
    if (id !== item.call_id) notebook.write('call-id-changed', { at })
  }
  return { outputOf, idOf, answers, apart: (from, to) => others[from] !== others[to] }
}

const LAWFUL_ID = /^[a-zA-Z0-9_-]{1,64}$/

/** `uses` counts how often a name was asked for, and so holds every name that is taken. */
function lawfulId(id: string, uses: Map<string, number>): string {
  const name = LAWFUL_ID.test(id) ? id : `call_${hashText(id)}`
  let nth = (uses.get(name) ?? 0) + 1
  let free = name
  while (uses.has(free)) free = `call_${hashText(name)}_${nth++}`
  uses.set(name, nth)
  uses.set(free, 1)
  return free
}
