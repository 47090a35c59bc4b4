/**
 * Removes the `<details type="…">` blocks that Open WebUI before 0.10 wrote into answers. One blank line
 * separates the texts before and after a removed block.
 *
 * Blocks may be nested. Blocks in code fences stay, because they are quotations. A block without a closing tag,
 * in an answer that was stopped, extends to the end of the text if it begins a line, as all blocks of Open WebUI
 * do. An unclosed tag within a line is only a mention and stays.
 */
import { createCodeFenceTracker } from './track-markdown-code-fences.ts'

export function removeDetailsBlocks(text: string): string {
  if (!mayContainDetailsBlock(text)) return text
  const blocks = findBlocks(text)
  if (blocks.length === 0) return text
  const pieces: string[] = []
  let previousEnd = 0
  for (const { start, end } of [...blocks, { start: text.length, end: text.length }]) {
    const piece = text.slice(previousEnd === 0 ? 0 : skipBlanks(text, previousEnd), start)
    if (piece.trim() !== '') pieces.push(start === text.length ? piece : piece.trimEnd())
    previousEnd = end
  }
  return pieces.join('\n\n')
}

/** True if the text may contain a block. Saves parsing, because nearly every text has none. */
export function mayContainDetailsBlock(text: string): boolean {
  return text.includes(OPENING)
}

interface Block {
  readonly start: number
  readonly end: number
}

function findBlocks(text: string): readonly Block[] {
  const blocks: Block[] = []
  const findEnd = createBlockEndFinder(text)
  const fences = createCodeFenceTracker()
  let isAfterBlank = true
  for (let position = 0; position < text.length;) {
    const lineEnd = text.indexOf('\n', position)
    const line = text.slice(position, lineEnd < 0 ? text.length : lineEnd)
    const isBlank = line.trim() === ''
    const isCode = !isBlank && fences.readLine(line.trimEnd(), isAfterBlank)
    const block = isBlank || isCode ? null : findBlockInLine(line, position, text.length, findEnd)
    isAfterBlank = isBlank
    if (block === null) {
      position += line.length + 1
      continue
    }
    blocks.push(block)
    // The text after a block is treated as a new line, even in the line in which the block ends.
    position = skipBlanks(text, block.end)
    isAfterBlank = true
  }
  return blocks
}

const OPENING = '<details type="'
const BLOCK_TYPES = /^<details type="(?:reasoning|tool_calls|code_interpreter)"/

/** Returns the first block in a line of the text. The line begins at index `lineStart` of the text. */
function findBlockInLine(
  line: string,
  lineStart: number,
  textEnd: number,
  findEnd: (start: number) => number | null,
): Block | null {
  for (let index = line.indexOf(OPENING); index >= 0; index = line.indexOf(OPENING, index + 1)) {
    if (!BLOCK_TYPES.test(line.slice(index, index + MAX_OPENING_CHARS))) continue
    const end = findEnd(lineStart + index) ?? (line.slice(0, index).trim() === '' ? textEnd : null)
    if (end !== null) return { start: lineStart + index, end }
  }
  return null
}

const MAX_OPENING_CHARS = 40

const TAG = /<details(?=[\s>])|<\/details>/g

/**
 * Returns a function that finds the end of the block at index `start`, or `null` if the block is never closed.
 * If tags are not paired, for example because the model's reasoning quotes one, each later block ends at its first
 * closing tag, so that the answer after it is not lost.
 */
function createBlockEndFinder(text: string): (start: number) => number | null {
  let isFlat = false
  let isUnclosed = false
  return (start) => {
    if (isUnclosed) return null
    let depth = 0
    let first: number | null = null
    TAG.lastIndex = start
    for (let tag = TAG.exec(text); tag !== null; tag = TAG.exec(text)) {
      depth += tag[0] === '</details>' ? -1 : 1
      if (tag[0] !== '</details>') continue
      if (depth === 0 || isFlat) return TAG.lastIndex
      first ??= TAG.lastIndex
    }
    isFlat = true
    isUnclosed = first === null
    return first
  }
}

/** Returns the index after the blank lines that follow index `end`. Does not skip the indent of the next line. */
function skipBlanks(text: string, end: number): number {
  BLANK_LINES.lastIndex = end
  BLANK_LINES.exec(text)
  const next = BLANK_LINES.lastIndex
  if (next > end) return next
  BLANKS.lastIndex = end
  BLANKS.exec(text)
  return BLANKS.lastIndex
}

const BLANK_LINES = /(?:[ \t]*\r?\n)*/y
const BLANKS = /[ \t]*/y
