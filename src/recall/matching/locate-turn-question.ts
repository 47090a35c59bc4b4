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
  readonly findTurnQuestion: (turn: RecordedTurn) => string
  readonly isAskedAt: (turn: RecordedTurn, index: number) => boolean
  /** Whether results that it was given stand in front of the run. */
  readonly hasOutputsAt: (turn: RecordedTurn, index: number) => boolean
}

export function createQuestionLocator(
  segments: readonly Segment[],
  ancestry: TurnAncestry,
): QuestionLocator {
  const cachedQuestions = new Map<RecordedTurn, string>()
  const findQuestion = (turn: RecordedTurn): string => {
    const cached = cachedQuestions.get(turn)
    if (cached !== undefined) return cached
    let question = findQuestionLine(turn.input)
    let { input } = turn
    // With the results of tools it went on from its parent. What went on with nothing new may have
    // done so from an answer that was not kept.
    for (const ancestor of ancestry.listAncestors(turn)) {
      if (question !== '' || input.length === 0) break
      question = cachedQuestions.get(ancestor) ?? findQuestionLine(ancestor.input)
      input = ancestor.input
    }
    cachedQuestions.set(turn, question)
    return question
  }
  const outputPositions = indexOutputPositions(segments)
  const cachedSegments = new Map<RecordedTurn, ReadonlySet<number>>()
  /** The runs of its round in front of which its results stand. */
  const findOwnSegments = (turn: RecordedTurn): ReadonlySet<number> => {
    const cached = cachedSegments.get(turn)
    if (cached !== undefined) return cached
    const question = findQuestion(turn)
    const isSameRound = (index: number) => segments[index]?.questionLine === question
    const matches = new Set(findSegmentsAfterOutputs(turn, outputPositions, isSameRound))
    cachedSegments.set(turn, matches)
    return matches
  }
  return {
    findTurnQuestion: findQuestion,
    hasOutputsAt: (turn, index) =>
      listNewOutputs(turn).some((item) =>
        listOutputCallIds(item).some((id) => outputPositions.get(id)?.has(index)),
      ),
    isAskedAt(turn, index) {
      const question = findQuestion(turn)
      const segment = segments[index]
      if (question === '' || question !== segment?.questionLine) return false
      if (includesNextQuestion(turn.input, segment)) return false
      const ownSegments = findOwnSegments(turn)
      return ownSegments.size > 0 ? ownSegments.has(index) : segment.toolOutputs.length === 0
    },
  }
}

/** Under the id of a call the runs that its result stands in front of, and that result. */
type OutputPositions = ReadonlyMap<string, ReadonlyMap<number, Item>>

function indexOutputPositions(segments: readonly Segment[]): OutputPositions {
  const outputPositions = new Map<string, Map<number, Item>>()
  for (const [index, { toolOutputs }] of segments.entries()) {
    for (const item of toolOutputs) {
      for (const id of listOutputCallIds(item)) {
        const positions = outputPositions.get(id)
        if (positions === undefined) outputPositions.set(id, new Map([[index, item]]))
        else positions.set(index, item)
      }
    }
  }
  return outputPositions
}

/** Those with the very results, if there are any, or else all with results of these ids. */
function findSegmentsAfterOutputs(
  turn: RecordedTurn,
  outputPositions: OutputPositions,
  isCandidate: (index: number) => boolean,
): readonly number[] {
  const matches = listNewOutputs(turn).flatMap((output) =>
    listOutputCallIds(output)
      .flatMap((id) => [...(outputPositions.get(id) ?? [])])
      .filter(([index]) => isCandidate(index))
      .map(([index, item]) => ({
        index,
        isIdentical: readOutputText(item) === readOutputText(output),
      })),
  )
  const identical = matches.filter(({ isIdentical }) => isIdentical)
  return (identical.length > 0 ? identical : matches).map(({ index }) => index)
}

/** Whether it was given results, and these very ones stand in front of the run. */
export function hasIdenticalToolOutputs(turn: RecordedTurn, { toolOutputs }: Segment): boolean {
  const newOutputs = listNewOutputs(turn)
  const clientOutputs = new Set(toolOutputs.map(serializeOutput))
  return (
    newOutputs.length > 0 &&
    newOutputs.every((output) => clientOutputs.has(serializeOutput(output)))
  )
}

function serializeOutput(output: Item): string {
  return JSON.stringify([listOutputCallIds(output), readOutputText(output)])
}

/** The results that were new to it. Some turns are stored with all that was said before. */
function listNewOutputs({ input }: RecordedTurn): readonly Item[] {
  const end = input.findLastIndex((item) => !isModelItem(item)) + 1
  const inputOfTurn = input.slice(0, end)
  return inputOfTurn
    .slice(inputOfTurn.findLastIndex(isModelItem) + 1)
    .filter((item) => listOutputCallIds(item).length > 0)
}

function readOutputText(output: Item): string {
  if (!isToolOutput(output)) return JSON.stringify(output.type === 'opaque' ? output.raw : null)
  return typeof output.output === 'string' ? output.output : textOf(output.output)
}
