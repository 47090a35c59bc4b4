/**
 * Shortens long outputs of tools in old rounds to their beginning and their end, with a note in
 * between that says how much is missing. What is JSON stays JSON (`shortenJson`).
 *
 * The border between old and new moves in steps of `step` rounds, counted from the first round. If
 * it moved with every round, each question would change the prompt's prefix: that costs more at a
 * provider with a cache than to send everything whole. Nothing in the text depends on the age.
 */
import type { CustomCallOutput, FunctionCallOutput, Part } from '../conversation/item.ts'
import { roundStarts } from '../conversation/rounds.ts'
import type { Note } from '../conversation/note.ts'
import { headAndTail } from './head-and-tail.ts'
import { oncePerItem } from './once-per-item.ts'
import { shortenJson } from './shorten-json.ts'
import type { Transform } from './transform.ts'

export interface Shortening {
  /** So many rounds before the newest one stay whole; with 0 the newest one alone does. */
  readonly rounds: number
  readonly step?: number
  /** Characters are counted as JavaScript does, in UTF-16. */
  readonly minChars?: number
  readonly headChars?: number
  readonly tailChars?: number
}

export function shortenToolOutputs({
  rounds,
  step = Math.max(1, Math.min(5, rounds)),
  minChars = 800,
  headChars = 256,
  tailChars = 128,
}: Shortening): Transform {
  const shorten = (text: string) => shortened(text, { minChars, headChars, tailChars })
  const settings = `${minChars} ${headChars} ${tailChars}`
  return {
    name: 'shorten-tool-outputs',
    run(items) {
      const starts = roundStarts(items)
      const border = Math.floor((starts.length - 1 - rounds) / step) * step
      const oldEnd = border > 0 ? (starts[border] ?? 0) : 0
      const notes: Note[] = []
      const rebuilt = items.map((item, at) => {
        if (at >= oldEnd) return item
        if (item.type !== 'function_call_output' && item.type !== 'custom_tool_call_output') {
          return item
        }
        const short = once(item, settings, () => withShortOutput(item, shorten))
        if (short !== item) notes.push({ did: 'changed', at, why: 'output-too-old' })
        return short
      })
      return notes.length === 0 ? { items, notes } : { items: rebuilt, notes }
    },
  }
}

const once = oncePerItem()

type Output = FunctionCallOutput | CustomCallOutput

function withShortOutput(item: Output, shorten: (text: string) => string): Output {
  if (typeof item.output === 'string') {
    const output = shorten(item.output)
    return output === item.output ? item : { ...item, output }
  }
  const output = item.output.map((part) => withShortText(part, shorten))
  return output.every((part, at) => part === item.output[at]) ? item : { ...item, output }
}

/** An image or a file stays as it is. */
function withShortText(part: Part, shorten: (text: string) => string): Part {
  if (part.type !== 'input_text' && part.type !== 'output_text') return part
  const text = shorten(part.text)
  return text === part.text ? part : { ...part, text }
}

function shortened(
  text: string,
  { minChars, headChars, tailChars }: Required<Omit<Shortening, 'rounds' | 'step'>>,
): string {
  if (text.length < minChars || text.length <= headChars + tailChars) return text
  return (
    shortenJson(text, headChars + LONGEST_NOTE + tailChars) ?? cutText(text, headChars, tailChars)
  )
}

function cutText(text: string, headChars: number, tailChars: number): string {
  if (isShortened(text, headChars, tailChars)) return text
  const { head, tail, leftOut } = headAndTail(text, headChars, tailChars)
  const short = `${head}\n[${leftOut}${LEFT_OUT}\n${tail}`
  return short.length < text.length ? short : text
}

const LEFT_OUT = ' characters of this tool output were left out here]'
const LONGEST_NOTE = `\n[${Number.MAX_SAFE_INTEGER}${LEFT_OUT}\n`.length

/** Only a limit lower than what is left over comes here: by default, short texts are let alone. */
function isShortened(text: string, headChars: number, tailChars: number): boolean {
  if (text.length > headChars + LONGEST_NOTE + tailChars) return false
  const note = /\n\[\d+ characters of this tool output were left out here\]\n/g
  // A head that would have ended inside of a character is one shorter.
  note.lastIndex = Math.max(0, headChars - 1)
  const found = note.exec(text)
  if (found === null || found.index > headChars) return false
  const tail = text.length - note.lastIndex
  return tail === tailChars || tail === tailChars - 1
}
