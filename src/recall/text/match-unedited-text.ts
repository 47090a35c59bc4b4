/**
 * Checks whether the text of an answer in a client's list equals the recorded text. Changes that a
 * client program makes by itself do not count: it joins messages with two, one or no line breaks,
 * trims them, changes line ends, puts markers into code, or removes think blocks. Any other
 * difference is an edit by the user, even if only the indentation differs.
 */
import { textOf, textOfPart, type Message, type Part } from '../../core/item.ts'
import {
  extractMarkers,
  removeMarkerLikeText,
} from '../../core/markers/format-and-extract-markers.ts'
import {
  startsWithThinkBlock,
  listTextsAroundThinkBlocks,
  type UnclosedBlockRule,
} from './remove-think-blocks.ts'
import { removeDetailsBlocks } from '../../core/text/remove-details-blocks.ts'

/**
 * Returns `null` if the user edited the text. Otherwise, returns the indexes of the recorded
 * messages that the client has with other blank lines, other trailing whitespace, damaged markers,
 * or without think blocks. The caller must remove undamaged markers from `clientMessages`.
 */
export function matchUneditedText(
  recorded: readonly Message[],
  clientMessages: readonly Message[],
): ReadonlySet<number> | null {
  const clientText = clientMessages
    .map(({ content }) => normalizeLineBreaks(textOf(content)).trim())
    .join('\n\n')
  const match = findMessages(clientText, recorded)
  if (match !== null) return match
  const cutMessages = matchWithoutThinking(clientText, recorded)
  if (cutMessages !== null) return cutMessages
  const textWithoutMarkers = removeDamagedMarkers(clientText)
  if (textWithoutMarkers === clientText) return null
  const splitText: SplitText = (text) => [removeDamagedMarkers(text)]
  return findMessages(textWithoutMarkers, recorded, splitText) && new Set(recorded.keys())
}

/**
 * Changes a recorded text as a client program might have done. Returns the pieces that the client
 * then has, in order, e.g. those around a removed think block.
 */
type SplitText = (text: string) => readonly string[]

function matchWithoutThinking(
  clientText: string,
  recorded: readonly Message[],
): ReadonlySet<number> | null {
  const cutMessages = recorded.flatMap(({ content }, index) =>
    cutThinkBlocks(textOf(content), 'cut') === null ? [] : index,
  )
  if (cutMessages.length === 0) return null
  for (const unclosedRule of ['cut', 'keep'] as const) {
    const splitText: SplitText = (text) => cutThinkBlocks(text, unclosedRule) ?? [text]
    const match = findMessages(clientText, recorded, splitText)
    if (match !== null) return new Set([...match, ...cutMessages])
  }
  return null
}

/**
 * Returns the pieces of a text around its think blocks. Returns `null` if there is no such block.
 * Also returns `null` if the text starts with a block, because that is real reasoning: without it,
 * the text counts as edited.
 */
function cutThinkBlocks(text: string, unclosedRule: UnclosedBlockRule): readonly string[] | null {
  return startsWithThinkBlock(text) ? null : listTextsAroundThinkBlocks(text, unclosedRule)
}

/**
 * Replaces CRLF with LF and removes NUL characters, so that a difference in them does not count as
 * an edit. Clients' databases remove NUL characters, too.
 */
export function normalizeLineBreaks(text: string): string {
  const unbroken = text.includes('\r') ? text.replaceAll('\r\n', '\n') : text
  return unbroken.includes('\0') ? unbroken.replaceAll('\0', '') : unbroken
}

function findMessages(
  clientText: string,
  recorded: readonly Message[],
  splitText: SplitText = (text) => [text],
): Set<number> | null {
  const reformattedMessages = new Set<number>()
  let position = 0
  for (const [index, { content }] of recorded.entries()) {
    for (const part of content) {
      const match = findPieces(clientText, position, splitText(readPartText(part)))
      if (match === null) {
        // Some clients do not show refusals, so a missing refusal is not an edit.
        if (part.type === 'refusal') continue
        return null
      }
      if (!match.isVerbatim) reformattedMessages.add(index)
      position = match.end
    }
  }
  return skipWhitespace(clientText, position) === clientText.length ? reformattedMessages : null
}

