/** The beginning and the end of a text, never cut between the two halves of a character. */
export function splitHeadAndTail(
  text: string,
  headChars: number,
  tailChars: number,
): { readonly head: string; readonly tail: string; readonly leftOut: number } {
  const headEnd = splitsSurrogatePair(text, headChars) ? headChars - 1 : headChars
  const start = text.length - tailChars
  const tailStart = splitsSurrogatePair(text, start) ? start + 1 : start
  return {
    head: text.slice(0, headEnd),
    tail: text.slice(tailStart),
    leftOut: tailStart - headEnd,
  }
}

/** Whether a cut at this place parts the two halves of a character. */
export function splitsSurrogatePair(text: string, at: number): boolean {
  const before = text.charCodeAt(at - 1)
  const after = text.charCodeAt(at)
  return before >= 0xd800 && before < 0xdc00 && after >= 0xdc00 && after < 0xe000
}
