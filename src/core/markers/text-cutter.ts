/**
 * Cuts pieces out of a text, from start to end, and copies nothing before `text` is called. The kept text
 * is everything before the last cut that was not cut or dropped.
 */
export interface TextCutter {
  readonly cut: (from: number, to: number) => void
  /** Counts the line breaks at the end of the kept text, up to `max`. */
  readonly breaksAtEnd: (max: number) => number
  /** Drops up to `count` line breaks from the end of the kept text and returns how many there were. */
  readonly dropBreaks: (count: number) => number
  /** Length of the kept text. */
  readonly length: () => number
  /** Returns the last `maxChars` characters of the kept text and the text up to `to`, which follows the last cut. */
  readonly endAt: (to: number, maxChars: number) => string
  /** Drops characters from the end of the kept text. */
  readonly drop: (chars: number) => void
  /** Returns the kept text and everything after the last cut. */
  readonly text: () => string
}

export function createTextCutter(text: string): TextCutter {
  const spans: { readonly start: number; end: number }[] = []
  let rest = 0
  let length = 0
  return {
    cut(from, to) {
      if (from > rest) spans.push({ start: rest, end: from })
      length += from - rest
      rest = to
    },
    breaksAtEnd(max) {
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
    dropBreaks(count) {
      let dropped = 0
      for (let span = spans.at(-1); span !== undefined && dropped < count; span = spans.at(-1)) {
        const size = breakBefore(text, span.end, span.start)
        if (size === 0) return dropped
        span.end -= size
        length -= size
        dropped += 1
        if (span.end === span.start) spans.pop()
      }
      return dropped
    },
    length: () => length,
    endAt(to, maxChars) {
      let end = text.slice(Math.max(rest, to - maxChars), to)
      for (let index = spans.length - 1; index >= 0 && end.length < maxChars; index -= 1) {
        const span = spans[index] ?? EMPTY_SPAN
        end = text.slice(Math.max(span.start, span.end - maxChars + end.length), span.end) + end
      }
      return end
    },
    drop(chars) {
      let remaining = Math.min(chars, length)
      length -= remaining
      for (let span = spans.at(-1); span !== undefined && remaining > 0; span = spans.at(-1)) {
        const size = Math.min(remaining, span.end - span.start)
        span.end -= size
        remaining -= size
        if (span.end === span.start) spans.pop()
      }
    },
    text: () => spans.map(({ start, end }) => text.slice(start, end)).join('') + text.slice(rest),
  }
}

const EMPTY_SPAN = { start: 0, end: 0 }

/** Returns the length of the line break that ends at `end`; 0 if there is none. */
function breakBefore(text: string, end: number, start: number): number {
  if (end <= start || text[end - 1] !== '\n') return 0
  return end - 1 > start && text[end - 2] === '\r' ? 2 : 1
}
