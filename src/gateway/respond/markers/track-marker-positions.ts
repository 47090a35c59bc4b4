/**
 * Finds positions in the texts of an answer at which a marker is invisible. A text that may be JSON has
 * none, because clients parse it. There is none before a text that starts with HTML, because some clients
 * expect a tag such as `<think>` at the start.
 */
import type { TextDelta } from '../../../core/stream-event.ts'
import { trackMarkdownInsertionPoints } from './track-markdown-insertion-points.ts'
import { JSON_PROBE_CHARS, looksLikeJson } from './looks-like-json.ts'

export const NO_MARKER_POSITION = -1
/** Position before the first delta of an item that has visible text. */
export const POSITION_BEFORE_TEXT = -2

export type MarkerPositions = ReturnType<typeof trackMarkerPositions>

export interface DeltaRange {
  readonly index: number
  readonly part: number
  readonly start: number
  readonly end: number
}

/**
 * Tracks the positions in an answer. `continuedText`: text of the client's last message that the answer
 * continues; empty if it starts a new message.
 */
export function trackMarkerPositions(continuedText: string) {
  const markdown = trackMarkdownInsertionPoints()
  markdown.findPosition(continuedText)
  let areExhausted =
    continuedText !== '' &&
    looksLikeJson(continuedText.trimStart().slice(0, JSON_PROBE_CHARS)) !== false
  let index = NO_MARKER_POSITION
  let part = NO_MARKER_POSITION
  let start = 0
  let end = 0
  /** True while the text of the item is only white space. */
  let isBlank = true
  let jsonProbe = ''
  let isJson: boolean | null = null

  /**
   * Starts the text of another message or part. No more positions are searched after an event for an
   * earlier part, because texts are tracked in order, or if a part starts where a marker would be visible.
   */
  const startText = (delta: TextDelta): void => {
    if (delta.index === index && delta.part === part) return
    if (delta.index > index) {
      if (index !== NO_MARKER_POSITION) markdown.startNextText()
      isBlank = true
      jsonProbe = ''
      isJson = null
    } else if (delta.index < index || delta.part < part || !markdown.canStartWith(LETTER))
      areExhausted = true
    index = delta.index
    part = delta.part
    end = 0
  }
  const probeJson = (text: string): void => {
    if (isJson !== null) return
    jsonProbe += text.slice(0, JSON_PROBE_CHARS - jsonProbe.length)
    isJson = looksLikeJson(jsonProbe)
    if (isJson === true) areExhausted = true
  }
  /** Reads a delta of an item whose text was only white space so far. */
  const readStart = (text: string): number => {
    const first = text.search(VISIBLE_CHAR)
    if (first === -1) {
      markdown.findPosition(text)
      return NO_MARKER_POSITION
    }
    isBlank = false
    probeJson(text.slice(first))
    const canBegin = text[first] !== '<' && markdown.canStartWith(text)
    const inside = markdown.findPosition(text)
    if (canBegin) return POSITION_BEFORE_TEXT
    return inside > first ? inside : NO_MARKER_POSITION
  }
  return {
    /**
     * Reads the next delta. Returns the first possible position of a marker in its text, or
     * `NO_MARKER_POSITION`.
     */
    readDelta(delta: TextDelta): number {
      startText(delta)
      const { text } = delta
      start = end
      end += text.length
      if (areExhausted) return NO_MARKER_POSITION
      if (!isBlank) probeJson(text)
      const found = isBlank ? readStart(text) : markdown.findPosition(text)
      const isUnusable = areExhausted || isJson !== false || (found > 0 && hasLogprobs(delta))
      return isUnusable ? NO_MARKER_POSITION : found
    },
    /** Returns the range of the last delta: its item and part, and the character offsets in the part. */
    getLastDelta: (): DeltaRange => ({ index, part, start, end }),
    /** True if the marker can be appended to the item that ends now. */
    canAppend: () => !areExhausted && !isBlank && isJson === false && markdown.canAppend(),
    /** True if the answer has no visible text, so that the marker can be its only text. */
    canBeOnlyText: () => !areExhausted && isBlank && markdown.canStartWith(LETTER),
    /** True if no later text can have a position, e.g. because the answer is JSON. */
    isExhausted: () => areExhausted,
  }
}

/** Example of a text that starts a paragraph, as a marker does. */
const LETTER = 'a'
const VISIBLE_CHAR = /[^ \t\r\n]/

/** True if the delta has log probabilities. It cannot be split, because they belong to complete tokens. */
function hasLogprobs({ logprobs }: TextDelta): boolean {
  return logprobs !== undefined && logprobs.length > 0
}
