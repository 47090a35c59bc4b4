/**
 * Checks which new input a stored turn had (a new question, only tool outputs, or nothing), and
 * whether several turns answer the same question. Only texts of turns with the same question may
 * have been joined into one answer by a client.
 */
import { isItemOfAnswer } from '../../core/items/is-item-of-answer.ts'
import type { RecordedTurn } from '../../core/items/recorded-turn.ts'
import { isUserMessage } from '../../core/items/rounds-and-pinned-items.ts'
import { readCallId } from '../split-and-fingerprint-segments.ts'
import type { TurnAncestry } from '../turn-ancestry.ts'

/**
 * True if all turns answer the same question, so that a client may have joined their texts into one
 * answer. Turns whose question is unknown are ignored.
 */
export function haveSameQuestion(turns: readonly RecordedTurn[], ancestry: TurnAncestry): boolean {
  const askedTurns = turns.flatMap((turn) => findAskedTurn(turn, ancestry) ?? [])
  return askedTurns.every((askedTurn) => askedTurn === askedTurns[0])
}

/**
 * Finds the turn that received the question which `turn` answers: `turn` itself, or its nearest
 * ancestor whose input has a new question. Returns `null` if there is none.
 */
function findAskedTurn(turn: RecordedTurn, ancestry: TurnAncestry): RecordedTurn | null {
  if (hasNewQuestion(turn)) return turn
  for (const ancestor of ancestry.listAncestors(turn)) if (hasNewQuestion(ancestor)) return ancestor
  return null
}

/**
 * True if the new items in the turn's input are a question of the user. A user message beside tool
 * outputs, e.g. an image that a tool made, is not a question.
 */
export function hasNewQuestion({ input }: RecordedTurn): boolean {
  const newItems = input.slice(input.findLastIndex(isItemOfAnswer) + 1)
  const hasOutputs = newItems.some((item) => readCallId(item, 'output') !== null)
  return newItems.some(isUserMessage) && !hasOutputs
}

/**
 * True if the turn only continues an answer, e.g. one that the user stopped before: its input is
 * empty or ends with a model-made item, so there is no new question or tool output.
 */
export function onlyContinuesAnswer({ input }: RecordedTurn): boolean {
  const lastItem = input.at(-1)
  return lastItem === undefined || isItemOfAnswer(lastItem)
}
