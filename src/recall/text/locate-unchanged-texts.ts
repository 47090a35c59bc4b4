/**
 * Where each of several texts stands, unchanged and in order, in a longer one. All are given as
 * lines, and a text is found as whole lines only: within a line it has been edited.
 *
 * A repeated "OK." is known by its neighbours: first comes what is unchanged at either end, then the
 * longest text in between, and so on in each of the two parts.
 *
 * A text is looked for where its rarest line is. Where there is so much of the same that it would
 * cost much more than reading it all, a text counts as edited.
 */
import { findLowerBound } from '../binary-search.ts'

export type TextLines = readonly string[]

/** How many more lines may be compared. */
export interface ComparisonBudget {
  left: number
}

/** For each text the line at which it begins, or `null`. An empty text stands nowhere. */
export function findLineAnchors(
  sought: readonly TextLines[],
  lines: TextLines,
  effort = createComparisonBudget(sought, lines),
): readonly (number | null)[] {
  const search = openSearch(sought, lines, effort)
  const whole = { first: 0, end: sought.length, from: 0, to: lines.length }
  search.parts.push(withoutEnd(search, withoutStart(search, whole)))
  for (const at of longestFirst(sought)) {
    const number = search.partOf[at] ?? 0
    const part = search.parts[number]
    if (part === undefined || at < part.first || at >= part.end) continue
    const line = findText(search, at, part)
    if (line !== null) split(search, number, at, line)
  }
  return search.anchors
}

/** Honest texts need about two looks a line. */
export function createComparisonBudget(
  sought: readonly TextLines[],
  lines: TextLines,
): ComparisonBudget {
  return { left: 16 * sought.reduce((count, text) => count + text.length, lines.length + 64) }
}

interface Search {
  /** Lines as numbers; `NOWHERE` for one that is not in the longer text. */
  readonly texts: readonly Int32Array[]
  readonly lines: Int32Array
  /** For each number of a line where it stands. */
  readonly places: readonly (readonly number[])[]
  readonly anchors: (number | null)[]
  readonly parts: Part[]
  /** For each text the number of its part. */
  readonly partOf: Int32Array
  readonly effort: ComparisonBudget
}

/** The texts from `first` to `end` in the lines from `from` to `to`, ends not among them. */
interface Part {
  readonly first: number
  readonly end: number
  readonly from: number
  readonly to: number
}

const NOWHERE = -1

function openSearch(
  sought: readonly TextLines[],
  lines: TextLines,
  effort: ComparisonBudget,
): Search {
  const numbers = new Map<string, number>()
  const places: number[][] = []
  const numbered = Int32Array.from(lines, (line, at) => {
    const known = numbers.get(line)
    const number = known ?? numbers.size
    if (known === undefined) numbers.set(line, number)
    const there = places[number]
    if (there === undefined) places.push([at])
    else there.push(at)
    return number
  })
  return {
    texts: sought.map((text) => Int32Array.from(text, (line) => numbers.get(line) ?? NOWHERE)),
    lines: numbered,
    places,
    anchors: sought.map(() => null),
    parts: [],
    partOf: new Int32Array(sought.length),
    effort,
  }
}

function longestFirst(sought: readonly TextLines[]): readonly number[] {
  const sizes = sought.map((text) => text.reduce((size, line) => size + line.length, 0))
  return [...sought.keys()]
    .filter((at) => sought[at]?.length !== 0)
    .toSorted((one, other) => (sizes[other] ?? 0) - (sizes[one] ?? 0))
}

function withoutStart(search: Search, part: Part): Part {
  let { first, from } = part
  for (; first < part.end; first += 1) {
    const length = search.texts[first]?.length ?? 0
    if (length > part.to - from || !standsAt(search, first, from)) break
    if (length > 0) search.anchors[first] = from
    from += length
  }
  return { ...part, first, from }
}

function withoutEnd(search: Search, part: Part): Part {
  let { end, to } = part
  for (; end > part.first; end -= 1) {
    const length = search.texts[end - 1]?.length ?? 0
    if (length > to - part.from || !standsAt(search, end - 1, to - length)) break
    to -= length
    if (length > 0) search.anchors[end - 1] = to
  }
  return { ...part, end, to }
}

/** What was not found at a part's old border is not found there now. */
function split(search: Search, number: number, at: number, line: number): void {
  const { parts, partOf, texts, anchors } = search
  const part = parts[number]
  if (part === undefined) return
  anchors[at] = line
  const before = withoutEnd(search, { ...part, end: at, to: line })
  const from = line + (texts[at]?.length ?? 0)
  const behind = withoutStart(search, { ...part, first: at + 1, from })
  const isFirstLess = before.end - before.first < behind.end - behind.first
  const [less, more] = isFirstLess ? [before, behind] : [behind, before]
  parts[number] = more
  partOf.fill(parts.length, less.first, less.end)
  parts.push(less)
}

function findText(search: Search, at: number, part: Part): number | null {
  const text = search.texts[at] ?? NO_LINES
  const pivot = rarestLine(text, search.places)
  if (pivot === null) return null
  const places = search.places[text[pivot] ?? NOWHERE] ?? []
  const last = part.to - text.length + pivot
  for (let next = findLowerBound(places, part.from + pivot); next < places.length; next += 1) {
    const place = places[next] ?? 0
    if (place > last || search.effort.left < 0) return null
    if (standsAt(search, at, place - pivot)) return place - pivot
  }
  return null
}

const NO_LINES = new Int32Array()

/** `null` if one of the lines is nowhere. */
function rarestLine(text: Int32Array, places: Search['places']): number | null {
  let rarest = 0
  let fewest = Infinity
  for (const [at, line] of text.entries()) {
    const count = places[line]?.length ?? 0
    if (count === 0) return null
    if (count < fewest) [rarest, fewest] = [at, count]
  }
  return rarest
}

function standsAt({ texts, lines, effort }: Search, at: number, line: number): boolean {
  const text = texts[at] ?? NO_LINES
  let same = 0
  while (same < text.length && lines[line + same] === text[same]) same += 1
  effort.left -= same + 1
  return same === text.length
}
