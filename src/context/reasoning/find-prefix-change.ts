/**
 * Finds out whether the conversation before a model's latest answer has changed since that answer was generated, and
 * how many reasoning items can no longer be sent because of it. The gateway tells the user once for each change.
 *
 * Only stored data decides: each answer of a conversation with encrypted reasoning is stored with the hash of the
 * prompt before it (`prefixHash`). If the prompt before the latest answer is still the same, then that answer was
 * already written without the reasoning that is left out now.
 */
import type { Item, Origin } from '../../core/item.ts'
import type { Note } from '../../core/note.ts'
import type { PromptParameters } from '../../core/prompt.ts'
import { isEncryptedOrSigned } from '../../core/reasoning/is-encrypted-or-signed.ts'
import type { OriginalPositions } from '../transform-interface.ts'
import { hashPromptPrefix } from './hash-prompt-prefix.ts'

export interface TransformedConversation {
  /** The complete conversation before all transforms. */
  readonly items: readonly Item[]
  readonly sentItems: readonly Item[]
  /** For each sent item, its index in `items`; null for an added item. */
  readonly originalPositions: OriginalPositions
  /** The notes of the transforms. */
  readonly notes: readonly Note[]
  readonly params: PromptParameters
}

/** The requested model, in the form in which the origins of items name models. */
export type ReasoningReader = Pick<Origin, 'wire' | 'account' | 'model'>

export interface PrefixChange {
  /**
   * Number of the model's reasoning items that the request leaves out because the conversation before them has changed.
   * It is 0 if reasoning is only valid again, e.g. because the user has switched a tool off again.
   */
  readonly lostCount: number
  /** The origin of the latest answer that was written before the change. */
  readonly latestOrigin: Origin
}

/** Returns null if nothing has changed, or if the conversation has no reasoning of this model. */
export function findPrefixChange(
  conversation: TransformedConversation,
  reader: ReasoningReader,
): PrefixChange | null {
  const { items, notes } = conversation
  if (!hasReasoningOf(items, reader)) return null
  const latestOrigin = items.findLast(
    (item) => isWrittenBy(item, reader) && item.origin?.prefixHash !== null,
  )?.origin
  if (latestOrigin === undefined) return null
  const lost = notes.flatMap(({ why, at = -1 }) => {
    const item = why === 'reasoning-of-another-prefix' ? items[at] : undefined
    return item !== undefined && isWrittenBy(item, reader) ? [item] : []
  })
  const hasChanged =
    lost.some(({ origin }) => origin === latestOrigin) ||
    // Reasoning of the answer that is sent shows that nothing has changed, without another hash.
    (!hasReasoningOfOrigin(conversation.sentItems, latestOrigin) &&
      hashPromptBefore(latestOrigin, conversation, reader.wire) !== latestOrigin.prefixHash)
  return hasChanged ? { lostCount: lost.length, latestOrigin } : null
}

/** True if the conversation has encrypted reasoning of this model. */
export function hasReasoningOf(items: readonly Item[], reader: ReasoningReader): boolean {
  return items.some((item) => isEncryptedReasoning(item) && isWrittenBy(item, reader))
}

function hasReasoningOfOrigin(items: readonly Item[], answer: Origin): boolean {
  return items.some((item) => isEncryptedReasoning(item) && item.origin === answer)
}

function isEncryptedReasoning(item: Item): boolean {
  return item.type === 'reasoning' && isEncryptedOrSigned(item)
}

function isWrittenBy({ origin }: Item, { wire, account, model }: ReasoningReader): boolean {
  return origin?.wire === wire && origin.account === account && origin.model === model
}

function hashPromptBefore(
  answer: Origin,
  { items, sentItems, originalPositions, params }: TransformedConversation,
  wire: string,
): string {
  const start = items.findIndex(({ origin }) => origin === answer)
  const next = originalPositions.findIndex((position) => position !== null && position >= start)
  const prefix = sentItems.slice(0, next < 0 ? sentItems.length : next)
  return hashPromptPrefix({ items: prefix, params }, wire)
}
