/**
 * Cuts outputs of tools that are too long, when they are first seen and once and for all: to their
 * beginning and their end, with a note in between that says how much is missing and how the model can
 * read it. What is JSON stays JSON (`shortenJson`).
 *
 * What comes out depends on the output alone, so a prompt never changes for it, and it is no longer
 * than the limit, note and all: that is how one that was cut is known. No wording of the tool's counts.
 */
import {
  isToolOutput,
  type Item,
  type Part,
  type TextPart,
  type ToolOutput,
} from '../../core/item.ts'
import { isTextWithoutNotice } from '../../core/text/gateway-notice.ts'
import { replaceItems } from '../map-items-with-notes.ts'
import { splitHeadAndTail } from './split-head-and-tail.ts'
import { createItemMemo } from './memoize-per-item.ts'
import { shortenJson } from './shorten-json.ts'
import { ITEM_TRAITS } from '../scan-items.ts'
import type { Transform } from '../transform-interface.ts'

export interface OutputCap {
  /** At least 200: the note must have room. Characters are counted as JavaScript does, in UTF-16. */
  readonly maxChars: number
  /** Whether the model is offered the tool to read the rest. */
  readonly expand: boolean
}

export const EXPAND_OUTPUT_TOOL_NAME = 'expand_output'

export function capOutputs(cap: OutputCap): Transform {
  const capped = createOutputCapper(cap)
  return {
    name: 'cap-outputs',
    needs: ITEM_TRAITS.toolOutput,
    prefixStability: 'none',
    run: (items) => replaceItems(items, capped, 'output-capped'),
  }
}

/** The same item, if it is no output, or not too long. */
export function createOutputCapper(cap: OutputCap): (item: Item) => Item {
  const settings = `${cap.maxChars} ${cap.expand}`
  return (item) => {
    if (!isToolOutput(item)) return item
    if (charsIn(item.output) <= cap.maxChars) return item
    return once(item, settings, () => cut(item, cap))
  }
}

const once = createItemMemo()

/** What the gateway says there of itself is nothing that a tool has put out. */
function charsIn(output: string | readonly Part[]): number {
  if (typeof output === 'string') return output.length
  let chars = 0
  for (const part of output) if (isTextWithoutNotice(part)) chars += part.text.length
  return chars
}

function cut(item: ToolOutput, cap: OutputCap): Item {
  const { output, call_id } = item
  if (typeof output === 'string') return { ...item, output: cutText(output, call_id, cap) }
  const texts = output.filter(isTextWithoutNotice)
  if (texts.length > 1) return { ...item, output: cutParts(output, texts, call_id, cap) }
  const short = (part: Part) =>
    isTextWithoutNotice(part) ? { ...part, text: cutText(part.text, call_id, cap) } : part
  return { ...item, output: output.map(short) }
}

function cutText(text: string, callId: string, cap: OutputCap): string {
  const json = cutJson(text, callId, cap)
  if (json !== null) return json
  const { head, note, tail } = pieces(text, callId, cap)
  return `${head}\n${note}\n${tail}`
}

/** With the hint as the last field, or the last element, where there is one to give. */
function cutJson(text: string, callId: string, { maxChars, expand }: OutputCap): string | null {
  const hint = expand ? hintFor({ callId, from: 0, to: Math.floor(maxChars / 2) }) : ''
  if (hint === '') return shortenJson(text, maxChars)
  const said = JSON.stringify(`Shortened from ${text.length} characters.${hint}`)
  const field = `,"… shortened":${said}`
  const short = shortenJson(text, maxChars - field.length)
  // All that was too much were blanks.
  if (short === null || short.length === 2) return short
  return short.endsWith('}') ? `${short.slice(0, -1)}${field}}` : `${short.slice(0, -1)},${said}]`
}

/** A text in several parts is cut as if it were one. Images and the like stay where they are. */
function cutParts(
  parts: readonly Part[],
  texts: readonly TextPart[],
  callId: string,
  cap: OutputCap,
): readonly Part[] {
  const whole = texts.map(({ text }) => text).join('')
  const { head, note, tail } = pieces(whole, callId, cap)
  const tailStart = whole.length - tail.length
  let start = 0
  let isTold = false
  return parts.flatMap((part): readonly Part[] => {
    if (!isTextWithoutNotice(part)) return [part]
    const from = start
    start += part.text.length
    if (start <= head.length) return [part]
    const told = isTold ? [] : [{ type: part.type, text: note }]
    isTold = true
    const left = (text: string) => {
      if (text === '') return []
      return [text === part.text ? part : { ...part, text }]
    }
    return [
      ...left(part.text.slice(0, Math.max(0, head.length - from))),
      ...told,
      ...left(part.text.slice(Math.max(0, tailStart - from))),
    ]
  })
}

interface Pieces {
  readonly head: string
  readonly note: string
  readonly tail: string
}

function pieces(text: string, callId: string, { maxChars, expand }: OutputCap): Pieces {
  const { length } = text
  const longest = noteFor({ callId, from: length, to: length }, length, expand)
  // Some call ids are longer than what would be left of the output.
  const isHinted = expand && longest.length <= maxChars / 2
  const noteChars = isHinted ? longest.length : noteFor(null, length, false).length
  // Two line breaks go around it.
  const chars = Math.max(0, Math.floor((maxChars - noteChars - 2) / 2))
  const { head, tail, leftOut } = splitHeadAndTail(text, chars, chars)
  const missing = { callId, from: head.length, to: length - tail.length }
  return { head, note: noteFor(missing, leftOut, isHinted), tail }
}

/** Which characters of whose output. */
interface Missing {
  readonly callId: string
  readonly from: number
  readonly to: number
}

function noteFor(missing: Missing | null, leftOut: number, isHinted: boolean): string {
  const hint = missing === null || !isHinted ? '' : `.${hintFor(missing)}`
  return `[${leftOut} characters of this tool output were left out here${hint}]`
}

function hintFor({ callId, from, to }: Missing): string {
  const range = JSON.stringify({ call_id: callId, from, to })
  return ` To read on, call ${EXPAND_OUTPUT_TOOL_NAME} with ${range}.`
}
