/** Checks which new input a stored turn had: a new question, only tool outputs, or nothing. */
import { isToolOutput, textOf, type Item } from '../../core/item.ts'
import { isItemOfAnswer } from '../../core/items/is-item-of-answer.ts'
import type { RecordedTurn } from '../../core/items/recorded-turn.ts'
import { isUserMessage } from '../../core/items/rounds-and-pinned-items.ts'
import { readCallId, type Segment } from '../split-and-fingerprint-segments.ts'

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
