/**
 * Finds the cause of the first difference between a request and the previous one: a decision of the
 * gateway, or a change by the client. Tools are checked first, then instructions, then items, in the order
 * in which a model reads them. If both the gateway and the client changed an item, the decision of the
 * gateway is named.
 */
import type { DifferenceCause } from './difference-cause.ts'
import {
  findCauseInFieldNotes,
  findToolCause,
  hasClientChangedField,
  type RequestPair,
} from './find-field-cause.ts'
import { findItemCause } from './find-item-cause.ts'
import { INSTRUCTION_FIELDS, type RequestComparison } from './compare-requests.ts'
import type { ItemDisposition } from '../item-dispositions.ts'
import { previewText } from '../item-preview.ts'

export interface ComparedRequestPair extends RequestPair {
  readonly comparison: RequestComparison
}

export function findDifferenceCause(pair: ComparedRequestPair): DifferenceCause {
  const { comparison, before, now } = pair
  const { differencePath, isContinuation, isLastValueExtended, isInLastEntry } = comparison
  if (differencePath === null) return { who: 'nobody', sentence: 'Nothing is different.' }
  if (differencePath[0] === 'tools') return findToolCause(pair) ?? UNEXPLAINED
  const isInInstructions = INSTRUCTION_FIELDS.some((field) => field === differencePath[0])
  // The conversation continues, which explains the difference.
  if (isContinuation && !isInInstructions) return CONTINUED
  if (hasClientChangedField('instructions', pair)) return OTHER_INSTRUCTIONS
  const [oldItems, newItems] = [before.dispositions.filter(isSent), now.dispositions.filter(isSent)]
  const cause = findItemCause(oldItems, newItems, pair) ?? findCauseInFieldNotes(pair)
  if (cause !== null) return cause
  if (before.summary.upstream['unchanged'] !== now.summary.upstream['unchanged']) return REENCODED
  if (isInInstructions) return UNEXPLAINED
  if (isLastValueExtended) return CONTINUED
  // The encoder of a wire may append a new item to the last message of the previous request.
  const isMerged = isInLastEntry && newItems.length > oldItems.length
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
 * Cause if the client's bytes were forwarded in only one of the two requests. The gateway may encode the
 * same content as other bytes.
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
 * Finds the item that the client edited: the one whose preview matches the text that differs. Needed for
 * edits that keep the size and the preview of an item, because its disposition does not show them.
 */
function findEditedItem(
  { newText }: RequestComparison,
  sent: readonly ItemDisposition[],
): DifferenceCause | null {
  if (newText === null) return null
  const line = previewText(newText)
  const [found, ...others] = sent.filter(({ place, preview }) => place !== null && preview === line)
  if (found === undefined) return null
  return others.length === 0
    ? { who: 'client', place: found.place, sentence: `The client changed item ${found.place}.` }
    : { who: 'client', place: null, sentence: 'The client changed one of the items.' }
}
