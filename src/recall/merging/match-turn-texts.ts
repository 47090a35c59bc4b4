/**
 * Compares the text of an answer segment (consecutive model-made items in the client's list) with
 * the recorded messages of its turns, from the start to the first difference:
 *
 * - A turn whose text the client has is unedited, and its recorded items are sent.
 * - If the client has only the beginning of the next text, the answer was stopped, and this
 *   beginning is sent instead of the recorded message.
 * - Otherwise, the user edited the text. This turn and all later ones, up to a turn that continues
 *   the answer, are sent without their messages and reasoning, and the client's text comes after
 *   them.
 *
 * Text that was not recorded is kept, too: before a turn that continues an answer, and at the end.
 */
import type { Message } from '../../core/item.ts'
import type { RecordedTurn } from '../../core/items/recorded-turn.ts'
import { onlyContinuesAnswer } from '../matching/classify-turn-input.ts'
import { normalizeText, normalizeTurnText } from '../text/normalize-text.ts'
import { findMessages, hasBeginning, type MessageMatch } from '../text/find-recorded-messages.ts'
import { findLowerBound } from '../map-and-list-helpers.ts'
import {
  joinClientText,
  sliceClientText,
  type ClientSlice,
  type ClientText,
} from './join-client-text.ts'

export interface TextMatch {
  /**
   * One entry per recorded message: the message itself if the client has it, the client's text that
   * replaces it, or `null` if it is not sent.
   */
  readonly replacements: readonly (Message | null)[]
  /** Indexes of the messages that the client has with other blank lines or without think blocks. */
  readonly reformattedMessages: ReadonlySet<number>
  /** Indexes of the turns whose text the user edited. */
  readonly editedTurns: ReadonlySet<number>
  /** The client's text that no recorded message has, in the client's order. */
  readonly unmatchedText: readonly UnmatchedText[]
}

export interface UnmatchedText extends ClientSlice {
  /** Index of the turn before which the text comes; the number of turns if it comes after all. */
  readonly beforeTurn: number
  /** Number of recorded messages that come before the text. */
  readonly messagesBefore: number
}

export function matchTurnTexts(
  turns: readonly RecordedTurn[],
  clientMessages: readonly Message[],
): TextMatch {
  const client = joinClientText(clientMessages)
  const textEnd = client.text.length
  const replacements: (Message | null)[] = []
  const reformattedMessages = new Set<number>()
  const editedTurns = new Set<number>()
  const unmatchedText: UnmatchedText[] = []
  const addText = (slices: readonly ClientSlice[], beforeTurn: number): void => {
    for (const { message, clientIndex } of slices)
      unmatchedText.push({
        message: copyPhase(editedMessage, message),
        clientIndex,
        beforeTurn,
        messagesBefore: replacements.length,
      })
  }
  const uncertainTurns = listTurnsWithLostText(turns, client.text)
  const canFollowOtherText = (turn: RecordedTurn): boolean =>
    onlyContinuesAnswer(turn) && !uncertainTurns.has(turn)
  let lastMatch: MessageMatch = { start: 0, end: 0, difference: null }
  /** The last recorded message of the edited turns whose text was not added yet. */
  let editedMessage: Message | null = null
  for (const [turnIndex, turn] of turns.entries()) {
    const recorded = turn.output.filter(isMessage)
    const canSkipText = canFollowOtherText(turn)
    const matches = findMessages(client.text, lastMatch.end, recorded, canSkipText)
    const matchEnd = matches.at(-1)?.end ?? lastMatch.end
    const next = recorded[matches.length] ?? null
    const restEnd =
      next === null || editedMessage !== null
        ? matchEnd
        : findContinuation(client.text, matchEnd, turns.slice(turnIndex + 1), canFollowOtherText)
    const isUnedited =
      editedMessage === null
        ? next === null || hasBeginning(next, client.text.slice(matchEnd, restEnd))
        : next === null && canSkipText && matches.length > 0
    if (!isUnedited) {
      editedTurns.add(turnIndex)
      editedMessage = recorded.at(-1) ?? editedMessage
      replacements.push(...recorded.map(() => null))
      continue
    }
    addText(sliceClientText(client, lastMatch.end, matches[0]?.start ?? lastMatch.end), turnIndex)
    editedMessage = null
    for (const [index, { start, end, difference }] of matches.entries()) {
      if (difference === 'form') reformattedMessages.add(replacements.length)
      const message = recorded[index] ?? null
      const [slice] = difference === 'whitespace' ? sliceClientText(client, start, end) : []
      replacements.push(slice === undefined ? message : copyPhase(message, slice.message))
    }
    lastMatch = matches.at(-1) ?? lastMatch
    if (next === null) continue
    const [beginning] = sliceClientText(client, matchEnd, restEnd)
    replacements.push(beginning === undefined ? null : copyPhase(next, beginning.message))
    replacements.push(...recorded.slice(matches.length + 1).map(() => null))
    lastMatch = { ...lastMatch, end: restEnd }
  }
  const recordedMessages = turns.flatMap(({ output }) => output.filter(isMessage))
  const last = replacements.findLastIndex((message) => message !== null)
  const lastMessage = replacements[last] ?? null
  if (
    editedMessage === null &&
    lastMessage !== null &&
    continuesMessage(client, lastMatch, recordedMessages[last], turns)
  ) {
    const [longer, ...others] = sliceClientText(client, lastMatch.start, textEnd)
    if (longer !== undefined) replacements[last] = copyPhase(lastMessage, longer.message)
    addText(others, turns.length)
  } else addText(sliceClientText(client, lastMatch.end, textEnd), turns.length)
  return { replacements, reformattedMessages, editedTurns, unmatchedText }
}

