/**
 * Cuts long tool outputs to their beginning and end, already when they are first sent. A note in between contains the
 * number of missing characters and, if the tool `expand_output` is offered, how the model can read them. JSON stays
 * JSON if it can be made short enough.
 *
 * A cut output, including its note, fits the limit, so a second run does not cut it again. The result depends on the
 * output alone and never changes later.
 */
import {
  isToolOutput,
  type Item,
  type Part,
  type TextPart,
  type ToolOutput,
} from '../../core/item.ts'
import { isTextWithoutNotice } from '../../core/text/gateway-notice.ts'
import { replaceItems } from '../edit-items.ts'
import { splitHeadAndTail } from './split-head-and-tail.ts'
import { createItemEditCache, createOmissionNote, replaceOutputTexts } from './shorten-output.ts'
import { shortenJson } from './shorten-json.ts'
import { ITEM_TRAITS } from '../detect-item-traits.ts'
import type { Transform } from '../transform-interface.ts'

export interface OutputCap {
  /** Max length of an output in UTF-16 code units. At least 200, so that the note fits. */
  readonly maxChars: number
  /** True if the model is offered the tool `expand_output` to read the rest. */
  readonly offersExpandTool: boolean
}

export const EXPAND_OUTPUT_TOOL_NAME = 'expand_output'

export function capOutputs(cap: OutputCap): Transform {
  const capOutput = createOutputCapper(cap)
  return {
    name: 'cap-outputs',
    requiredTraits: ITEM_TRAITS.toolOutput,
    prefixChanges: 'never',
    run: (items) => replaceItems(items, capOutput, 'output-capped'),
  }
}

/** Returns a function that cuts a long tool output. For a short output or another item, it returns the item itself. */
export function createOutputCapper(cap: OutputCap): (item: Item) => Item {
  const settings = `${cap.maxChars} ${cap.offersExpandTool}`
  return (item) => {
    if (!isToolOutput(item) || countChars(item.output) <= cap.maxChars) return item
    return cached(item, settings, () => cutOutput(item, cap))
  }
}

const cached = createItemEditCache()

/** Counts the characters of a tool output. Leaves out notices of the gateway, which the tool did not write. */
function countChars(output: string | readonly Part[]): number {
  if (typeof output === 'string') return output.length
  return output.filter(isTextWithoutNotice).reduce((sum, { text }) => sum + text.length, 0)
}

function cutOutput(item: ToolOutput, cap: OutputCap): Item {
  const { output, call_id } = item
  const texts = typeof output === 'string' ? [] : output.filter(isTextWithoutNotice)
  return typeof output !== 'string' && texts.length > 1
    ? { ...item, output: cutParts(output, texts, call_id, cap) }
    : replaceOutputTexts(item, isTextWithoutNotice, (text) => cutText(text, call_id, cap))
}

function cutText(text: string, callId: string, cap: OutputCap): string {
  const json = cutJson(text, callId, cap)
  if (json !== null) return json
  const { head, note, tail } = cutWithNote(text, callId, cap)
  return `${head}\n${note}\n${tail}`
}

/**
 * Returns the text as shorter JSON, or `null` if that is not possible. If the tool `expand_output` is offered, the hint
 * how to read the rest becomes the last field, e.g. `"… shortened": "Shortened from 9000 characters. To read on, …"`,
 * or the last element of a list.
 */
function cutJson(
  text: string,
  callId: string,
  { maxChars, offersExpandTool }: OutputCap,
): string | null {
  if (!offersExpandTool) return shortenJson(text, maxChars)
  const hint = createHint(callId, 0, Math.floor(maxChars / 2))
  const note = JSON.stringify(`Shortened from ${text.length} characters${hint}`)
  const field = `,"… shortened":${note}`
  const short = shortenJson(text, maxChars - field.length)
  // `{}` and `[]` need no hint, because only white space was left out.
  if (short === null || short.length === 2) return short
  return short.endsWith('}') ? `${short.slice(0, -1)}${field}}` : `${short.slice(0, -1)},${note}]`
}

/** Cuts the text parts of one output as if they were one text. Images and other parts keep their positions. */
function cutParts(
  parts: readonly Part[],
  texts: readonly TextPart[],
  callId: string,
  cap: OutputCap,
): readonly Part[] {
  const joined = texts.map(({ text }) => text).join('')
  const { head, note, tail } = cutWithNote(joined, callId, cap)
  const tailStart = joined.length - tail.length
  let next = 0
  let hasNote = false
  return parts.flatMap((part): readonly Part[] => {
    if (!isTextWithoutNotice(part)) return [part]
    const start = next
    next += part.text.length
    if (next <= head.length) return [part]
    const notePart = hasNote ? [] : [{ type: part.type, text: note }]
    hasNote = true
    const withText = (text: string) => {
      if (text === '') return []
      return [text === part.text ? part : { ...part, text }]
    }
    return [
      ...withText(part.text.slice(0, Math.max(0, head.length - start))),
      ...notePart,
      ...withText(part.text.slice(Math.max(0, tailStart - start))),
    ]
  })
}

function cutWithNote(text: string, callId: string, { maxChars, offersExpandTool }: OutputCap) {
  const { length } = text
  const longestNote = createOmissionNote(length, createHint(callId, length, length))
  // A very long call id would leave too little of the output, so the hint is omitted.
  const isHinted = offersExpandTool && longestNote.length <= maxChars / 2
  const noteChars = isHinted ? longestNote.length : createOmissionNote(length).length
  // Two line breaks surround the note.
  const chars = Math.max(0, Math.floor((maxChars - noteChars - 2) / 2))
  const { head, tail, omittedChars } = splitHeadAndTail(text, chars, chars)
  const hint = isHinted ? createHint(callId, head.length, length - tail.length) : ''
  return { head, note: createOmissionNote(omittedChars, hint), tail }
}

/** Returns the end of a note: how the model can read the characters from `from` to `to` of the output. */
function createHint(callId: string, from: number, to: number): string {
  const range = JSON.stringify({ call_id: callId, from, to })
  return `. To read on, call ${EXPAND_OUTPUT_TOOL_NAME} with ${range}.`
}
