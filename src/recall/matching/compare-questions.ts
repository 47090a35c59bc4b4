/**
 * Compares the user messages before a segment with those in the input of a recorded turn. One text
 * must contain the other, because clients put retrieved documents before a question for one request
 * only, and both messages must have the same media. A fingerprint covers only the last line.
 */
import { textOfPart, type Item, type Part } from '../../core/item.ts'
import { fingerprintMedia } from '../../core/media/media-fingerprint.ts'
import { isUserMessage } from '../../core/items/rounds-and-pinned-items.ts'
import { normalizeParts } from '../text/normalize-text.ts'
import { isModelItem } from '../../core/items/is-model-item.ts'
import { isEmptyAssistantMessage, type Segment } from '../split-and-fingerprint-segments.ts'

/**
 * True if the turn's first new user message is among the user messages since the last segment with
 * text. `input` holds the items that were new before the turn.
 */
export function isSameQuestion(input: readonly Item[], userMessages: readonly Item[]): boolean {
  const first = listNewUserMessages(input)[0]
  // A turn without a user message continues an earlier one, e.g. with tool outputs, and has its
  // question.
  return first === undefined || userMessages.some((message) => isSameMessage(first, message))
}

/** True if the last user message before a segment is among the turn's new user messages. */
export function includesLastQuestion(input: readonly Item[], lastUserMessage: Item): boolean {
  const turnMessages = listNewUserMessages(input)
  return (
    turnMessages.length === 0 ||
    turnMessages.some((message) => isSameMessage(message, lastUserMessage))
  )
}

/**
 * True if the turn's input also contains the user message after the segment: the turn answers both
 * messages and belongs after the second one.
 */
export function includesNextQuestion(
  input: readonly Item[],
  {
    userMessages,
    lastUserMessage,
    nextUserMessage,
  }: Pick<Segment, 'userMessages' | 'lastUserMessage' | 'nextUserMessage'>,
): boolean {
  const turnMessages = listNewUserMessages(input)
  // Shortcut: most turns have one user message.
  if (turnMessages.length < 2 || lastUserMessage === null || nextUserMessage === null) return false
  // If the user sends the same message several times, the count decides.
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

/** True if all texts are equal as they are; checked first, because normalizing is slow and rarely needed. */
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
