/**
 * Splits a text into its beginning, its end and an omitted middle, without splitting surrogate pairs. All lengths are
 * numbers of UTF-16 code units.
 */
export function splitHeadAndTail(text: string, headChars: number, tailChars: number) {
  const headEnd = splitsSurrogatePair(text, headChars) ? headChars - 1 : headChars
  const start = text.length - tailChars
  const tailStart = splitsSurrogatePair(text, start) ? start + 1 : start
  return {
    head: text.slice(0, headEnd),
    tail: text.slice(tailStart),
    omittedChars: tailStart - headEnd,
  }
}

/** Replaces the middle of a text by a note in a line of its own, e.g. `[… 512 characters left out …]`. */
export function cutMiddle(
  text: string,
  headChars: number,
  tailChars: number,
  createNote = (omittedChars: number): string => `[… ${omittedChars} characters left out …]`,
): string {
  const { head, tail, omittedChars } = splitHeadAndTail(text, headChars, tailChars)
  return `${head}\n${createNote(omittedChars)}\n${tail}`
}

/** True if a cut at this index would split a character into its two surrogates, e.g. at index 1 of '😀'. */
export function splitsSurrogatePair(text: string, index: number): boolean {
  const before = text.charCodeAt(index - 1)
  const after = text.charCodeAt(index)
  return before >= 0xd800 && before < 0xdc00 && after >= 0xdc00 && after < 0xe000
}