/**
 * Lists the turns with equal texts that the client does not have as often as they were recorded.
 * Then it is not certain which of these turns a text of the client belongs to.
 */
function listTurnsWithLostText(
  turns: readonly RecordedTurn[],
  clientText: string,
): ReadonlySet<RecordedTurn> {
  const groups = [...Map.groupBy(turns, (turn) => normalizeTurnText([turn]))]
  const repeated = groups.filter(([text, { length }]) => text !== '' && length > 1)
  const normalizedText = repeated.length === 0 ? '' : normalizeText(clientText)
  return new Set(
    repeated.flatMap(([text, equalTurns]) =>
      normalizedText.split(text).length - 1 < equalTurns.length ? equalTurns : [],
    ),
  )
}

/** Returns where the next turn that continues the answer begins in the client's text, else its end. */
function findContinuation(
  text: string,
  position: number,
  turns: readonly RecordedTurn[],
  canFollowOtherText: (turn: RecordedTurn) => boolean,
): number {
  const turn = turns.find(({ output }) => output.some(isMessage))
  if (turn === undefined || !canFollowOtherText(turn)) return text.length
  const recorded = turn.output.filter(isMessage)
  const matches = findMessages(text, position, recorded, true)
  return matches.length === recorded.length ? (matches[0]?.start ?? text.length) : text.length
}

/**
 * True if the client's text goes on in the line of the last recorded message, or in the same
 * message, if nothing was recorded after it.
 */
function continuesMessage(
  { text, messageEnds }: ClientText,
  { end }: MessageMatch,
  message: Message | undefined,
  turns: readonly RecordedTurn[],
): boolean {
  if (text.slice(end).trim() === '') return false
  if (!/^[^\S\n]*\n/.test(text.slice(end))) return true
  const lastItem = turns.flatMap(({ output }) => output).at(-1)
  const messageEnd = messageEnds[findLowerBound(messageEnds, end)]
  return lastItem === message && text.slice(end, messageEnd).trim() !== ''
}

function isMessage(item: { readonly type: string }): item is Message {
  return item.type === 'message'
}

function copyPhase(recorded: Message | null, message: Message): Message {
  if (recorded?.phase === undefined || message.phase !== undefined) return message
  return { ...message, phase: recorded.phase }
}
