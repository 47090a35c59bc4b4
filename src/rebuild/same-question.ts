/**
 * Whether a turn was asked what a client's chat asks at a run. A fingerprint knows but the last line of
 * a question, because what is retrieved for it is put in front of it, for one request only. Here all of
 * it counts: of the words of both, the ones must be among the others, and their pictures the same.
 */
import type { Item } from '../conversation/item.ts'
import { mediaName } from '../conversation/media-name.ts'
import { isUserMessage } from '../conversation/rounds.ts'
import { wordsIn } from './compact-words.ts'
import { isOfModel } from '../conversation/of-model.ts'
import { saysNothing } from './plan-recall.ts'

/** `input` is what was new before the turn; `asked` what the round of the run began with. */
export function isSameQuestion(input: readonly Item[], asked: Item | null): boolean {
  const own = firstAsked(input)
  // What went on with results of tools, or with nothing new, was asked by what went before it.
  if (own === null) return true
  if (asked?.type !== 'message' || own.type !== 'message') return false
  const [words, others] = [wordsIn(own.content), wordsIn(asked.content)]
  if (!words.includes(others) && !others.includes(words)) return false
  return mediaIn(own) === mediaIn(asked)
}

/** The first of what a user said last. */
function firstAsked(input: readonly Item[]): Item | null {
  const from = input.findLastIndex((item) => isOfModel(item) && !saysNothing(item)) + 1
  return input.slice(from).find(isUserMessage) ?? null
}

function mediaIn(item: Item): string {
  if (item.type !== 'message') return ''
  return item.content
    .map(mediaName)
    .filter((name) => name !== '')
    .join('\n')
}
