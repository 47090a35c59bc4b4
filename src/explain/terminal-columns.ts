/**
 * Measures, pads, truncates and wraps text by its width in a terminal. A Chinese, Japanese or Korean
 * character is 2 columns wide, so 東京 takes 4 columns.
 */
export function countColumns(text: string): number {
  let columns = 0
  for (const letter of text) columns += widthOf(letter)
  return columns
}

export function padToColumns(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - countColumns(text)))
}

export function truncateToColumns(text: string, columns: number): string {
  if (countColumns(text) <= columns) return text
  let short = ''
  let remainingColumns = columns - 1
  for (const letter of text) {
    remainingColumns -= widthOf(letter)
    if (remainingColumns < 0) break
    short += letter
  }
  return `${short}…`
}

/** Wraps a text between words into lines of at most `columns`. Truncates a word that is longer than a line. */
export function wrapToColumns(text: string, columns: number): readonly string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`
    if (countColumns(longer) <= columns) {
      line = longer
      continue
    }
    if (line !== '') lines.push(line)
    line = truncateToColumns(word, columns)
  }
  return [...lines, line]
}

function widthOf(letter: string): number {
  const code = letter.codePointAt(0) ?? 0
  if (code < 0x1100) return code < 0x20 || code === 0x7f ? 0 : 1
  const isWide =
    (code >= 0x2e80 && code <= 0xa4cf) ||
    (code >= 0xac00 && code <= 0xd7a3) ||
    (code >= 0xf900 && code <= 0xfaff) ||
    (code >= 0xff00 && code <= 0xff60) ||
    (code >= 0x1f300 && code <= 0x1faff) ||
    (code >= 0x20000 && code <= 0x3fffd)
  return isWide || code <= 0x115f ? 2 : 1
}
