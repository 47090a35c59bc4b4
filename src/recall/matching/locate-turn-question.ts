/**
 * Where a turn was asked, told by the question of its round, and by the results of tools that it was
 * given: where the client still has these, there and nowhere else. Questions repeat, and people edit
 * them; ids of calls repeat as well, and then what the tools have said tells them apart.
 */
import { isToolOutput, textOf, type Item } from '../../core/item.ts'
import { isModelItem } from '../../core/items/is-model-item.ts'
import type { RecordedTurn } from '../../core/items/recorded-turn.ts'
import type { TurnAncestry } from '../turn-ancestry.ts'
import {
  findQuestionLine,
  listOutputCallIds,
  type Segment,
} from '../split-and-fingerprint-segments.ts'
import { includesNextQuestion } from './compare-questions.ts'

export interface QuestionLocator {
  /** Empty if nobody knows. */
  readonly questionOf: (turn: RecordedTurn) => string
  readonly isAskedAt: (turn: RecordedTurn, at: number) => boolean
  /** Whether results that it was given stand in front of the run. */
  readonly isGivenAt: (turn: RecordedTurn, at: number) => boolean
}

export function createQuestionLocator(
  runs: readonly Segment[],
  kin: TurnAncestry,
): QuestionLocator {
  const known = new Map<RecordedTurn, string>()
  const find = (turn: RecordedTurn): string => {
    const before = known.get(turn)
    if (before !== undefined) return before
    let question = findQuestionLine(turn.input)
    let { input } = turn
    // With the results of tools it went on from its parent. What went on with nothing new may have
    // done so from an answer that was not kept.
    for (const ancestor of kin.ancestors(turn)) {
      if (question !== '' || input.length === 0) break
      question = known.get(ancestor) ?? findQuestionLine(ancestor.input)
      input = ancestor.input
    }
    known.set(turn, question)
    return question
  }
  const given = runsGiven(runs)
  const places = new Map<RecordedTurn, ReadonlySet<number>>()
  /** The runs of its round in front of which its results stand. */
  const placesOf = (turn: RecordedTurn): ReadonlySet<number> => {
    const before = places.get(turn)
    if (before !== undefined) return before
    const question = find(turn)
    const found = new Set(placesGiven(turn, given, (at) => runs[at]?.question === question))
    places.set(turn, found)
    return found
  }
  return {
    questionOf: find,
    isGivenAt: (turn, at) =>
      resultsFor(turn).some((item) => listOutputCallIds(item).some((id) => given.get(id)?.has(at))),
    isAskedAt(turn, at) {
      const question = find(turn)
      const run = runs[at]
      if (question === '' || question !== run?.question) return false
      if (includesNextQuestion(turn.input, run)) return false
      const own = placesOf(turn)
      return own.size > 0 ? own.has(at) : run.results.length === 0
    },
  }
}

/** Under the id of a call the runs that its result stands in front of, and that result. */
type RunsGiven = ReadonlyMap<string, ReadonlyMap<number, Item>>

function runsGiven(runs: readonly Segment[]): RunsGiven {
  const given = new Map<string, Map<number, Item>>()
  for (const [at, { results }] of runs.entries()) {
    for (const item of results) {
      for (const id of listOutputCallIds(item)) {
        const there = given.get(id)
        if (there === undefined) given.set(id, new Map([[at, item]]))
        else there.set(at, item)
      }
    }
  }
  return given
}

/** Those with the very results, if there are any, or else all with results of these ids. */
function placesGiven(
  turn: RecordedTurn,
  given: RunsGiven,
  isSought: (at: number) => boolean,
): readonly number[] {
  const found = resultsFor(turn).flatMap((result) =>
    listOutputCallIds(result)
      .flatMap((id) => [...(given.get(id) ?? [])])
      .filter(([at]) => isSought(at))
      .map(([at, item]) => ({ at, isSame: saidBy(item) === saidBy(result) })),
  )
  const same = found.filter(({ isSame }) => isSame)
  return (same.length > 0 ? same : found).map(({ at }) => at)
}

/** Whether it was given results, and these very ones stand in front of the run. */
export function hasIdenticalToolOutputs(turn: RecordedTurn, { results }: Segment): boolean {
  const own = resultsFor(turn)
  const there = new Set(results.map(resultText))
  return own.length > 0 && own.every((result) => there.has(resultText(result)))
}

function resultText(result: Item): string {
  return JSON.stringify([listOutputCallIds(result), saidBy(result)])
}

/** The results that were new to it. Some turns are stored with all that was said before. */
function resultsFor({ input }: RecordedTurn): readonly Item[] {
  const end = input.findLastIndex((item) => !isModelItem(item)) + 1
  const news = input.slice(0, end)
  return news
    .slice(news.findLastIndex(isModelItem) + 1)
    .filter((item) => listOutputCallIds(item).length > 0)
}

function saidBy(result: Item): string {
  if (!isToolOutput(result)) return JSON.stringify(result.type === 'opaque' ? result.raw : null)
  return typeof result.output === 'string' ? result.output : textOf(result.output)
}
