/**
 * Why a request is not the same as the one before it from some place on: which decision it was, of
 * whom. Where the two part is told by what was sent. Why is told by what was asked for and by what
 * became of each item, then and now, in the order in which a model reads: tools, instructions, and
 * what was said. What the gateway has decided goes before what its client may have done.
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

export function findDifferenceCause(sides: ComparedRequestPair): DifferenceCause {
  const { comparison, before, now } = sides
  const { path, isNew, isGrown, isOfLast } = comparison
  if (path === null) return { who: 'nobody', sentence: 'Nothing is different.' }
  if (path[0] === 'tools') return findToolCause(sides) ?? UNEXPLAINED
  const isInFront = INSTRUCTION_FIELDS.some((field) => field === path[0])
  // All that was sent before is sent again: whatever else is decided now is of no account.
  if (isNew && !isInFront) return NEW
  if (differsInClientField('instructions', sides)) return OTHER_INSTRUCTIONS
  const [former, own] = [before.fates.filter(isSent), now.fates.filter(isSent)]
  const inItems = findItemCause(former, own, sides)
  if (inItems !== null) return inItems
  const inFields = findFieldCause(sides)
  if (inFields !== null) return inFields
  if (before.about.upstream['unchanged'] !== now.about.upstream['unchanged']) return WRITTEN_ANEW
  if (isInFront) return UNEXPLAINED
  if (isGrown) return NEW
  // A wire may join what is new to what was the last of it.
  const isJoined = isOfLast && own.length > former.length
  return causeInText(comparison, own.slice(0, former.length)) ?? (isJoined ? NEW : UNEXPLAINED)
}

const NEW: DifferenceCause = {
  who: 'nobody',
  sentence: 'From here on it is new: the conversation goes on.',
}

const UNEXPLAINED: DifferenceCause = {
  who: 'nobody',
  sentence: 'Nothing that is known of the two requests says why.',
}

const OTHER_INSTRUCTIONS: DifferenceCause = {
  who: 'client',
  sentence: 'The request has other instructions than the one before it.',
}

/** A client may say the same in other words than a wire does. */
const WRITTEN_ANEW: DifferenceCause = {
  who: 'gateway',
  why: 'written-anew',
  sentence:
    "Of the two requests one was passed on in the client's own bytes, and one was written by the gateway.",
}

function isSent({ fate }: ItemDisposition): boolean {
  return fate !== 'dropped'
}

/** An edit that is as long as what it replaces is seen only in what was sent. */
function causeInText(
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
