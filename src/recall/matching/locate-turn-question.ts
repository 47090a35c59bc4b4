/**
 * Locates the segments that may answer the question of a recorded turn. Users repeat and edit
 * questions, so tool outputs decide first: if the client still has the outputs of the turn's input,
 * the turn belongs to the segment after them. Call ids repeat, too, so outputs with equal text are
 * preferred.
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
  /** Returns the last line of the turn's question; `''` if it is unknown. */
  readonly findTurnQuestion: (turn: RecordedTurn) => string
  readonly isAskedAt: (turn: RecordedTurn, index: number) => boolean
  /** True if tool outputs of the turn's input come directly before the segment. */
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
    // A turn with tool outputs has its parent's question. The question of a turn with an empty input
    // stays unknown: the turn may continue an answer that was not stored.
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
  /** Returns the segments of the turn's round that come after its tool outputs. */
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

/** Maps a call id to the indexes of the segments directly after an output of the call, with that output. */
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

/**
 * Returns the segments after outputs with equal text, or, if there are none, all segments after
 * outputs with these call ids.
 */
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

/**
 * True if the turn has tool outputs in its input, and all of them come directly before the segment
 * with equal text.
 */
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

/**
 * Lists the tool outputs that the turn answered. Skips earlier history, with which some stored inputs
 * begin.
 */
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
