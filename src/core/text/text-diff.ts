/**
 * The difference of a text to a base text: the lengths of the common prefix and suffix, and the text
 * between them. For example, `abXd` differs from `abcd` by prefix 2, suffix 1 and middle `X`. Consecutive
 * requests of a conversation differ little, so they are stored this way.
 *
 * No surrogate pair is split, so `middle` is valid text.
 */
export interface TextDiff {
  readonly prefix: number
  readonly suffix: number
  readonly middle: string
}

export function diffText(base: string, text: string): TextDiff {
  const prefix = countCommonChars(text, 0, base, 0)
  const [baseEnd, textEnd] = [base.length, text.length]
  let suffix = commonLength(
    Math.min(baseEnd, textEnd) - prefix,
    (from, to) =>
      base.slice(baseEnd - to, baseEnd - from) === text.slice(textEnd - to, textEnd - from),
  )
  if (suffix > 0 && isLow(text, textEnd - suffix)) suffix -= 1
  return { prefix, suffix, middle: text.slice(prefix, textEnd - suffix) }
}

/**
 * Applies differences one after the other, beginning with an empty text. Copies only the characters of the
 * result: a chain of 33 versions of a long text is not built 33 times.
 */
export function applyTextDiffs(diffs: readonly TextDiff[]): string {
  let ranges: readonly TextRange[] = []
  let length = 0
  for (const { prefix, suffix, middle } of diffs) {
    ranges = [
      ...selectRanges(ranges, 0, prefix),
      { text: middle, start: 0, end: middle.length },
      ...selectRanges(ranges, length - suffix, length),
    ]
    length = prefix + middle.length + suffix
  }
  return ranges.map(({ text, start, end }) => text.slice(start, end)).join('')
}

/** The characters of `text` from `start` to `end`. */
interface TextRange {
  readonly text: string
  readonly start: number
  readonly end: number
}

/** Returns the characters from `from` to `to` of a text that consists of ranges. */
function selectRanges(ranges: readonly TextRange[], from: number, to: number): TextRange[] {
  const selected: TextRange[] = []
  let offset = 0
  for (const { text, start, end } of ranges) {
    const first = Math.max(start, start + from - offset)
    const last = Math.min(end, start + to - offset)
    if (first < last) selected.push({ text, start: first, end: last })
    offset += end - start
  }
  return selected
}

/** Returns how many characters of two texts are equal from the start positions on. Counts no half surrogate pair. */
export function countCommonChars(
  one: string,
  oneStart: number,
  other: string,
  otherStart: number,
): number {
  const length = commonLength(
    Math.min(one.length - oneStart, other.length - otherStart),
    (from, to) =>
      one.slice(oneStart + from, oneStart + to) === other.slice(otherStart + from, otherStart + to),
  )
  return length > 0 && isHigh(one, oneStart + length - 1) ? length - 1 : length
}

/** Number of characters compared at once, which is many times faster than comparing single characters. */
const BLOCK_CHARS = 4_096

/** Returns the length of the equal beginning of two texts. `isSame` compares the range from `from` to `to` in both. */
function commonLength(maxLength: number, isSame: (from: number, to: number) => boolean): number {
  let length = 0
  let size = BLOCK_CHARS
  while (length < maxLength && size >= 1) {
    const end = Math.min(maxLength, length + size)
    if (isSame(length, end)) length = end
    else size = Math.floor(Math.min(size, end - length) / 2)
  }
  return length
}

function isHigh(text: string, index: number): boolean {
  const code = index < 0 ? 0 : text.charCodeAt(index)
  return code >= 0xd800 && code <= 0xdbff
}

function isLow(text: string, index: number): boolean {
  const code = text.charCodeAt(index)
  return code >= 0xdc00 && code <= 0xdfff
}
