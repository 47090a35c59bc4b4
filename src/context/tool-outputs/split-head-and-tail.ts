/** Shortens texts to their beginning and end, never between the two halves of a surrogate pair. */
export interface SplitText {
  readonly head: string
  readonly tail: string
  /** The number of characters between both. Characters are UTF-16 code units in this folder. */
  readonly leftOut: number
}

export function splitHeadAndTail(text: string, headChars: number, tailChars: number): SplitText {
  const headEnd = splitsSurrogatePair(text, headChars) ? headChars - 1 : headChars
  const start = text.length - tailChars
  const tailStart = splitsSurrogatePair(text, start) ? start + 1 : start
  return {
    head: text.slice(0, headEnd),
    tail: text.slice(tailStart),
    leftOut: tailStart - headEnd,
  }
}

/** Replaces the middle of a text by a line of its own, e.g. `[… 512 characters left out …]`. */
export function cutMiddle(
  text: string,
  headChars: number,
  tailChars: number,
  createNote = (leftOut: number): string => `[… ${leftOut} characters left out …]`,
): string {
  const { head, tail, leftOut } = splitHeadAndTail(text, headChars, tailChars)
  return `${head}\n${createNote(leftOut)}\n${tail}`
}

/** True if a cut before this index separates the two halves of a character, e.g. index 1 of '😀'. */
export function splitsSurrogatePair(text: string, index: number): boolean {
  const before = text.charCodeAt(index - 1)
  const after = text.charCodeAt(index)
  return before >= 0xd800 && before < 0xdc00 && after >= 0xdc00 && after < 0xe000
}