function readPartText(part: Part): string {
  return normalizeLineBreaks(removeDetailsBlocks(extractMarkers(textOfPart(part)).text))
}

interface TextMatch {
  readonly end: number
  readonly isVerbatim: boolean
}

function findPieces(clientText: string, from: number, pieces: readonly string[]): TextMatch | null {
  let end = from
  let isVerbatim = true
  for (const piece of pieces) {
    const match = findPiece(clientText, end, piece)
    if (match === null) return null
    end = match.end
    isVerbatim &&= match.isVerbatim
  }
  return { end, isVerbatim }
}

function findPiece(clientText: string, position: number, text: string): TextMatch | null {
  const textStart = skipWhitespace(text, 0)
  if (textStart === text.length) return { end: position, isVerbatim: true }
  const start = skipWhitespace(clientText, position)
  const indent = readIndent(clientText.slice(position, start))
  if (indent !== '' && indent !== readIndent(`\n${text.slice(0, textStart)}`)) return null
  const trimmedText = text.slice(textStart).trimEnd()
  // Both texts are usually equal, and comparing a slice is many times faster than `startsWith`.
  const end = start + trimmedText.length
  if (clientText.slice(start, end) === trimmedText) return { end, isVerbatim: true }
  const looseEnd = findEndLineByLine(clientText, start, trimmedText)
  return looseEnd === null ? null : { end: looseEnd, isVerbatim: false }
}

/**
 * Returns the indentation after the last line break of a whitespace string: `'\n\n\t'` → `'\t'`.
 * Returns `''` if there is no line break.
 */
function readIndent(whitespace: string): string {
  const lineBreak = whitespace.lastIndexOf('\n')
  return lineBreak < 0 ? '' : whitespace.slice(lineBreak + 1)
}

/**
 * Compares the recorded text with the client's text line by line, without blank lines and trailing
 * whitespace. Returns the index in the client's text at which the recorded text ends; `null` if the
 * client lacks one of the lines.
 */
function findEndLineByLine(clientText: string, start: number, trimmedText: string): number | null {
  let position = start
  for (const [index, untrimmed] of trimmedText.split('\n').entries()) {
    const line = untrimmed.trimEnd()
    if (line === '') continue
    const lineStart = index === 0 ? start : findNextLine(clientText, position)
    if (lineStart === null || !clientText.startsWith(line, lineStart)) return null
    position = lineStart + line.length
  }
  return position
}

/**
 * Returns the index of the start of the next non-blank line; `null` if more text follows `position`
 * in the current line.
 */
function findNextLine(clientText: string, position: number): number | null {
  const lineBreak = clientText
    .slice(position, skipWhitespace(clientText, position))
    .lastIndexOf('\n')
  return lineBreak < 0 ? null : position + lineBreak + 1
}

function skipWhitespace(text: string, position: number): number {
  WHITESPACE.lastIndex = position
  WHITESPACE.exec(text)
  return WHITESPACE.lastIndex
}

const WHITESPACE = /\s*/y

/** Removes text that looks like a damaged marker, and code fences that contained nothing else. */
function removeDamagedMarkers(text: string): string {
  const textWithoutMarkers = removeMarkerLikeText(text)
  if (textWithoutMarkers === text) return text
  const lines: string[] = []
  /** Indexes in `lines` of the lines that are not blank. */
  const nonBlankLines: number[] = []
  for (const line of textWithoutMarkers.split('\n')) {
    const previousLine = nonBlankLines.at(-1)
    if (previousLine !== undefined && isFence(line) && isFence(lines[previousLine] ?? '')) {
      lines.length = previousLine
      nonBlankLines.pop()
      continue
    }
    if (line.trim() !== '') nonBlankLines.push(lines.length)
    lines.push(line)
  }
  return lines.join('\n')
}

function isFence(line: string): boolean {
  return /^(?:`{3,}|~{3,})$/.test(line.trim())
}
