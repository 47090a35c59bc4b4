/**
 * Why a request is not the same as the one before it from some place on: which decision it was, of
 * whom. Where the two part is told by what was sent. Why is told by what was asked for and by what
 * became of each item, then and now, in the order in which a model reads: tools, instructions, and
 * what was said. What the gateway has decided goes before what its client may have done.
 */
import type { Cause } from './difference-cause.ts'
import { causeInFields, causeInTools, isOther, type Sides } from './find-field-cause.ts'
import { causeInItems } from './find-item-cause.ts'
import type { Comparison } from './compare-requests.ts'
import type { Fate } from '../item-dispositions.ts'
import { lineOf } from '../item-preview.ts'
import { INSTRUCTION_FIELDS } from './prompt-field-order.ts'

export interface Compared extends Sides {
  readonly comparison: Comparison
}

export function causeOf(sides: Compared): Cause {
  const { comparison, before, now } = sides
  const { path, isNew, isGrown, isOfLast } = comparison
  if (path === null) return { who: 'nobody', sentence: 'Nothing is different.' }
  if (path[0] === 'tools') return causeInTools(sides) ?? UNEXPLAINED
  const isInFront = INSTRUCTION_FIELDS.some((field) => field === path[0])
  // All that was sent before is sent again: whatever else is decided now is of no account.
  if (isNew && !isInFront) return NEW
  if (isOther('instructions', sides)) return OTHER_INSTRUCTIONS
  const [former, own] = [before.fates.filter(isSent), now.fates.filter(isSent)]
  const inItems = causeInItems(former, own, sides)
  if (inItems !== null) return inItems
  const inFields = causeInFields(sides)
  if (inFields !== null) return inFields
  if (before.about.upstream['unchanged'] !== now.about.upstream['unchanged']) return WRITTEN_ANEW
  if (isInFront) return UNEXPLAINED
  if (isGrown) return NEW
  // A wire may join what is new to what was the last of it.
  const isJoined = isOfLast && own.length > former.length
  return causeInText(comparison, own.slice(0, former.length)) ?? (isJoined ? NEW : UNEXPLAINED)
}

const NEW: Cause = { who: 'nobody', sentence: 'From here on it is new: the conversation goes on.' }

const UNEXPLAINED: Cause = {
  who: 'nobody',
  sentence: 'Nothing that is known of the two requests says why.',
}

const OTHER_INSTRUCTIONS: Cause = {
  who: 'client',
  sentence: 'The request has other instructions than the one before it.',
}

/** A client may say the same in other words than a wire does. */
const WRITTEN_ANEW: Cause = {
  who: 'gateway',
  why: 'written-anew',
  sentence:
    "Of the two requests one was passed on in the client's own bytes, and one was written by the gateway.",
}

function isSent({ fate }: Fate): boolean {
  return fate !== 'dropped'
}

/** An edit that is as long as what it replaces is seen only in what was sent. */
function causeInText({ text }: Comparison, sent: readonly Fate[]): Cause | null {
  if (text === null) return null
  const line = lineOf(text)
  const [found, ...others] = sent.filter(({ place, preview }) => place !== null && preview === line)
  if (found === undefined) return null
  return others.length === 0
    ? { who: 'client', place: found.place, sentence: `The client changed item ${found.place}.` }
    : { who: 'client', place: null, sentence: 'The client changed one of the items.' }
}
