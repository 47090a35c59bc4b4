/**
 * Locates several texts, unchanged and in order, in a longer text, to find recorded messages in an
 * answer that the user edited. All texts are lists of lines; a text with one changed line counts as
 * edited. For example, of the texts A, B and C, only A and C are located in the longer text A, X,
 * C.
 *
 * A repeated text such as "OK." is recognized by the texts around it: the search begins with
 * unchanged texts at both ends of the longer text, continues with the longest text between them,
 * and so on before and after that one.
 *
 * The search for one text starts at its rarest line. If repeated lines make the search much slower
 * than reading all lines once, the texts that were not located yet count as edited.
 */
import { findLowerBound } from '../map-and-list-helpers.ts'

export type TextLines = readonly string[]

/**
 * Number of lines that a search may still compare. It limits the work for texts with many repeated
 * lines.
 */
export interface ComparisonBudget {
  remainingLines: number
}

/**
 * Returns for each of `texts` the index in `lines` at which it begins; `null` if it was not found
 * or is empty.
 */
export function locateTexts(
  texts: readonly TextLines[],
  lines: TextLines,
  budget = createComparisonBudget(texts, lines),
): readonly (number | null)[] {
  const search = createSearch(texts, lines, budget)
  const fullRange = { firstText: 0, endText: texts.length, startLine: 0, endLine: lines.length }
  search.ranges.push(anchorEnd(search, anchorStart(search, fullRange)))
  for (const textIndex of sortByLength(texts)) {
    const rangeIndex = search.rangeOfText[textIndex] ?? 0
    const range = search.ranges[rangeIndex]
    if (range === undefined || textIndex < range.firstText || textIndex >= range.endText) continue
    const line = findText(search, textIndex, range)
    if (line !== null) split(search, rangeIndex, textIndex, line)
  }
  return search.anchors
}

/** Returns a limit of 16 comparisons for each line of all texts; ordinary texts need about 2. */
export function createComparisonBudget(
  texts: readonly TextLines[],
  lines: TextLines,
): ComparisonBudget {
  return {
    remainingLines: 16 * texts.reduce((count, text) => count + text.length, lines.length + 64),
  }
}

interface AnchorSearch {
  /**
   * The searched texts, each line as a line id, because numbers are compared faster. Equal lines
   * have the same id. `UNKNOWN_LINE` stands for a line that the longer text lacks.
   */
  readonly texts: readonly Int32Array[]
  readonly lines: Int32Array
  /** For each line id (equal lines share one), the indexes at which the longer text has this line. */
  readonly positions: readonly (readonly number[])[]
  readonly anchors: (number | null)[]
  readonly ranges: SearchRange[]
  /**
   * For each text, the index in `ranges` of the part of the longer text in which it is searched.
   */
  readonly rangeOfText: Int32Array
  readonly budget: ComparisonBudget
}

/**
 * A part of the longer text in which some texts are searched: the texts from `firstText` up to, but
 * not including, `endText` in the lines from `startLine` up to, but not including, `endLine`.
 */
interface SearchRange {
  readonly firstText: number
  readonly endText: number
  readonly startLine: number
  readonly endLine: number
}

const UNKNOWN_LINE = -1

function createSearch(
  texts: readonly TextLines[],
  lines: TextLines,
  budget: ComparisonBudget,
): AnchorSearch {
  const numbers = new Map<string, number>()
  const positions: number[][] = []
  const lineNumbers = Int32Array.from(lines, (line, index) => {
    const number = numbers.get(line) ?? numbers.size
    numbers.set(line, number)
    ;(positions[number] ??= []).push(index)
    return number
  })
  return {
    texts: texts.map((text) => Int32Array.from(text, (line) => numbers.get(line) ?? UNKNOWN_LINE)),
    lines: lineNumbers,
    positions,
    anchors: texts.map(() => null),
    ranges: [],
    rangeOfText: new Int32Array(texts.length),
    budget,
  }
}

