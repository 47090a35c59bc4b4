/**
 * Where each of several texts stands, unchanged and in order, in a longer one. All are given as
 * lines, and a text is found as whole lines only: within a line it has been edited.
 *
 * A repeated "OK." is known by its neighbours: first comes what is unchanged at either end, then the
 * longest text in between, and so on in each of the two parts.
 */
export type Lines = readonly string[]

/** For each text the line at which it begins, or `null`. An empty text stands nowhere. */
export function findAnchors(sought: readonly Lines[], lines: Lines): readonly (number | null)[] {
  const search: Search = {
    sought,
    lines,
    anchors: sought.map(() => null),
    // What is not found in a part is not found in a part of that.
    isOut: sought.map((text) => text.length === 0),
    sizes: sought.map((text) => text.reduce((size, line) => size + line.length, 0)),
  }
  const parts: Part[] = [{ first: 0, end: sought.length, from: 0, to: lines.length }]
  for (let part = parts.pop(); part !== undefined; part = parts.pop()) {
    const middle = withoutEnds(search, part)
    if (middle.from >= middle.to) continue
    const at = anchorLongest(search, middle)
    if (at === null) continue
    const line = search.anchors[at] ?? 0
    parts.push(
      { ...middle, end: at, to: line },
      { ...middle, first: at + 1, from: line + (sought[at]?.length ?? 0) },
    )
  }
  return search.anchors
}

interface Search {
  readonly sought: readonly Lines[]
  readonly lines: Lines
  readonly anchors: (number | null)[]
  readonly isOut: boolean[]
  readonly sizes: readonly number[]
}

/** The texts from `first` to `end` in the lines from `from` to `to`, ends not among them. */
interface Part {
  readonly first: number
  readonly end: number
  readonly from: number
  readonly to: number
}

function withoutEnds(search: Search, { first, end, from, to }: Part): Part {
  const { sought, anchors } = search
  while (first < end) {
    const text = sought[first] ?? []
    if (text.length > to - from || !standsAt(search, text, from)) break
    if (text.length > 0) anchors[first] = from
    from += text.length
    first += 1
  }
  while (first < end) {
    const text = sought[end - 1] ?? []
    if (text.length > to - from || !standsAt(search, text, to - text.length)) break
    to -= text.length
    end -= 1
    if (text.length > 0) anchors[end] = to
  }
  return { first, end, from, to }
}

function anchorLongest(search: Search, part: Part): number | null {
  const { sought, anchors, isOut, sizes } = search
  for (;;) {
    let longest: number | null = null
    for (let at = part.first; at < part.end; at += 1) {
      if (isOut[at] === true) continue
      if (longest === null || (sizes[at] ?? 0) > (sizes[longest] ?? 0)) longest = at
    }
    if (longest === null) return null
    isOut[longest] = true
    const text = sought[longest] ?? []
    for (let line = part.from; line + text.length <= part.to; line += 1) {
      if (!standsAt(search, text, line)) continue
      anchors[longest] = line
      return longest
    }
  }
}

function standsAt({ lines }: Search, text: Lines, line: number): boolean {
  return text.every((words, at) => lines[line + at] === words)
}
