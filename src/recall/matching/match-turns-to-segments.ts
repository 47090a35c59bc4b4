/**
 * Which recorded turns a client's runs are. A turn is attached once in a list, and rather not at all
 * than to the words of a sibling, another chat or another answer.
 *
 * What is believed, in this order: a fingerprint, which stands for everything said up to there; a
 * marker that no fingerprint gainsays, and no words (`recall/markers/select-trusted-markers.ts`); the id of a call, if it can
 * mean one turn only, for some providers count their calls from 0 in every answer. Who
 * was whose parent decides between turns that are equally likely.
 */
import type { Item } from '../../core/item.ts'
import { callEndOf } from '../../core/items/tool-call-pairs.ts'
import type { RecordedTurn } from '../../core/items/recorded-turn.ts'
import { isUserMessage } from '../../core/items/rounds-and-pinned-items.ts'
import { hasIdenticalToolOutputs } from './locate-turn-question.ts'
import { findContinuedTurns } from './find-segment-ancestor-turns.ts'
import { selectTrustedMarkers } from '../markers/select-trusted-markers.ts'
import { normalizeTurnText, removeEmptyFences } from '../text/normalize-text.ts'
import { indexCallingTurns } from './find-calling-turns.ts'
import type { TurnAncestry } from '../turn-ancestry.ts'
import { asksNewQuestion } from './turns-answer-same-question.ts'
import type { SegmentedHistory, Segment } from '../split-and-fingerprint-segments.ts'
import { findFirstContinuation, findLastContinuation } from './find-first-and-last-continuation.ts'
import { isSameQuestion } from './compare-questions.ts'

export interface TurnMatches {
  /** For each run its turns, in their order; none where nothing was found. */
  readonly turns: readonly (readonly RecordedTurn[])[]
  /** The runs that could be several turns. */
  readonly ambiguous: ReadonlySet<number>
  /** The turns whose markers were not believed. */
  readonly doubted: ReadonlySet<RecordedTurn>
}

export function matchTurnsToSegments(
  items: readonly Item[],
  plan: SegmentedHistory,
  kin: TurnAncestry,
): TurnMatches {
  const search: Search = {
    items,
    plan,
    kin,
    turns: plan.runs.map(() => []),
    candidates: plan.runs.map(() => []),
    taken: new Set(),
    ambiguous: new Set(),
    doubted: new Set(),
    named: new Set(plan.keys.turnIds),
    runNamed: new Map(plan.runs.map(({ fingerprint }, at) => [fingerprint, at])),
  }
  if (kin.all.length > 0) {
    takeExact(search)
    takeMarked(search)
    takeCalled(search)
    takeSilent(search)
    // What was found since may be the parent of one of several.
    takeChildren(search)
    for (const at of plan.runs.keys()) bringAlong(search, at)
  }
  return search
}

interface Search extends TurnMatches {
  readonly items: readonly Item[]
  readonly plan: SegmentedHistory
  readonly kin: TurnAncestry
  readonly turns: RecordedTurn[][]
  /** For each run the turns of its fingerprint. */
  readonly candidates: RecordedTurn[][]
  readonly taken: Set<RecordedTurn>
  readonly ambiguous: Set<number>
  readonly doubted: Set<RecordedTurn>
  /** Every turn that a marker names. */
  readonly named: ReadonlySet<string>
  /** Which run has this fingerprint. */
  readonly runNamed: ReadonlyMap<string | null, number>
}

function take({ turns, taken }: Search, at: number, turn: RecordedTurn): void {
  turns[at]?.push(turn)
  taken.add(turn)
}

