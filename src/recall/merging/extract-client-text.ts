/**
 * Extracts the text of an answer segment (consecutive model-made items in the client's list),
 * without markers. The text is split at the markers of stored turns without text, so that each of
 * these turns can be restored between the texts before and after its marker.
 */
import { removeDetailsBlocks } from '../../core/text/remove-details-blocks.ts'
import type { Item, Message, Part } from '../../core/item.ts'
import { extractMarkers } from '../../core/markers/format-and-extract-markers.ts'
import { isEmptyAssistantMessage } from '../split-and-fingerprint-segments.ts'

export interface ClientSegmentText {
  readonly messages: readonly Message[]
  /** One entry per message: the client's item that contains it. */
  readonly sources: readonly Item[]
  /**
   * One entry per message: the last turn without text whose marker comes before the message, as an
   * index among the answer segment's turns; -1 if there is none.
   */
  readonly textlessTurnBefore: readonly number[]
}

/**
 * Returns the client's messages, split at the markers of turns without text. `textlessTurns` maps
 * the ids of these turns to their indexes among the answer segment's turns.
 */
export function extractClientText(
  clientItems: readonly Item[],
  textlessTurns: ReadonlyMap<string, number>,
): ClientSegmentText {
  const messages: Message[] = []
  const sources: Item[] = []
  const textlessTurnBefore: number[] = []
  let latestTurn = -1
  for (const item of clientItems) {
    if (item.type !== 'message') continue
    for (const { content, turnIndex } of splitMessage(item, textlessTurns)) {
      latestTurn = Math.max(latestTurn, turnIndex)
      const message = content === item.content ? item : { ...item, content }
      const cleanedMessage = removeMessageMarkers(message, removeDetailsBlocks)
      if (isEmptyAssistantMessage(cleanedMessage)) continue
      messages.push(cleanedMessage)
      sources.push(item)
      textlessTurnBefore.push(latestTurn)
    }
  }
  return { messages, sources, textlessTurnBefore }
}

interface MessagePiece {
  readonly content: readonly Part[]
  /**
   * Index (among the answer segment's turns) of the turn without text whose marker comes directly
   * before this content; -1 if there is none.
   */
  readonly turnIndex: number
}

function splitMessage(
  { content }: Message,
  textlessTurns: ReadonlyMap<string, number>,
): readonly MessagePiece[] {
  const parts = content.flatMap((part) => splitPart(part, textlessTurns))
  if (parts.length === content.length) return [{ content, turnIndex: -1 }]
  const pieces: { content: Part[]; turnIndex: number }[] = []
  for (const { part, turnIndex } of parts) {
    const piece = pieces.at(-1)
    if (piece === undefined || turnIndex >= 0) pieces.push({ content: [part], turnIndex })
    else piece.content.push(part)
  }
  return pieces
}

function splitPart(
  part: Part,
  textlessTurns: ReadonlyMap<string, number>,
): readonly { readonly part: Part; readonly turnIndex: number }[] {
  if (textlessTurns.size === 0 || part.type !== 'output_text') return [{ part, turnIndex: -1 }]
  const { text, markers: allMarkers } = extractMarkers(part.text)
  const markers = allMarkers.filter(({ turnId }) => textlessTurns.has(turnId))
  if (markers.length === 0) return [{ part, turnIndex: -1 }]
  return [...markers.map(({ offset }) => offset), text.length].map((end, index) => {
    const marker = markers[index - 1]
    const piece = text.slice(marker?.offset ?? 0, end)
    const turnIndex = textlessTurns.get(marker?.turnId ?? '') ?? -1
    const trimmed = index === markers.length ? piece : piece.trimEnd()
    return { part: { type: 'output_text', text: trimmed }, turnIndex }
  })
}

/**
 * Returns the message without the markers (hidden texts that name stored turns) in its text.
 * `editText` may change each text further. Returns the same object if nothing changes.
 */
export function removeMessageMarkers(
  message: Message,
  editText: (text: string) => string = (text) => text,
): Message {
  const content = message.content.map((part) => removePartMarkers(part, editText))
  return content.every((part, index) => part === message.content[index])
    ? message
    : { ...message, content }
}

function removePartMarkers(part: Part, editText: (text: string) => string): Part {
  if (part.type !== 'output_text') return part
  const text = editText(extractMarkers(part.text).text)
  return text === part.text ? part : { ...part, text }
}
