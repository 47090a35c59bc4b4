/**
 * Finds positions in the texts of an answer at which a marker stays invisible. There is none in a text that may be
 * JSON as a whole, and none before a text that starts with HTML, because some clients look for reasoning there
 * (e.g. `<think>`).
 */
import type { TextDelta } from '../../../core/stream-event.ts'
import { trackMarkdownInsertionPoints } from './track-markdown-insertion-points.ts'
import { JSON_PROBE_CHARS, looksLikeJson } from './looks-like-json.ts'

export const NO_POSITION = -1
/** Position before the delta with which an item's visible text starts. */
export const BEFORE_TEXT = -2

export interface MarkerPositions {
  /** Reads the next delta. Returns the first position in its text, which is after a blank line. */
  readonly read: (delta: TextDelta) => number
  /** Returns the position of the last delta in the text of its part. */
  readonly lastDelta: () => DeltaRange
  /** True if the marker may be added to the end of the last text. Called when its item ends. */
  readonly canEnd: () => boolean
  /** True if the marker may be the first text of the answer, which has no visible text yet. */
  readonly canBegin: () => boolean
  /** True if no text that may follow can have a position. */
  readonly areExhausted: () => boolean
}

export interface DeltaRange {
  readonly index: number
  readonly part: number
  readonly start: number
  readonly end: number
}

/** `before` is the text that the answer continues, or empty. */
export function trackMarkerPositions(before: string): MarkerPositions {
  const markdown = trackMarkdownInsertionPoints()
  markdown.push(before)
  let areExhausted =
    before !== '' && looksLikeJson(before.trimStart().slice(0, JSON_PROBE_CHARS)) !== false
  let index = NO_POSITION
  let part = NO_POSITION
  let start = 0
  let end = 0
  /** True while the item has only white space. */
  let isBlank = true
  let jsonProbe = ''
  let isJson: boolean | null = null

  /** Texts are expected one after the other: a delta of an earlier part ends the search. */
  const startText = (delta: TextDelta): void => {
    if (delta.index === index && delta.part === part) return
    if (delta.index > index) {
      if (index !== NO_POSITION) markdown.startNextText()
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
  /** Reads a delta of an item that has only white space so far. */
  const readStart = (text: string): number => {
    const first = text.search(VISIBLE_CHAR)
    if (first === -1) {
      markdown.push(text)
      return NO_POSITION
    }
    isBlank = false
    probeJson(text.slice(first))
    const canBegin = text[first] !== '<' && markdown.canStartWith(text)
    const inside = markdown.push(text)
    if (canBegin) return BEFORE_TEXT
    return inside > first ? inside : NO_POSITION
  }
  return {
    read(delta) {
      startText(delta)
      const { text } = delta
      start = end
      end += text.length
      if (areExhausted) return NO_POSITION
      if (!isBlank) probeJson(text)
      const found = isBlank ? readStart(text) : markdown.push(text)
      const isUnusable = areExhausted || isJson !== false || (found > 0 && hasLogprobs(delta))
      return isUnusable ? NO_POSITION : found
    },
    lastDelta: () => ({ index, part, start, end }),
    canEnd: () => !areExhausted && !isBlank && isJson === false && markdown.canEnd(),
    canBegin: () => !areExhausted && isBlank && markdown.canStartWith(LETTER),
    areExhausted: () => areExhausted,
  }
}

/** Sample of a text that starts a paragraph. */
const LETTER = 'a'
const VISIBLE_CHAR = /[^ \t\r\n]/

/** A delta with log probabilities cannot be split, because they are per token. */
function hasLogprobs({ logprobs }: TextDelta): boolean {
  return logprobs !== undefined && logprobs.length > 0
}
