/**
 * Finds recorded messages in the client's text of an answer, up to the first one that the user
 * edited. Messages that differ only in whitespace or lack their think blocks are found, too.
 */
import { textOf, textOfPart, type Message, type Part } from '../../core/item.ts'
import { extractMarkers } from '../../core/markers/format-and-extract-markers.ts'
import { removeDetailsBlocks } from '../../core/text/remove-details-blocks.ts'
import { findPiece, findPieces, skipWhitespace, type TextMatch } from './find-text-piece.ts'
import { normalizeLineBreaks, normalizeText } from './normalize-text.ts'
import {
  startsWithThinkBlock,
  listTextsAroundThinkBlocks,
  type UnclosedBlockRule,
} from './remove-think-blocks.ts'

/** The position of a recorded text in the client's text. */
export interface MessageMatch {
  readonly start: number
  readonly end: number
  /**
   * How the client's text differs from the recorded one: `form` for other blank lines, trailing
   * whitespace or missing think blocks; `whitespace` for other whitespace, which the user edited.
   */
  readonly difference: 'form' | 'whitespace' | null
}

/**
 * Finds the recorded messages in the client's text, one after the other from `position`, up to the
 * first one that the user edited. With `canSkipText`, other text may come before the first message.
 */
export function findMessages(
  clientText: string,
  position: number,
  recorded: readonly Message[],
  canSkipText: boolean,
): readonly MessageMatch[] {
  const matches = findMessagesAt(clientText, position, recorded)
  const [first] = recorded
  if (!canSkipText || first === undefined || matches.length === recorded.length) return matches
  const [line = ''] = normalizeLineBreaks(textOf(first.content)).trim().split('\n')
  if (line === '') return matches
  let start = position
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    start = clientText.indexOf(line, start + 1)
    if (start < 0) break
    const later = findMessagesAt(clientText, start, recorded)
    const isAtLineStart = /(?:^|\n)[^\S\n]*$/.test(clientText.slice(Math.max(0, start - 99), start))
    const isAtEnd = clientText.slice(later.at(-1)?.end ?? 0).trim() === ''
    if (later.length === recorded.length && (isAtLineStart || isAtEnd)) return later
  }
  return matches
}

/** Max number of places at which a message is searched whose first line occurs several times. */
const MAX_TRIES = 64

function findMessagesAt(
  clientText: string,
  position: number,
  recorded: readonly Message[],
): readonly MessageMatch[] {
  const matches: MessageMatch[] = []
  for (const message of recorded) {
    const start = matches.at(-1)?.end ?? position
    const match = findParts(clientText, start, message.content)
    const otherEnd = match === null ? findWithOtherWhitespace(clientText, start, message) : null
    if (match === null && otherEnd === null) break
    const difference = match === null ? 'whitespace' : match.isVerbatim ? null : 'form'
    const end = match?.end ?? otherEnd ?? start
    matches.push({ start: skipWhitespace(clientText, start), end, difference })
  }
  return matches
}

function findParts(clientText: string, start: number, content: readonly Part[]): TextMatch | null {
  let match: TextMatch = { end: start, isVerbatim: true }
  for (const part of content) {
    const found = findPart(clientText, match.end, readPartText(part))
    if (found === null && part.type === 'refusal') continue
    if (found === null) return null
    match = { end: found.end, isVerbatim: match.isVerbatim && found.isVerbatim }
  }
  return match
}

/** Finds a text that the client may have without its think blocks. */
function findPart(clientText: string, position: number, text: string): TextMatch | null {
  const match = findPiece(clientText, position, text)
  if (match !== null) return match
  const variants = [cutThinkBlocks(text, 'keep'), cutThinkBlocks(text, 'cut')]
  for (const pieces of variants) {
    const found = pieces === null ? null : findPieces(clientText, position, pieces)
    if (found !== null) return { ...found, isVerbatim: false }
  }
  return null
}

/** Returns the index after the message's text in the client's text, without regard to whitespace. */
function findWithOtherWhitespace(
  clientText: string,
  start: number,
  { content }: Message,
): number | null {
  const text = content.map(readPartText).join('')
  let position = start
  for (let index = skipWhitespace(text, 0); index < text.length;) {
    position = skipWhitespace(clientText, position)
    if (clientText[position] !== text[index]) return null
    position += 1
    index = skipWhitespace(text, index + 1)
  }
  return position
}

/** True if `text` is the beginning of the recorded message, or blank. Whitespace does not count. */
export function hasBeginning({ content }: Message, text: string): boolean {
  return normalizeText(textOf(content)).startsWith(normalizeText(text))
}

/** Returns the text of a recorded part as the client may have it, without markers. */
function readPartText(part: Part): string {
  return normalizeLineBreaks(removeDetailsBlocks(extractMarkers(textOfPart(part)).text))
}

/**
 * Returns the pieces of a text around its think blocks. Returns `null` if there is no such block.
 * Also returns `null` if the text starts with a block, because that is real reasoning: without it,
 * the text counts as edited.
 */
function cutThinkBlocks(text: string, unclosedRule: UnclosedBlockRule): readonly string[] | null {
  return startsWithThinkBlock(text) ? null : listTextsAroundThinkBlocks(text, unclosedRule)
}
