/**
 * Extracts a client's text of a segment, without markers. The text is cut at the markers of silent
 * turns (turns without text): text before such a marker was written before that turn, text after it
 * later.
 */
import type { Item, Message, Part } from '../../core/item.ts'
import { extractMarkers } from '../../core/markers/extract-turn-markers.ts'
import { isEmptyAssistantMessage } from '../split-and-fingerprint-segments.ts'
import { removeDetailsBlocks } from '../../context/cleaning/remove-details-from-text.ts'
import { removeMessageMarkers } from '../markers/remove-message-markers.ts'

export interface ClientSegmentText {
  readonly messages: readonly Message[]
  /** Per message: index of the last turn without text ('silent turn') whose marker precedes it; -1 if none. */
  readonly silentTurnBefore: readonly number[]
}

/**
 * Returns the client's messages, cut at the markers of silent turns. `silentTurns` maps the ids of
 * these turns to their indexes in the segment.
 */
export function extractClientText(
  clientItems: readonly Item[],
  silentTurns: ReadonlyMap<string, number>,
): ClientSegmentText {
  const messages: Message[] = []
  const silentTurnBefore: number[] = []
  let latestTurn = -1
  for (const item of clientItems) {
    if (item.type !== 'message') continue
    for (const { content, turnIndex } of cutMessage(item, silentTurns)) {
      latestTurn = Math.max(latestTurn, turnIndex ?? -1)
      const message = content === item.content ? item : { ...item, content }
      const cleanedMessage = removeMessageMarkers(message, removeDetailsBlocks)
      if (isEmptyAssistantMessage(cleanedMessage)) continue
      messages.push(cleanedMessage)
      silentTurnBefore.push(latestTurn)
    }
  }
  return { messages, silentTurnBefore }
}

interface MessageCut {
  readonly content: readonly Part[]
  /** Index of the turn whose marker starts this cut. */
  readonly turnIndex: number | null
}

function cutMessage(
  { content }: Message,
  silentTurns: ReadonlyMap<string, number>,
): readonly MessageCut[] {
  const partCuts = silentTurns.size === 0 ? [] : content.map((part) => cutPart(part, silentTurns))
  if (partCuts.every(({ length }) => length === 1)) return [{ content, turnIndex: null }]
  const cuts: { content: Part[]; turnIndex: number | null }[] = []
  for (const { part, turnIndex } of partCuts.flat()) {
    const currentCut = cuts.at(-1)
    if (currentCut === undefined || turnIndex !== null) cuts.push({ content: [part], turnIndex })
    else currentCut.content.push(part)
  }
  return cuts
}

interface PartCut {
  readonly part: Part
  readonly turnIndex: number | null
}

function cutPart(part: Part, silentTurns: ReadonlyMap<string, number>): readonly PartCut[] {
  if (part.type !== 'output_text') return [{ part, turnIndex: null }]
  const { text, markers } = extractMarkers(part.text)
  const silentMarkers = markers.filter(({ turnId }) => silentTurns.has(turnId))
  if (silentMarkers.length === 0) return [{ part, turnIndex: null }]
  const ends = [...silentMarkers.map(({ offset }) => offset), text.length]
  return ends.map((end, cutIndex) => {
    const markerBefore = silentMarkers[cutIndex - 1]
    const cleanedMessage = text.slice(markerBefore?.offset ?? 0, end)
    const trimmedText =
      cutIndex === silentMarkers.length ? cleanedMessage : cleanedMessage.trimEnd()
    const turnIndex =
      markerBefore === undefined ? null : (silentTurns.get(markerBefore.turnId) ?? null)
    return { part: { type: 'output_text', text: trimmedText }, turnIndex }
  })
}
