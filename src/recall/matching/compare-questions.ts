/**
 * Whether a turn was asked what a client's chat asks at a run. A fingerprint knows but the last line of
 * a question, because what is retrieved for it is put in front of it, for one request only. Here all of
 * it counts: of the words of both, the ones must be among the others, and their pictures the same.
 */
import { textOfPart, type Item, type Part } from '../../core/item.ts'
import { fingerprintMedia } from '../../core/media/media-fingerprint.ts'
import { isUserMessage } from '../../core/items/rounds-and-pinned-items.ts'
import { normalizeParts } from '../text/normalize-text.ts'
import { isModelItem } from '../../core/items/is-model-item.ts'
import { isEmptyAssistantMessage, type Segment } from '../split-and-fingerprint-segments.ts'

/**
 * `input` is what was new before the turn; `asked` what a user said in front of the run. An answer that
 * says nothing need not come back, and what was asked before it may stand with what was asked then.
 */
export function isSameQuestion(input: readonly Item[], asked: readonly Item[]): boolean {
  const own = firstAsked(input)
  // What went on with results of tools, or with nothing new, was asked by what went before it.
  return own === null || asked.some((one) => isSame(own, one))
}

/** Whether what was asked last was asked of the turn, too. */
export function includesLastQuestion(input: readonly Item[], lastAsked: Item): boolean {
  const own = askedLast(input)
  return own.length === 0 || own.some((one) => isSame(one, lastAsked))
}

/** Whether it was asked that as well, behind what was asked last, so that it had not been asked all of it yet. */
export function includesNextQuestion(
  input: readonly Item[],
  { asked, lastAsked, nextAsked }: Pick<Segment, 'asked' | 'lastAsked' | 'nextAsked'>,
): boolean {
  const own = askedLast(input)
  // Nearly always it is one question.
  if (own.length < 2 || lastAsked === null || nextAsked === null) return false
  // Who asks the same again and again has asked it as often as it was.
  if (asked.indexOf(lastAsked) + 1 >= own.length) return false
  const at = own.findIndex((one) => isSame(one, lastAsked))
  return at >= 0 && own.slice(at + 1).some((one) => isSame(one, nextAsked))
}

function isSame(own: Item, asked: Item): boolean {
  if (asked.type !== 'message' || own.type !== 'message') return false
  if (!isVerbatim(own.content, asked.content)) {
    const [words, others] = [normalizeParts(own.content), normalizeParts(asked.content)]
    if (!words.includes(others) && !others.includes(words)) return false
  }
  return mediaIn(own) === mediaIn(asked)
}

/** As nearly every question comes back: that is told without taking its words apart. */
function isVerbatim(own: readonly Part[], asked: readonly Part[]): boolean {
  return (
    own.length === asked.length &&
    own.every((part, at) => textOfPart(part) === textOfPart(asked[at] ?? part))
  )
}

/** The first of what a user said last. */
function firstAsked(input: readonly Item[]): Item | null {
  return askedLast(input)[0] ?? null
}

function askedLast(input: readonly Item[]): readonly Item[] {
  const from =
    input.findLastIndex((item) => isModelItem(item) && !isEmptyAssistantMessage(item)) + 1
  return input.slice(from).filter(isUserMessage)
}

function mediaIn(item: Item): string {
  if (item.type !== 'message') return ''
  return item.content
    .map(fingerprintMedia)
    .filter((name) => name !== '')
    .join('\n')
}
