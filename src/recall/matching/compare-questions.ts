/**
 * Compares user messages in a client's list with those in the input of a stored turn. Two messages
 * are the same if one text contains the other and both have the same media. Containing is enough
 * because clients put retrieved documents before a question for one request only.
 */
import { cachePerObject } from '../../core/caching/cache-per-object.ts'
import { textOfPart, type Item, type Message, type Part } from '../../core/item.ts'
import { sampleMedia } from '../../core/media/sample-media.ts'
import { isUserMessage } from '../../core/items/rounds-and-pinned-items.ts'
import { normalizeTextOfParts } from '../text/normalize-text.ts'
import { isItemOfAnswer } from '../../core/items/is-item-of-answer.ts'
import { isEmptyAssistantMessage, type Segment } from '../split-and-fingerprint-segments.ts'

/**
 * True if a turn with the input `turnInput` may answer one of `userMessages`: the first user
 * message that was new in the turn is among them. Also true if no user message was new.
 */
export function mayAnswerOneOf(turnInput: readonly Item[], userMessages: readonly Item[]): boolean {
  const first = listNewUserMessages(turnInput)[0]
  // Without a new user message, e.g. after tool outputs, the turn answers an earlier question,
  // which cannot be checked here.
  return first === undefined || userMessages.some((message) => isSameMessage(first, message))
}

/**
 * True if a turn with the input `turnInput` may answer `lastUserMessage`, the last user message
 * before an answer segment: this message is among the user messages that were new in the turn. Also
 * true if no user message was new.
 */
export function mayAnswerLastQuestion(turnInput: readonly Item[], lastUserMessage: Item): boolean {
  const turnMessages = listNewUserMessages(turnInput)
  return (
    turnMessages.length === 0 ||
    turnMessages.some((message) => isSameMessage(message, lastUserMessage))
  )
}

/**
 * True if the turn belongs after the next question and not to this answer segment, because its
 * input contains both the user message before the segment and the one after it.
 */
export function answersNextQuestion(
  turnInput: readonly Item[],
  { userMessages, lastUserMessage, nextUserMessage }: Segment,
): boolean {
  const turnMessages = listNewUserMessages(turnInput)
  // Most inputs have only one new user message, so they cannot contain both.
  if (turnMessages.length < 2 || lastUserMessage === null || nextUserMessage === null) return false
  // The user may send the same message several times. If as many user messages come before the
  // segment as are in the turn's input, none of those in the input needs to come after it.
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
    const text = normalizeMessage(recorded)
    const otherText = normalizeMessage(sent)
    if (!text.includes(otherText) && !otherText.includes(text)) return false
  }
  return fingerprintAllMedia(recorded) === fingerprintAllMedia(sent)
}

/** A message is compared with many others if it is searched in the complete list. */
const normalizeMessage = cachePerObject(({ content }: Message) => normalizeTextOfParts(content))

/**
 * True if the texts of both messages are equal part by part, whitespace included. This is checked
 * first, because normalized texts are slow to compute and rarely needed.
 */
function hasIdenticalText(recorded: readonly Part[], sent: readonly Part[]): boolean {
  return (
    recorded.length === sent.length &&
    recorded.every((part, index) => textOfPart(part) === textOfPart(sent[index] ?? part))
  )
}

function listNewUserMessages(input: readonly Item[]): readonly Item[] {
  const start =
    input.findLastIndex((item) => isItemOfAnswer(item) && !isEmptyAssistantMessage(item)) + 1
  return input.slice(start).filter(isUserMessage)
}

function fingerprintAllMedia(item: Item): string {
  if (item.type !== 'message') return ''
  const fingerprints = item.content.map(sampleMedia)
  return fingerprints.filter((fingerprint) => fingerprint !== '').join('\n')
}
