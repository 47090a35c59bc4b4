/**
 * Shows nothing of some authors: one placeholder stands for each run of what they said. Calls that
 * were made in their name go with their outputs, reasoning with what it led to, and the media in all
 * of that as well. What is stored stays. A compaction that an upstream made while they were shown may
 * tell of them, and stands for nothing then; of one that a client has brought along nobody knows.
 *
 * The placeholder is always the same text, said by nobody's role but the user's, so that a run that
 * grows does not change it.
 */
import { readHiddenAuthors, isUpstreamCompaction } from '../../core/items/compaction-item.ts'
import { createNoticePart } from '../../core/text/gateway-notice.ts'
import type { Item, Message } from '../../core/item.ts'
import { authorOf, matchesAuthor } from '../../core/items/author-time-and-reset-fields.ts'
import type { Note } from '../../core/note.ts'
import { callEndOf } from '../../core/items/tool-call-pairs.ts'
import { findInsertionPoints } from '../insertion-points.ts'
import { ITEM_TRAITS } from '../scan-items.ts'
import type { Transform } from '../transform-interface.ts'

export function hideAuthors(hidden: readonly string[]): Transform {
  return {
    name: 'hide-authors',
    needs: ITEM_TRAITS.author,
    prefixStability: 'none',
    run(items) {
      const isHidden = hiddenIn(items, hidden)
      if (isHidden === null) return { items, notes: [] }
      const kept: Item[] = []
      const notes: Note[] = []
      const mayTell = tellingOf(items, hidden)
      for (const [at, item] of items.entries()) {
        if (isHidden[at] !== true) {
          if (mayTell(item, at)) notes.push({ did: 'dropped', at, why: 'compaction-of-hidden' })
          else kept.push(item)
          continue
        }
        const isFirst = isHidden[at - 1] !== true
        if (isFirst) kept.push(placeholder())
        notes.push({ did: isFirst ? 'changed' : 'dropped', at, why: 'author-hidden' })
      }
      return { items: kept, notes }
    },
  }
}

/** Who had something said in front of it, and was not hidden when it was made. */
function tellingOf(items: readonly Item[], hidden: readonly string[]) {
  const began = hidden.map((who) => ({ who, at: items.findIndex((item) => isOf(item, [who])) }))
  return (item: Item, at: number): boolean => {
    if (!isUpstreamCompaction(item) || item.origin === undefined) return false
    const without = readHiddenAuthors(item)
    return began.some((one) => one.at >= 0 && one.at < at && !without.includes(one.who))
  }
}

function isOf(item: Item, authors: readonly string[]): boolean {
  const author = authorOf(item)
  return author !== null && authors.some((who) => matchesAuthor(author, who))
}

function placeholder(): Message {
  const notice = createNoticePart('What a hidden author said here is not shown.')
  return { type: 'message', role: 'user', content: [notice] }
}

/**
 * `null` if there is nothing of them, as is usual. Calls, outputs and reasoning are hidden as whole
 * groups; what stands in front of calls is no part of these, for it may have been sent before them.
 */
function hiddenIn(items: readonly Item[], hidden: readonly string[]): readonly boolean[] | null {
  const isTheirs = items.map((item) => isOf(item, hidden))
  if (!isTheirs.includes(true)) return null
  const borders = findInsertionPoints(items)
  let start = 0
  for (let end = 1; end <= items.length; end += 1) {
    const isBorder = borders[end] === true || endsByItself(items[end - 1])
    if (end < items.length && !isBorder) continue
    if (isTheirs.slice(start, end).includes(true)) isTheirs.fill(true, start, end)
    start = end
  }
  return isTheirs
}

function endsByItself(item: Item | undefined): boolean {
  return item !== undefined && item.type !== 'reasoning' && callEndOf(item) === null
}
