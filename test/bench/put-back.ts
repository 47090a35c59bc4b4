/**
 * Checks that recalling the turns of a chat takes linear time, up to 100,000 items:
 *
 *     node test/bench/put-back.ts
 *
 * All turns are in memory: the number of turns that the database returns has a limit far below that
 * (`store/recall/recall-store-interface.ts`).
 */
import type { Item } from '../../src/core/item.ts'
import type { RecordedTurn } from '../../src/core/items/recorded-turn.ts'
import { restoreForgottenItems } from '../../src/recall/restore-forgotten-items.ts'
import { splitIntoSegments } from '../../src/recall/split-and-fingerprint-segments.ts'
import { assistant, user } from '../store/turns.ts'

const LENGTHS = [200, 2_000, 20_000]
const ROUNDS = 7
/** Limit for the time per item of the longest chat relative to the shortest. */
const MAX_RATIO = 2
/** Reasoning items per turn. */
const THOUGHTS = 4
const ALIKE = { thread: 't', reasoningRefusedBy: null, createdAtMs: 0, usedAtMs: 0 }

const perItem = LENGTHS.map((turns) => {
  const chat = chatOf(turns)
  const remembered = turnsOf(chat)
  let took = Infinity
  let items = 0
  for (let round = 0; round < ROUNDS; round += 1) {
    const startedAt = performance.now()
    const recalled = restoreForgottenItems(chat, splitIntoSegments(chat), remembered, {
      replaysTools: true,
    })
    took = Math.min(took, performance.now() - startedAt)
    items = recalled.items.length
  }
  if (items !== chat.length + turns * THOUGHTS) throw new Error(`There are only ${items} items.`)
  const each = (took * 1000) / items
  console.log(
    `${turns} turns, ${items} items: ${took.toFixed(1)} ms, ${each.toFixed(1)} µs an item`,
  )
  return each
})
const ratio = (perItem.at(-1) ?? 0) / (perItem[0] ?? 1)
console.log(`An item of the longest costs × ${ratio.toFixed(1)} of one of the shortest.`)
if (ratio > MAX_RATIO) process.exitCode = 1

function chatOf(turns: number): readonly Item[] {
  const said = Array.from({ length: turns }, (_, at) => [
    user(`Question ${at} ${'why '.repeat(60)}`),
    assistant(`Answer ${at} ${'because '.repeat(20)}`),
  ])
  return [...said.flat(), user('And now?')]
}

function turnsOf(chat: readonly Item[]): readonly RecordedTurn[] {
  let parent: string | null = null
  return splitIntoSegments(chat).segments.map(({ start, end, fingerprint }, depth) => {
    const id = String(depth).padStart(20, '0')
    const output = [...thoughts(depth), ...chat.slice(start, end)]
    const turn = { id, parent, depth, fingerprint, output: structuredClone(output) }
    parent = id
    return { ...ALIKE, ...turn, input: chat.slice(start - 1, start) }
  })
}

function thoughts(turn: number): readonly Item[] {
  return Array.from({ length: THOUGHTS }, (_, part) => ({
    type: 'reasoning',
    summary: [],
    encrypted_content: `${turn}-${part} ${'c2VhbGVk'.repeat(10)}`,
  }))
}
