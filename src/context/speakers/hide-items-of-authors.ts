/**
 * Hides all items of the authors that the policy hides: one placeholder replaces consecutive hidden items. A call is
 * hidden together with its output, and reasoning together with the item that it led to. Stored items do not change.
 *
 * A compaction that an upstream made while such an author was visible may mention the author, so it is dropped. A
 * compaction that the gateway has not recorded stays, because the gateway does not know when it was made.
 *
 * The placeholder always has the same text and the role `user`, so that it does not change when another hidden message
 * follows.
 */
import {
  readCompactionHiddenAuthors,
  isUpstreamCompaction,
} from '../../core/items/compaction-item.ts'
import { createNoticePart } from '../../core/text/gateway-notice.ts'
import type { Item, Message } from '../../core/item.ts'
import { readClientGivenAuthor, matchesAuthor } from '../../core/items/gateway-fields.ts'
import { readToolCallIdentity } from '../../core/items/tool-call-pairs.ts'
import { editItems } from '../edit-items.ts'
import { findInsertionPoints } from '../insertion-points.ts'
import { ITEM_TRAITS } from '../detect-item-traits.ts'
import type { Transform } from '../transform-interface.ts'

export function hideItemsOfAuthors(hiddenAuthors: readonly string[]): Transform {
  return {
    name: 'hide-authors',
    requiredTraits: ITEM_TRAITS.author,
    prefixChanges: 'never',
    run(items) {
      const isHidden = findHiddenItems(items, hiddenAuthors)
      if (isHidden === null) return { items, notes: [] }
      const mayMention = createMentionCheck(items, hiddenAuthors)
      return editItems(items, (item, index) => {
        if (isHidden[index] === true) {
          const isFirst = isHidden[index - 1] !== true
          return { replacement: isFirst ? createPlaceholder() : null, why: 'author-hidden' }
        }
        return mayMention(item, index) ? { replacement: null, why: 'compaction-of-hidden' } : null
      })
    },
  }
}

/**
 * Returns a function that is true for a compaction that must be dropped: an upstream made it, and it may mention a now
 * hidden author, because the author had written before it and was not hidden when it was made.
 */
function createMentionCheck(items: readonly Item[], hidden: readonly string[]) {
  const firstMessages = hidden.map((author) => ({
    author,
    first: items.findIndex((item) => isByAuthor(item, [author])),
  }))
  return (item: Item, index: number): boolean => {
    if (!isUpstreamCompaction(item) || item.origin === undefined) return false
    const hiddenThen = readCompactionHiddenAuthors(item)
    return firstMessages.some(
      ({ author, first }) => first >= 0 && first < index && !hiddenThen.includes(author),
    )
  }
}

function isByAuthor(item: Item, authors: readonly string[]): boolean {
  const author = readClientGivenAuthor(item)
  return author !== null && authors.some((who) => matchesAuthor(author, who))
}

function createPlaceholder(): Message {
  const notice = createNoticePart('What a hidden author said here is not shown.')
  return { type: 'message', role: 'user', content: [notice] }
}

/**
 * Returns for each item whether it is hidden, or `null` if no item is. If one item of a group is hidden, the complete
 * group is: calls with their outputs and the reasoning before them. Text before calls is no part of their group,
 * because the text may have been sent unhidden before the calls followed.
 */
function findHiddenItems(
  items: readonly Item[],
  hidden: readonly string[],
): readonly boolean[] | null {
  const isHidden = items.map((item) => isByAuthor(item, hidden))
  if (!isHidden.includes(true)) return null
  const groupStarts = findInsertionPoints(items)
  let start = 0
  for (let end = 1; end <= items.length; end += 1) {
    const isGroupEnd = groupStarts[end] === true || isUngrouped(items[end - 1])
    if (end < items.length && !isGroupEnd) continue
    if (isHidden.slice(start, end).includes(true)) isHidden.fill(true, start, end)
    start = end
  }
  return isHidden
}

function isUngrouped(item: Item | undefined): boolean {
  return item !== undefined && item.type !== 'reasoning' && readToolCallIdentity(item) === null
}
