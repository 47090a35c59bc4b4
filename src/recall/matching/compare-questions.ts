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
export function isSameQuestion(input: readonly Item[], userMessages: readonly Item[]): boolean {
  const first = listNewUserMessages(input)[0]
  // What went on with results of tools, or with nothing new, was asked by what went before it.
  return first === undefined || userMessages.some((message) => isSameMessage(first, message))
}

/** Whether what was asked last was asked of the turn, too. */
export function includesLastQuestion(input: readonly Item[], lastUserMessage: Item): boolean {
  const turnMessages = listNewUserMessages(input)
  return (
    turnMessages.length === 0 ||
    turnMessages.some((message) => isSameMessage(message, lastUserMessage))
  )
}

/** Whether it was asked that as well, behind what was asked last, so that it had not been asked all of it yet. */
export function includesNextQuestion(
  input: readonly Item[],
  {
    userMessages,
    lastUserMessage,
    nextUserMessage,
  }: Pick<Segment, 'userMessages' | 'lastUserMessage' | 'nextUserMessage'>,
): boolean {
  const turnMessages = listNewUserMessages(input)
  // Nearly always it is one question.
  if (turnMessages.length < 2 || lastUserMessage === null || nextUserMessage === null) return false
  // Who asks the same again and again has asked it as often as it was.
  if (userMessages.indexOf(lastUserMessage) + 1 >= turnMessages.length) return false
  const index = turnMessages.findIndex((message) => isSameMessage(message, lastUserMessage))
  return (
    index >= 0 &&
    turnMessages.slice(index + 1).some((message) => isSameMessage(message, nextUserMessage))
  )
}

function isSameMessage(recorded: Item, sent: Item): boolean {
  if (sent.type !== 'message' || recorded.type !== 'message') return false
  if (!hasIdenticalText(recorded.content, sent.content)) {
    const [text, otherText] = [normalizeParts(recorded.content), normalizeParts(sent.content)]
    if (!text.includes(otherText) && !otherText.includes(text)) return false
  }
  return fingerprintAllMedia(recorded) === fingerprintAllMedia(sent)
}

/** As nearly every question comes back: that is told without taking its words apart. */
function hasIdenticalText(recorded: readonly Part[], sent: readonly Part[]): boolean {
  return (
    recorded.length === sent.length &&
    recorded.every((part, index) => textOfPart(part) === textOfPart(sent[index] ?? part))
  )
}

function listNewUserMessages(input: readonly Item[]): readonly Item[] {
  const start =
    input.findLastIndex((item) => isModelItem(item) && !isEmptyAssistantMessage(item)) + 1
  return input.slice(start).filter(isUserMessage)
}

function fingerprintAllMedia(item: Item): string {
  if (item.type !== 'message') return ''
  return item.content
    .map(fingerprintMedia)
    .filter((fingerprint) => fingerprint !== '')
    .join('\n')
}
