/**
 * Where in the texts of an answer a marker may stand. There is no such place in a text that may be
 * JSON as a whole, nor in front of one that begins with HTML, in which some clients look for thoughts.
 */
import type { TextDelta } from '../../../core/stream-event.ts'
import { trackMarkdownInsertionPoints } from './track-markdown-insertion-points.ts'
import { JSON_PROBE_CHARS, looksLikeJson } from './looks-like-json.ts'

export const NO_POSITION = -1
/** Before the delta, with which the words of an item begin. */
export const BEFORE_TEXT = -2

export interface MarkerPositions {
  /** Reads on. The first place in the delta's text, which then is behind a blank line. */
  readonly read: (delta: TextDelta) => number
  /** Where the newest delta has its place in the text of its part. */
  readonly newest: () => Newest
  /** Whether a marker may stand at the end of the newest text, now that its item is over. */
  readonly canEnd: () => boolean
  /** Whether a marker may stand where nothing has been said yet. */
  readonly canBegin: () => boolean
  /** Whether there will be no place any more. */
  readonly isLost: () => boolean
}

interface Newest {
  readonly index: number
  readonly part: number
  readonly start: number
  readonly end: number
}

/** `before` is what stands in front of the answer. */
export function trackMarkerPositions(before: string): MarkerPositions {
  const place = trackMarkdownInsertionPoints()
  place.push(before)
  let isLost = before !== '' && looksLikeJson(headOf(before)) !== false
  let index = NO_POSITION
  let part = NO_POSITION
  let start = 0
  let end = 0
  /** Whether the item has said nothing but blanks. */
  let isBlank = true
  let head = ''
  let isJson: boolean | null = null

  /** Texts come one after the other; what is said in between is in no order that could be followed. */
  const enter = (delta: TextDelta): void => {
    if (delta.index === index && delta.part === part) return
    if (delta.index > index) {
      if (index !== NO_POSITION) place.join()
      isBlank = true
      head = ''
      isJson = null
    } else if (delta.index < index || delta.part < part || !place.canStartWith(LETTER))
      isLost = true
    index = delta.index
    part = delta.part
    end = 0
  }
  const readHead = (text: string): void => {
    if (isJson !== null) return
    head += text.slice(0, JSON_PROBE_CHARS - head.length)
    isJson = looksLikeJson(head)
    if (isJson === true) isLost = true
  }
  /** Blanks say nothing: the first words do. */
  const readFirst = (text: string): number => {
    const first = text.search(WORDS)
    if (first === -1) {
      place.push(text)
      return NO_POSITION
    }
    isBlank = false
    readHead(text.slice(first))
    const canBegin = text[first] !== '<' && place.canStartWith(text)
    const inside = place.push(text)
    if (canBegin) return BEFORE_TEXT
    return inside > first ? inside : NO_POSITION
  }
  return {
    read(delta) {
      enter(delta)
      const { text } = delta
      start = end
      end += text.length
      if (isLost) return NO_POSITION
      if (!isBlank) readHead(text)
      const found = isBlank ? readFirst(text) : place.push(text)
      return isLost || isJson !== false || (found > 0 && isWhole(delta)) ? NO_POSITION : found
    },
    newest: () => ({ index, part, start, end }),
    canEnd: () => !isLost && !isBlank && isJson === false && place.canEnd(),
    canBegin: () => !isLost && isBlank && place.canStartWith(LETTER),
    isLost: () => isLost,
  }
}

const LETTER = 'a'
const WORDS = /[^ \t\r\n]/

function headOf(text: string): string {
  return text.trimStart().slice(0, JSON_PROBE_CHARS)
}

/** What is said of each token cannot be parted as the text can. */
function isWhole({ logprobs }: TextDelta): boolean {
  return logprobs !== undefined && logprobs.length > 0
}
