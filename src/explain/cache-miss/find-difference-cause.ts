/**
 * Finds the decision that made a request differ from the previous one. The position of the first
 * difference comes from the two bodies; the cause comes from the client's fields and the dispositions
 * of the items, in the order in which a model reads them: tools, instructions, items. Decisions of the
 * gateway take precedence over changes by the client.
 */
import type { DifferenceCause } from './difference-cause.ts'
import {
  findFieldCause,
  findToolCause,
  differsInClientField,
  type RequestPair,
} from './find-field-cause.ts'
import { findItemCause } from './find-item-cause.ts'
import type { RequestComparison } from './compare-requests.ts'
import type { ItemDisposition } from '../item-dispositions.ts'
import { previewText } from '../item-preview.ts'
import { INSTRUCTION_FIELDS } from './prompt-field-order.ts'

export interface ComparedRequestPair extends RequestPair {
  readonly comparison: RequestComparison
}

export function findDifferenceCause(pair: ComparedRequestPair): DifferenceCause {
  const { comparison, before, now } = pair
  const { path, isNew, isGrown, isOfLast } = comparison
  if (path === null) return { who: 'nobody', sentence: 'Nothing is different.' }
  if (path[0] === 'tools') return findToolCause(pair) ?? UNEXPLAINED
  const isInInstructions = INSTRUCTION_FIELDS.some((field) => field === path[0])
  // The previous request is a prefix of this one, so no other decision matters.
  if (isNew && !isInInstructions) return CONTINUED
  if (differsInClientField('instructions', pair)) return OTHER_INSTRUCTIONS
  const [oldItems, newItems] = [before.fates.filter(isSent), now.fates.filter(isSent)]
  const cause = findItemCause(oldItems, newItems, pair) ?? findFieldCause(pair)
  if (cause !== null) return cause
  if (before.about.upstream['unchanged'] !== now.about.upstream['unchanged']) return REENCODED
  if (isInInstructions) return UNEXPLAINED
  if (isGrown) return CONTINUED
  // A wire may merge a new item into the last one of the previous request.
  const isMerged = isOfLast && newItems.length > oldItems.length
  return (
    findEditedItem(comparison, newItems.slice(0, oldItems.length)) ??
    (isMerged ? CONTINUED : UNEXPLAINED)
  )
}

const CONTINUED: DifferenceCause = {
  who: 'nobody',
  sentence: 'Everything from here on is new: the conversation continues.',
}

const UNEXPLAINED: DifferenceCause = {
  who: 'nobody',
  sentence: 'The stored data of the two requests does not show the cause.',
}

const OTHER_INSTRUCTIONS: DifferenceCause = {
  who: 'client',
  sentence: 'The instructions differ from those of the previous request.',
}

/**
 * Cause when only one of the two requests was forwarded byte for byte and the other was re-encoded,
 * which can differ in bytes though not in content.
 */
const REENCODED: DifferenceCause = {
  who: 'gateway',
  why: 'written-anew',
  sentence:
    "Only one of the two requests was forwarded with the client's own bytes; the gateway encoded the other.",
}

function isSent({ fate }: ItemDisposition): boolean {
  return fate !== 'dropped'
}

/**
 * Finds an item that the client edited, by its preview: if the edit did not change the item's size, only
 * the body shows it.
 */
function findEditedItem(
  { text }: RequestComparison,
  sent: readonly ItemDisposition[],
): DifferenceCause | null {
  if (text === null) return null
  const line = previewText(text)
  const [found, ...others] = sent.filter(({ place, preview }) => place !== null && preview === line)
  if (found === undefined) return null
  return others.length === 0
    ? { who: 'client', place: found.place, sentence: `The client changed item ${found.place}.` }
    : { who: 'client', place: null, sentence: 'The client changed one of the items.' }
}
