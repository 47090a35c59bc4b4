/**
 * Where an answer goes on with another. A client may ask to have an answer continued, and from then on
 * the two stand side by side, with nobody between them. A wire on which a model cannot go on with its
 * own words asks it to, in a line of the user's; what came then was said behind that line, and stays
 * so in every later request only if the line is put there again.
 *
 * An answer is told by its origin, which all its items share as one object. Words without one are the
 * client's own. They may also be words of an answer that were edited: these stand among what else
 * belongs to it, or in front of its calls, which is therefore no such place, unless something of
 * another answer stands before them.
 */
import { isModelItem } from './is-model-item.ts'
import { isCallOutput } from './tool-call-pairs.ts'
import { hasLastingEffect, isAssistantMessage } from './rounds-and-pinned-items.ts'
import { isToolCall, type Item, type Origin } from '../item.ts'

/** The places of the first items of answers that went on with what stands right before them. */
export function findConsecutiveAnswers(items: readonly Item[]): readonly number[] {
  const begun = new Set<Origin>()
  const places: number[] = []
  let before: Item | null = null
  // Whether something of another answer stands before it, and no result of a tool in between.
  let isBehindOther = false
  for (const [at, item] of items.entries()) {
    const { origin } = item
    if (origin !== undefined && !begun.has(origin)) {
      begun.add(origin)
      if (before !== null && isSaid(item) && (isBehindOther || wentOn(before, item)))
        places.push(at)
    }
    before = isSaid(item) ? item : null
    // One here is of a tool of the house: its call and what was said then are of one answer.
    isBehindOther =
      before !== null && !isCallOutput(item) && (isBehindOther || origin !== undefined)
  }
  return places
}

/** What others say, and what tools return, parts two answers, and so does what holds from there on. */
function isSaid(item: Item): boolean {
  return isModelItem(item) && !hasLastingEffect(item)
}

function wentOn(before: Item, item: Item): boolean {
  return before.origin !== undefined || (isAssistantMessage(before) && !isToolCall(item))
}
