/**
 * The words that a client has of a run, without markers. They are cut where a marker names a turn that
 * says nothing itself: what is in front of it was said before that turn, what is behind it afterwards.
 */
import type { Item, Message, Part } from '../../core/item.ts'
import { extractMarkers } from '../../core/markers/extract-turn-markers.ts'
import { isEmptyAssistantMessage } from '../split-and-fingerprint-segments.ts'
import { removeDetailsBlocks } from '../../context/cleaning/remove-details-from-text.ts'
import { removeMessageMarkers } from '../markers/split-message-and-markers.ts'

export interface ClientSegmentText {
  readonly messages: readonly Message[]
  /** For each the place of the latest silent turn whose marker is in front of it, -1 if there is none. */
  readonly behind: readonly number[]
}

/** `silent` has the places of the turns that say nothing, by their ids. */
export function extractClientText(
  given: readonly Item[],
  silent: ReadonlyMap<string, number>,
): ClientSegmentText {
  const messages: Message[] = []
  const behind: number[] = []
  let latest = -1
  for (const item of given) {
    if (item.type !== 'message') continue
    for (const { content, from } of cutsOf(item, silent)) {
      latest = Math.max(latest, from ?? -1)
      const message = content === item.content ? item : { ...item, content }
      const words = removeMessageMarkers(message, removeDetailsBlocks)
      if (isEmptyAssistantMessage(words)) continue
      messages.push(words)
      behind.push(latest)
    }
  }
  return { messages, behind }
}

interface Cut {
  readonly content: readonly Part[]
  /** The place of the turn at whose marker it begins. */
  readonly from: number | null
}

function cutsOf({ content }: Message, silent: ReadonlyMap<string, number>): readonly Cut[] {
  const pieces = silent.size === 0 ? [] : content.map((part) => piecesOf(part, silent))
  if (pieces.every(({ length }) => length === 1)) return [{ content, from: null }]
  const cuts: { content: Part[]; from: number | null }[] = []
  for (const { part, from } of pieces.flat()) {
    const last = cuts.at(-1)
    if (last === undefined || from !== null) cuts.push({ content: [part], from })
    else last.content.push(part)
  }
  return cuts
}

interface Piece {
  readonly part: Part
  readonly from: number | null
}

function piecesOf(part: Part, silent: ReadonlyMap<string, number>): readonly Piece[] {
  if (part.type !== 'output_text') return [{ part, from: null }]
  const { text, marks } = extractMarkers(part.text)
  const named = marks.filter(({ turnId }) => silent.has(turnId))
  if (named.length === 0) return [{ part, from: null }]
  const ends = [...named.map(({ at }) => at), text.length]
  return ends.map((end, number) => {
    const before = named[number - 1]
    const words = text.slice(before?.at ?? 0, end)
    const own = number === named.length ? words : words.trimEnd()
    const from = before === undefined ? null : (silent.get(before.turnId) ?? null)
    return { part: { type: 'output_text', text: own }, from }
  })
}
