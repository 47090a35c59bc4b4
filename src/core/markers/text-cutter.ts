/**
 * Cuts pieces out of a text, from start to end, and copies no text before `joinKeptText` is called. The
 * kept text is the text before the last cut, without the pieces that were cut or dropped.
 */
export interface TextCutter {
  readonly cut: (from: number, to: number) => void
  /** Returns how many line breaks the kept text ends with, at most `max`. */
  readonly countLineBreaksAtEnd: (max: number) => number
  /** Removes up to `count` line breaks from the end of the kept text and returns how many it removed. */
  readonly dropLineBreaks: (count: number) => number
  /** Returns the length of the kept text. */
  readonly keptLength: () => number
  /** Returns the last `maxChars` characters before the offset `to`, without the pieces that were cut. */
  readonly lastCharsBefore: (to: number, maxChars: number) => string
  /** Removes characters from the end of the kept text. */
  readonly dropChars: (chars: number) => void
  /** Returns the kept text, followed by all text after the last cut. */
  readonly joinKeptText: () => string
}

export function createTextCutter(text: string): TextCutter {
  const spans: { readonly start: number; end: number }[] = []
  let rest = 0
  let length = 0
  const dropChars = (chars: number): void => {
    let remaining = Math.min(chars, length)
    length -= remaining
    for (let span = spans.at(-1); span !== undefined && remaining > 0; span = spans.at(-1)) {
      const size = Math.min(remaining, span.end - span.start)
      span.end -= size
      remaining -= size
      if (span.end === span.start) spans.pop()
    }
  }
  return {
    cut(from, to) {
      if (from > rest) spans.push({ start: rest, end: from })
      length += from - rest
      rest = to
    },
    countLineBreaksAtEnd(max) {
      let count = 0
      for (let span = spans.length - 1; span >= 0; span -= 1) {
        const { start, end } = spans[span] ?? EMPTY_SPAN
        for (let index = end; index > start && count < max; count += 1) {
          const size = breakBefore(text, index, start)
          if (size === 0) return count
          index -= size
        }
        if (count === max) return count
      }
      return count
    },
    dropLineBreaks(count) {
      let dropped = 0
      for (; dropped < count; dropped += 1) {
        const { start, end } = spans.at(-1) ?? EMPTY_SPAN
        const size = breakBefore(text, end, start)
        if (size === 0) break
        dropChars(size)
      }
      return dropped
    },
    keptLength: () => length,
    lastCharsBefore(to, maxChars) {
      let end = text.slice(Math.max(rest, to - maxChars), to)
      for (let index = spans.length - 1; index >= 0 && end.length < maxChars; index -= 1) {
        const span = spans[index] ?? EMPTY_SPAN
        end = text.slice(Math.max(span.start, span.end - maxChars + end.length), span.end) + end
      }
      return end
    },
    dropChars,
    joinKeptText: () =>
      spans.map(({ start, end }) => text.slice(start, end)).join('') + text.slice(rest),
  }
}

const EMPTY_SPAN = { start: 0, end: 0 }

/** Returns the length of the line break that ends at `end`; 0 if there is none. */
function breakBefore(text: string, end: number, start: number): number {
  if (end <= start || text[end - 1] !== '\n') return 0
  return end - 1 > start && text[end - 2] === '\r' ? 2 : 1
}