function sortByLength(texts: readonly TextLines[]): readonly number[] {
  const sizes = texts.map((text) => text.reduce((size, line) => size + line.length, 0))
  return [...texts.keys()]
    .filter((textIndex) => texts[textIndex]?.length !== 0)
    .toSorted((one, other) => (sizes[other] ?? 0) - (sizes[one] ?? 0))
}

function anchorStart(search: AnchorSearch, range: SearchRange): SearchRange {
  let { firstText, startLine } = range
  for (; firstText < range.endText; firstText += 1) {
    const length = search.texts[firstText]?.length ?? 0
    if (length > range.endLine - startLine || !isTextAt(search, firstText, startLine)) break
    if (length > 0) search.anchors[firstText] = startLine
    startLine += length
  }
  return { ...range, firstText, startLine }
}

function anchorEnd(search: AnchorSearch, range: SearchRange): SearchRange {
  let { endText, endLine } = range
  for (; endText > range.firstText; endText -= 1) {
    const length = search.texts[endText - 1]?.length ?? 0
    if (length > endLine - range.startLine || !isTextAt(search, endText - 1, endLine - length))
      break
    endLine -= length
    if (length > 0) search.anchors[endText - 1] = endLine
  }
  return { ...range, endText, endLine }
}

/**
 * Records the position of a located text, and splits its search range into the part before and the
 * part after it. Then checks whether the texts directly before and after the located one are
 * unchanged, too.
 */
function split(search: AnchorSearch, rangeIndex: number, textIndex: number, line: number): void {
  const { ranges, rangeOfText, texts, anchors } = search
  const range = ranges[rangeIndex]
  if (range === undefined) return
  anchors[textIndex] = line
  const before = anchorEnd(search, { ...range, endText: textIndex, endLine: line })
  const startLine = line + (texts[textIndex]?.length ?? 0)
  const after = anchorStart(search, { ...range, firstText: textIndex + 1, startLine })
  const isBeforeSmaller = before.endText - before.firstText < after.endText - after.firstText
  const [smaller, larger] = isBeforeSmaller ? [before, after] : [after, before]
  ranges[rangeIndex] = larger
  rangeOfText.fill(ranges.length, smaller.firstText, smaller.endText)
  ranges.push(smaller)
}

function findText(search: AnchorSearch, textIndex: number, range: SearchRange): number | null {
  const text = search.texts[textIndex] ?? NO_LINES
  const pivot = findRarestLine(text, search.positions)
  if (pivot === null) return null
  const positions = search.positions[text[pivot] ?? UNKNOWN_LINE] ?? []
  const last = range.endLine - text.length + pivot
  const first = findLowerBound(positions, range.startLine + pivot)
  for (let next = first; next < positions.length; next += 1) {
    const position = positions[next] ?? 0
    if (position > last || search.budget.remainingLines < 0) return null
    if (isTextAt(search, textIndex, position - pivot)) return position - pivot
  }
  return null
}

const NO_LINES = new Int32Array()

/**
 * Returns the index of the text's line at which the search starts, because it has the fewest
 * possible positions in the longer text. Returns `null` if the longer text lacks one of the text's
 * lines.
 */
function findRarestLine(text: Int32Array, positions: AnchorSearch['positions']): number | null {
  let rarest = 0
  let fewest = Infinity
  for (const [index, line] of text.entries()) {
    const count = positions[line]?.length ?? 0
    if (count === 0) return null
    if (count < fewest) [rarest, fewest] = [index, count]
  }
  return rarest
}

function isTextAt({ texts, lines, budget }: AnchorSearch, index: number, line: number): boolean {
  const text = texts[index] ?? NO_LINES
  let sameLines = 0
  while (sameLines < text.length && lines[line + sameLines] === text[sameLines]) sameLines += 1
  budget.remainingLines -= sameLines + 1
  return sameLines === text.length
}
