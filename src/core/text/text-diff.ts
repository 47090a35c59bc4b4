/**
 * A text told from another one: how much of the beginning and of the end they have in common, and
 * what stands in between. Two requests of one conversation differ in little else than what is new.
 *
 * No character is cut in half, so that what stands in between is text by itself.
 */
export interface TextDiff {
  readonly prefix: number
  readonly suffix: number
  readonly middle: string
}

export function diffText(base: string, text: string): TextDiff {
  const most = Math.min(base.length, text.length)
  let prefix = commonLength(most, (at, end) => base.slice(at, end) === text.slice(at, end))
  if (isHigh(text, prefix - 1)) prefix -= 1
  const [baseEnd, textEnd] = [base.length, text.length]
  let suffix = commonLength(
    most - prefix,
    (at, end) =>
      base.slice(baseEnd - end, baseEnd - at) === text.slice(textEnd - end, textEnd - at),
  )
  if (suffix > 0 && isLow(text, textEnd - suffix)) suffix -= 1
  return { prefix, suffix, middle: text.slice(prefix, textEnd - suffix) }
}

export function applyTextDiff(base: string, { prefix, suffix, middle }: TextDiff): string {
  return base.slice(0, prefix) + middle + base.slice(base.length - suffix)
}

/** How many characters are the same from one place on in each; no character is cut in half. */
export function countCommonChars(
  one: string,
  oneAt: number,
  other: string,
  otherAt: number,
): number {
  const most = Math.min(one.length - oneAt, other.length - otherAt)
  const length = commonLength(
    most,
    (at, end) => one.slice(oneAt + at, oneAt + end) === other.slice(otherAt + at, otherAt + end),
  )
  return length > 0 && isHigh(one, oneAt + length - 1) ? length - 1 : length
}

/** Blocks are compared as a whole, which is many times faster than characters. */
const BLOCK = 4_096

/** How long a stretch up to `most` is the same; `isSame` compares from one place to another. */
function commonLength(most: number, isSame: (at: number, end: number) => boolean): number {
  let at = 0
  let size = BLOCK
  while (at < most && size >= 1) {
    const end = Math.min(most, at + size)
    if (isSame(at, end)) at = end
    else size = Math.floor(Math.min(size, end - at) / 2)
  }
  return at
}

function isHigh(text: string, at: number): boolean {
  const code = at < 0 ? 0 : text.charCodeAt(at)
  return code >= 0xd800 && code <= 0xdbff
}

function isLow(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  return code >= 0xdc00 && code <= 0xdfff
}