/** From the newest run back, because a turn knows its parent and not its children. */
function takeExact(search: Search): void {
  const { plan, kin, candidates } = search
  for (const turn of kin.all) {
    const at = turn.fingerprint === null ? undefined : search.runNamed.get(turn.fingerprint)
    if (at !== undefined) candidates[at]?.push(turn)
  }
  let later: RecordedTurn | null = null
  for (const [at, alike] of [...candidates.entries()].toReversed()) {
    if (alike.length === 0) continue
    const marks = plan.runs[at]?.marks ?? []
    const likely = withoutCoincidence(search, alike, at)
    candidates[at] = likely
    if (likely.length === 0) continue
    const marked = likely.filter(({ id }) => marks.includes(id))
    const turn: RecordedTurn | null =
      only(likely) ??
      kin.nearestAncestor(later, likely) ??
      only(marked) ??
      only(likely.filter(({ id }) => search.named.has(id))) ??
      // Of what has no marker it is only known that it began.
      (marked.length > 0 ? findLastContinuation(marked, kin) : findFirstContinuation(likely, kin))
    if (turn === null) {
      search.ambiguous.add(at)
      continue
    }
    take(search, at, turn)
    later = turn
  }
  takeChildren(search)
}

/** Of several turns, the one that goes on from what was found before it. */
function takeChildren(search: Search): void {
  const { kin, turns, taken, ambiguous, candidates } = search
  let earlier: RecordedTurn | null = null
  for (const [at, likely] of candidates.entries()) {
    const child = ambiguous.has(at) ? kin.onlyDescendant(earlier, likely) : null
    if (child !== null && !taken.has(child)) {
      take(search, at, child)
      ambiguous.delete(at)
    }
    earlier = turns[at]?.at(-1) ?? earlier
  }
}

/**
 * A client that makes one text of several turns may come to the words of a single one, which another
 * chat has. Its markers know better, if theirs are exactly these words and all the calls; unless the
 * turn is of the same chat, for then they were moved.
 */
function withoutCoincidence(
  { plan, kin, named, runNamed }: Search,
  found: RecordedTurn[],
  at: number,
): RecordedTurn[] {
  const { marks, words, callIds, asked } = plan.runs[at] ?? NO_RUN
  const alike = found.filter(({ input }) => isSameQuestion(input, asked))
  const marked = [...new Set(marks)].flatMap((id) => kin.turn(id) ?? [])
  const [first] = marked
  if (first === undefined || marked.some((turn) => alike.includes(turn))) return alike
  if (marked.some((turn) => isNamedElsewhere({ runNamed }, turn, at))) return alike
  if (normalizeTurnText(marked) !== removeEmptyFences(words) || !callIds.every(isCalledIn(marked)))
    return alike
  return alike.filter(
    (turn) => named.has(turn.id) || kin.isDescendant(first, turn) || kin.isDescendant(turn, first),
  )
}

const NO_RUN = { marks: [], words: '', callIds: [], asked: [] }

function isCalledIn(turns: readonly RecordedTurn[]): (callId: string) => boolean {
  const called = new Set(
    turns.flatMap(({ output }) => output.map((item) => callEndOf(item)?.callId)),
  )
  return (callId) => called.has(callId)
}

function only(turns: readonly RecordedTurn[]): RecordedTurn | null {
  return turns.length === 1 ? (turns[0] ?? null) : null
}

function takeMarked(search: Search): void {
  const { plan, kin, turns, taken, ambiguous, doubted } = search
  let isMoved = false
  const named = plan.runs.map(({ marks }, at) => {
    const own = turns[at] ?? []
    const known = [...new Set(marks)].flatMap((id) => kin.turn(id) ?? [])
    const likely = known.filter((turn) => !taken.has(turn) && !isNamedElsewhere(search, turn, at))
    isMoved ||= known.some((turn) => !likely.includes(turn) && !own.includes(turn))
    return own.length > 0 || ambiguous.has(at) ? [] : likely
  })
  if (named.every((likely) => likely.length === 0)) return
  const believed = selectTrustedMarkers({ runs: plan.runs, kin, attached: turns, named, isMoved })
  for (const [at, own] of believed.turns.entries()) {
    for (const turn of own) take(search, at, turn)
  }
  for (const turn of believed.doubted) doubted.add(turn)
}

/** Whether the fingerprint of a turn says that it is another run of this very list. */
function isNamedElsewhere(
  { runNamed }: Pick<Search, 'runNamed'>,
  turn: RecordedTurn,
  at: number,
): boolean {
  if (turn.fingerprint === null) return false
  return (runNamed.get(turn.fingerprint) ?? at) !== at
}

