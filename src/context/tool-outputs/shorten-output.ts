/**
 * One output of a tool, shortened to its beginning and its end, with a note in between that says how
 * much is missing. What is JSON stays JSON (`shortenJson`), and what comes out depends on the output alone.
 */
import { isToolOutput, type Item, type Part, type ToolOutput } from '../../core/item.ts'
import { splitHeadAndTail } from './split-head-and-tail.ts'
import { createItemMemo } from './memoize-per-item.ts'
import { shortenJson } from './shorten-json.ts'

/** Characters are counted as JavaScript does, in UTF-16. */
export interface OutputLengths {
  readonly minChars: number
  readonly headChars: number
  readonly tailChars: number
}

/** The same item, if it is no output, or not too long. */
export function createOutputShortener(lengths: OutputLengths): (item: Item) => Item {
  const { minChars, headChars, tailChars } = lengths
  const settings = `${minChars} ${headChars} ${tailChars}`
  const shorten = (text: string) => shortened(text, lengths)
  return (item) => {
    if (!isToolOutput(item)) return item
    return once(item, settings, () => withShortOutput(item, shorten))
  }
}

const once = createItemMemo()

function withShortOutput(item: ToolOutput, shorten: (text: string) => string): ToolOutput {
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

function shortened(text: string, { minChars, headChars, tailChars }: OutputLengths): string {
  if (text.length < minChars || text.length <= headChars + tailChars) return text
  return (
    shortenJson(text, headChars + LONGEST_NOTE + tailChars) ?? cutText(text, headChars, tailChars)
  )
}

function cutText(text: string, headChars: number, tailChars: number): string {
  if (isShortened(text, headChars, tailChars)) return text
  const { head, tail, leftOut } = splitHeadAndTail(text, headChars, tailChars)
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
