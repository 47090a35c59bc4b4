/**
 * Finds the items of an answer in front of whose text, or at whose end, a marker is invisible. It never stands inside a
 * text. A text that may be JSON has no position, because clients parse it. There is none before a text that starts with
 * HTML, because some clients expect a tag such as `<think>` at the start.
 */
import type { TextDelta } from '../../../core/stream-event.ts'
import { trackMarkdownStructure } from './track-markdown-structure.ts'
import { JSON_PROBE_CHARS, looksLikeJson } from './looks-like-json.ts'

const NOWHERE = -1

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
  const markdown = trackMarkdownStructure()
  markdown.read(continuedText)
  let areExhausted =
    continuedText !== '' &&
    looksLikeJson(continuedText.trimStart().slice(0, JSON_PROBE_CHARS)) !== false
  let index = NOWHERE
  let part = NOWHERE
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
      if (index !== NOWHERE) markdown.startNextText()
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
  /** Reads a delta of an item whose text was only white space so far. Returns true if a marker can precede it. */
  const readStart = (text: string): boolean => {
    const first = text.search(VISIBLE_CHAR)
    if (first < 0) {
      markdown.read(text)
      return false
    }
    isBlank = false
    probeJson(text.slice(first))
    const canBegin = text[first] !== '<' && markdown.canStartWith(text)
    markdown.read(text)
    return canBegin
  }
  return {
    /** Reads the next delta. Returns true if a marker can be inserted before it: it is the first visible one of its item. */
    readDelta(delta: TextDelta): boolean {
      startText(delta)
      const { text } = delta
      start = end
      end += text.length
      if (areExhausted) return false
      if (isBlank) return readStart(text) && !areExhausted && isJson === false
      probeJson(text)
      markdown.read(text)
      return false
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