/** From the newest run back, for the same reason as above. */
function takeCalled(search: Search): void {
  const { plan, kin, turns, taken, ambiguous } = search
  const isOpen = (run: Segment, at: number) =>
    run.callIds.length > 0 && turns[at]?.length === 0 && !ambiguous.has(at)
  if (!plan.runs.some(isOpen)) return
  const callersOf = indexCallingTurns(kin.all)
  const earlierOf: (RecordedTurn | null)[] = []
  let earlier: RecordedTurn | null = null
  for (const own of turns) {
    earlierOf.push(earlier)
    earlier = own.at(-1) ?? earlier
  }
  let later: RecordedTurn | null = null
  for (const [at, run] of [...plan.runs.entries()].toReversed()) {
    if (isOpen(run, at)) {
      let isOneOfSeveral = false
      for (const call of search.items.slice(run.start, run.end)) {
        const likely = callersOf(call, run).filter(
          (turn) =>
            !isNamedElsewhere(search, turn, at) &&
            !(taken.has(turn) && turns[at]?.includes(turn) === false),
        )
        const turn =
          only(likely) ??
          kin.nearestAncestor(later, likely) ??
          kin.onlyDescendant(earlierOf[at] ?? null, likely)
        if (turn !== null && !taken.has(turn)) take(search, at, turn)
        isOneOfSeveral ||= likely.length > 1
      }
      if (isOneOfSeveral && turns[at]?.length === 0) ambiguous.add(at)
    }
    later = turns[at]?.[0] ?? later
  }
}

/**
 * What says nothing behind the results of tools can be told by its marker alone, and is believed behind the
 * very results that it was given, where the turn that it went on from stands right before it.
 */
function takeSilent(search: Search): void {
  const { plan, kin, turns, taken, ambiguous, doubted } = search
  for (const [at, run] of plan.runs.entries()) {
    if (!isSilent(run) || ambiguous.has(at) || turns[at]?.length !== 0) continue
    const isAsked = plan.runs[at - 1]?.lastAsked !== run.lastAsked
    const before = isAsked ? undefined : turns[at - 1]?.at(-1)
    const likely = [...new Set(run.marks)].flatMap((id) => kin.turn(id) ?? [])
    const turn = only(
      likely.filter((one) => goesOnSilently(one, run, before, kin) && !taken.has(one)),
    )
    if (turn === null) continue
    take(search, at, turn)
    doubted.delete(turn)
  }
}

function isSilent({ words, callIds, results }: Segment): boolean {
  return removeEmptyFences(words) === '' && callIds.length === 0 && results.length > 0
}

function goesOnSilently(
  turn: RecordedTurn,
  run: Segment,
  before: RecordedTurn | undefined,
  kin: TurnAncestry,
): boolean {
  if (kin.parent(turn) !== before || normalizeTurnText([turn]) !== '') return false
  return !turn.input.some(isUserMessage) && hasIdenticalToolOutputs(turn, run)
}

/**
 * An answer that was continued has the turn that it continues within the same run, and so have all
 * turns that are known to lie between two of a run, unless something else was asked there, or they said
 * what the run does not.
 */
function bringAlong({ plan, kin, turns, taken, doubted }: Search, at: number): void {
  const own = turns[at] ?? []
  const run = plan.runs[at]
  if (run === undefined || own[0] === undefined) return
  const said = removeEmptyFences(run.words)
  for (let next = own.length - 1; next > 0; next -= 1) {
    const [from, to] = [own[next - 1], own[next]]
    if (from === undefined || to === undefined) continue
    const between = kin.between(from, to)
    if (between.some((turn) => taken.has(turn) || doubted.has(turn))) continue
    if ([...between, to].some(asksNewQuestion)) continue
    if (!between.every((turn) => said.includes(normalizeTurnText([turn])))) continue
    own.splice(next, 0, ...between)
    for (const turn of between) taken.add(turn)
  }
  for (const turn of findContinuedTurns(own, run, kin, { taken, doubted }).toReversed()) {
    own.unshift(turn)
    taken.add(turn)
    doubted.delete(turn)
  }
}
