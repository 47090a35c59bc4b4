/**
 * Thins what is still too long with whole rounds in it: a round of hundreds of tool steps. The
 * oldest groups behind its question are dropped, each group whole: reasoning with what it led to,
 * calls with their outputs. `windowItems` says what wins over what.
 *
 * This cut, too, moves in steps of half of `maxItems`. In a history that `windowItems` has cut they
 * are counted from that cut, where a provider's cache begins anew anyway.
 */
import type { Item } from '../conversation/item.ts'
import { ALONE, callEndOf, pairsOf } from '../conversation/pairs.ts'
import {
  headLength,
  isAssistantMessage,
  isPinned,
  isUserMessage,
  questionEnd,
  roundStarts,
} from '../conversation/rounds.ts'
import { keepWhere } from './keep-where.ts'
import type { Transform } from './transform.ts'

/** `maxItems` is at least 1. */
export function boundItems({ maxItems }: { readonly maxItems: number }): Transform {
  return {
    name: 'bound-items',
    run(items) {
      const head = headLength(items)
      if (items.length - head <= maxItems) return { items, notes: [] }
      return keepWhere(items, thinned(items, head, maxItems), 'windowed')
    },
  }
}

type Keeps = (at: number, item: Item) => boolean

function thinned(items: readonly Item[], head: number, maxItems: number): Keeps {
  const stride = Math.ceil(maxItems / 2)
  // Room for what is kept from before the cut.
  const room = Math.floor(maxItems / 4)
  const excess = items.length - head - (maxItems - room)
  const borders = groupBorders(items, head)
  const last = borders.at(-1) ?? head
  for (let steps = Math.ceil(excess / stride); ; steps += 1) {
    const target = head + steps * stride
    const cut = borders.find((border) => border >= target) ?? last
    const keeps = keepsFrom(items, head, cut)
    const kept = items.filter((item, at) => keeps(at, item)).length - head
    // Where the room was too small, another step. The newest group stays in any case.
    if (kept <= maxItems || cut === last) return keeps
  }
}

/**
 * Before the cut there stay the question that is being worked on and the last message of the
 * assistant. That message stays even if there are others behind the cut: if it went when the first
 * of those arrives, the prefix would change between two steps.
 */
function keepsFrom(items: readonly Item[], head: number, cut: number): Keeps {
  const question = roundStarts(items).findLast((start) => start <= cut) ?? cut
  const behindQuestion = questionEnd(items, question)
  let answer = cut - 1
  while (answer >= head && !isAssistantMessage(items[answer])) answer -= 1
  let reasoning = answer
  while (items[reasoning - 1]?.type === 'reasoning') reasoning -= 1
  return (at, item) =>
    at < head ||
    at >= cut ||
    (at >= question && at < behindQuestion) ||
    (at >= reasoning && at <= answer) ||
    isPinned(item)
}

/** The places where a cut parts neither a question, nor reasoning and what it led to, nor a pair. */
function groupBorders(items: readonly Item[], head: number): readonly number[] {
  const partners = pairsOf(items)
  const borders: number[] = []
  let furthestPartner = ALONE
  for (let at = head + 1; at < items.length; at += 1) {
    furthestPartner = Math.max(furthestPartner, partners[at - 1] ?? ALONE)
    if (furthestPartner < at && beginsAnew(items[at - 1], items[at])) borders.push(at)
  }
  return borders
}

function beginsAnew(before: Item | undefined, after: Item | undefined): boolean {
  if (before === undefined || after === undefined || before.type === 'reasoning') return false
  if (isFromOutside(after)) return !(isUserMessage(before) && isUserMessage(after))
  // What the model goes on to make may come of the same reasoning, until it reasons anew.
  return isFromOutside(before) || callEndOf(before)?.side === 'output' || after.type === 'reasoning'
}

function isFromOutside(item: Item): boolean {
  return item.type === 'message' && item.role !== 'assistant'
}
