/**
 * A text without the `<details type="…">` blocks that Open WebUI once wrote into it. What stood before
 * and behind a block is parted by one blank line. A text without any is returned as it is.
 *
 * Blocks in code fences stay, for there somebody shows one to somebody. Blocks may hold others. One
 * that was never closed, because the answer was stopped in the middle of it, reaches to the end; but
 * only if it begins a line, as all of them did, and is not just mentioned.
 */
import { trackMarkdownCodeFences } from '../../core/text/track-markdown-code-fences.ts'

export function removeDetailsBlocks(text: string): string {
  if (!mayContainDetailsBlock(text)) return text
  const blocks = blocksIn(text)
  if (blocks.length === 0) return text
  const pieces: string[] = []
  let from = 0
  for (const { start, end } of [...blocks, { start: text.length, end: text.length }]) {
    const piece = text.slice(from === 0 ? 0 : wordsFrom(text, from), start)
    if (piece.trim() !== '') pieces.push(start === text.length ? piece : piece.trimEnd())
    from = end
  }
  return pieces.join('\n\n')
}

/** A look that nearly every text passes. */
export function mayContainDetailsBlock(text: string): boolean {
  return text.includes(OPENING)
}

interface Block {
  readonly start: number
  readonly end: number
}

function blocksIn(text: string): readonly Block[] {
  const blocks: Block[] = []
  const endOf = blockEnds(text)
  const fences = trackMarkdownCodeFences()
  let isAfterBlank = true
  for (let at = 0; at < text.length;) {
    const lineEnd = text.indexOf('\n', at)
    const line = text.slice(at, lineEnd < 0 ? text.length : lineEnd)
    const isBlank = line.trim() === ''
    const isCode = !isBlank && fences.read(line.trimEnd(), isAfterBlank)
    const block = isBlank || isCode ? null : blockIn(line, at, text.length, endOf)
    isAfterBlank = isBlank
    if (block === null) {
      at += line.length + 1
      continue
    }
    blocks.push(block)
    // What stands behind a block in its last line is a line of its own from now on.
    at = wordsFrom(text, block.end)
    isAfterBlank = true
  }
  return blocks
}

const OPENING = '<details type="'
const OURS = /^<details type="(?:reasoning|tool_calls|code_interpreter)"/

/** The first block that begins in a line, which begins at `from`. */
function blockIn(
  line: string,
  from: number,
  last: number,
  endOf: (start: number) => number | null,
): Block | null {
  for (let at = line.indexOf(OPENING); at >= 0; at = line.indexOf(OPENING, at + 1)) {
    if (!OURS.test(line.slice(at, at + MAX_OPENING))) continue
    const end = endOf(from + at) ?? (line.slice(0, at).trim() === '' ? last : null)
    if (end !== null) return { start: from + at, end }
  }
  return null
}

const MAX_OPENING = 40

const TAG = /<details(?=[\s>])|<\/details>/g

/**
 * Tells where the block that begins at a place ends; `null` if it never does. Tags that do not come in
 * pairs, as when a thought was about tags, are no reason to lose the answer behind them: from then on
 * every block ends at the first closing tag.
 */
function blockEnds(text: string): (start: number) => number | null {
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

/** Where the words behind a block begin: not with blank lines, but with the indent of their line. */
function wordsFrom(text: string, end: number): number {
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
