/**
 * Finds the answer segments (consecutive model-made items in the client's list) that come after the
 * question of a stored turn. Users repeat and edit questions, so tool outputs decide first: if the
 * client still has the outputs in the turn's input, the turn belongs to the segment after them.
 * Call ids repeat, too, so outputs with the recorded text are preferred to those with only the same
 * id.
 */
import { isToolOutput, textOf, type Item } from '../../core/item.ts'
import { cachePerObject } from '../../core/caching/cache-per-object.ts'
import { isItemOfAnswer } from '../../core/items/is-item-of-answer.ts'
import type { RecordedTurn } from '../../core/items/recorded-turn.ts'
import type { TurnAncestry } from '../turn-ancestry.ts'
import { findQuestionLine, readCallId, type Segment } from '../split-and-fingerprint-segments.ts'
import { answersNextQuestion } from './compare-questions.ts'

export interface SegmentLocator {
  /** Returns the last line of the user message that the turn answers; `''` if it is unknown. */
  readonly findQuestionLineOfTurn: (turn: RecordedTurn) => string
  /**
   * True if the answer segment comes after the turn's question and after one of the tool outputs in
   * the turn's input. If the client has none of these outputs after this question, no output may
   * come between the previous segment and this one.
   */
  readonly isQuestionOfTurnBefore: (turn: RecordedTurn, segmentIndex: number) => boolean
  /**
   * True if the client has an output with a call id from the turn's input between the previous
   * answer segment and this one.
   */
  readonly hasOutputOfTurnBefore: (turn: RecordedTurn, segmentIndex: number) => boolean
}

export function createSegmentLocator(
  segments: readonly Segment[],
  ancestry: TurnAncestry,
): SegmentLocator {
  const cachedQuestions = new Map<RecordedTurn, string>()
  const findQuestion = (turn: RecordedTurn): string => {
    const cached = cachedQuestions.get(turn)
    if (cached !== undefined) return cached
    let question = findQuestionLine(turn.input)
    let { input } = turn
    // A turn whose input has only tool outputs answers its parent's question. If the input is
    // empty, the question stays unknown, because the turn may continue an answer that was not
    // stored.
    for (const ancestor of ancestry.listAncestors(turn)) {
      if (question !== '' || input.length === 0) break
      question = cachedQuestions.get(ancestor) ?? findQuestionLine(ancestor.input)
      input = ancestor.input
    }
    cachedQuestions.set(turn, question)
    return question
  }
  const outputPositions = indexOutputPositions(segments)
  // Returns the indexes of the segments that come after the turn's question and after one of its
  // tool outputs. An output is recognized by its call id. If the client has outputs that also have
  // the recorded text, only segments after those are returned.
  const findSegmentsAfterOutputs = cachePerObject((turn: RecordedTurn): ReadonlySet<number> => {
    const question = findQuestion(turn)
    const matches = listNewOutputs(turn).flatMap((output) =>
      [...(outputPositions.get(readCallId(output, 'output') ?? '') ?? [])]
        .filter(([index]) => segments[index]?.questionLine === question)
        .map(([index, item]) => ({
          index,
          isIdentical: readOutputText(item) === readOutputText(output),
        })),
    )
    const identical = matches.filter(({ isIdentical }) => isIdentical)
    return new Set((identical.length > 0 ? identical : matches).map(({ index }) => index))
  })
  return {
    findQuestionLineOfTurn: findQuestion,
    hasOutputOfTurnBefore: (turn, index) =>
      listNewOutputs(turn).some((item) =>
        outputPositions.get(readCallId(item, 'output') ?? '')?.has(index),
      ),
    isQuestionOfTurnBefore(turn, index) {
      const question = findQuestion(turn)
      const segment = segments[index]
      if (question === '' || question !== segment?.questionLine) return false
      if (answersNextQuestion(turn.input, segment)) return false
      const possibleSegments = findSegmentsAfterOutputs(turn)
      return possibleSegments.size > 0
        ? possibleSegments.has(index)
        : segment.toolOutputs.length === 0
    },
  }
}

/**
 * Positions of the client's tool outputs by call id. Each output is stored under the index of the
 * first answer segment after it.
 */
type OutputPositions = ReadonlyMap<string, ReadonlyMap<number, Item>>

function indexOutputPositions(segments: readonly Segment[]): OutputPositions {
  const outputPositions = new Map<string, Map<number, Item>>()
  for (const [index, { toolOutputs }] of segments.entries()) {
    for (const item of toolOutputs) {
      const id = readCallId(item, 'output') ?? ''
      const positions = outputPositions.get(id) ?? new Map<number, Item>()
      outputPositions.set(id, positions.set(index, item))
    }
  }
  return outputPositions
}

/**
 * True if the turn's input has tool outputs, and the client has each of them, with the same call id
 * and text, between the previous answer segment and this one.
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
  return JSON.stringify([readCallId(output, 'output'), readOutputText(output)])
}

/**
 * Lists the tool outputs that were new in the turn's input. If the input was stored with the
 * complete conversation, the outputs before its last answer are not new.
 */
function listNewOutputs({ input }: RecordedTurn): readonly Item[] {
  const end = input.findLastIndex((item) => !isItemOfAnswer(item)) + 1
  const inputOfTurn = input.slice(0, end)
  return inputOfTurn
    .slice(inputOfTurn.findLastIndex(isItemOfAnswer) + 1)
    .filter((item) => readCallId(item, 'output') !== null)
}

function readOutputText(output: Item): string {
  if (!isToolOutput(output)) return JSON.stringify(output.type === 'opaque' ? output.raw : null)
  return typeof output.output === 'string' ? output.output : textOf(output.output)
}
