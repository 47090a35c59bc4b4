/** What remains of a text from which pieces are cut, one behind the other. Nothing is copied before the end. */
export interface TextCutter {
  readonly cut: (from: number, to: number) => void
  /** Of the line breaks at the end of what remains in front of the last cut, at most `most`. */
  readonly breaksAtEnd: (most: number) => number
  /** Takes so many of them away. How many there were to take. */
  readonly dropBreaks: (count: number) => number
  /** How much remains in front of the last cut. */
  readonly length: () => number
  /** The last of what remains in front of `to`, which is not in front of the last cut; at most so much. */
  readonly endAt: (to: number, mostChars: number) => string
  /** Takes so many characters away that remain in front of the last cut. */
  readonly drop: (chars: number) => void
  /** With everything behind the last cut. */
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
    breaksAtEnd(most) {
      let count = 0
      for (let at = spans.length - 1; at >= 0; at -= 1) {
        const { start, end } = spans[at] ?? NOWHERE
        for (let place = end; place > start && count < most; count += 1) {
          const size = breakBefore(text, place, start)
          if (size === 0) return count
          place -= size
        }
        if (count === most) return count
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
    endAt(to, mostChars) {
      let end = text.slice(Math.max(rest, to - mostChars), to)
      for (let at = spans.length - 1; at >= 0 && end.length < mostChars; at -= 1) {
        const span = spans[at] ?? NOWHERE
        end = text.slice(Math.max(span.start, span.end - mostChars + end.length), span.end) + end
      }
      return end
    },
    drop(chars) {
      let left = Math.min(chars, length)
      length -= left
      for (let span = spans.at(-1); span !== undefined && left > 0; span = spans.at(-1)) {
        const size = Math.min(left, span.end - span.start)
        span.end -= size
        left -= size
        if (span.end === span.start) spans.pop()
      }
    },
    text: () => spans.map(({ start, end }) => text.slice(start, end)).join('') + text.slice(rest),
  }
}

const NOWHERE = { start: 0, end: 0 }

/** The length of the line break that ends there; 0 if none does. */
function breakBefore(text: string, place: number, start: number): number {
  if (place <= start || text[place - 1] !== '\n') return 0
  return place - 1 > start && text[place - 2] === '\r' ? 2 : 1
}
