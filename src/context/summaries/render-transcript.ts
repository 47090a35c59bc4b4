/**
 * A conversation as text, for a model that is to sum it up. One entry for each item; what is long
 * is shortened to its beginning and its end, so that no single output drowns all others. What was
 * said is indented, and so can never be taken for a word of ours.
 */
import { textOfPart, type Item, type OpaqueItem, type Part } from '../../core/item.ts'
import { splitHeadAndTail } from '../tool-outputs/split-head-and-tail.ts'

/** The outputs that the model has not answered yet are what it needs most. */
export function renderTranscript(items: readonly Item[]): readonly string[] {
  const answered = items.findLastIndex((item) => item.type === 'message')
  return items.flatMap((item, at) => entryOf(item, at > answered) ?? [])
}

const MAX_MESSAGE_CHARS = 20_000
const MAX_ARGUMENTS_CHARS = 2_000
const MAX_OUTPUT_CHARS = 4_000
const MAX_FRESH_OUTPUT_CHARS = 20_000

/** `null` for what says nothing to a reader: thoughts are the model's own, and often sealed. */
function entryOf(item: Item, isFresh: boolean): string | null {
  const outputChars = isFresh ? MAX_FRESH_OUTPUT_CHARS : MAX_OUTPUT_CHARS
  switch (item.type) {
    case 'message':
      return entry(item.role, short(told(item.content), MAX_MESSAGE_CHARS))
    case 'reasoning':
      return null
    case 'function_call':
      return entry(`assistant calls ${item.name}`, short(item.arguments, MAX_ARGUMENTS_CHARS))
    case 'custom_tool_call':
      return entry(`assistant calls ${item.name}`, short(item.input, MAX_ARGUMENTS_CHARS))
    case 'function_call_output':
    case 'custom_tool_call_output':
      return entry('tool answers', short(told(item.output), outputChars))
    case 'opaque':
      return toldOpaque(item, outputChars)
  }
}

function entry(who: string, said: string): string {
  return `[${who}]\n  ${said.replaceAll('\n', '\n  ')}`
}

function told(content: string | readonly Part[]): string {
  if (typeof content === 'string') return content
  return content.map(toldPart).join('\n')
}

function toldPart(part: Part): string {
  switch (part.type) {
    case 'input_text':
    case 'output_text':
    case 'refusal':
      return textOfPart(part)
    case 'input_image':
      return '[an image]'
    case 'input_file':
      return `[a file${part.filename === undefined ? '' : `: ${part.filename}`}]`
    case 'input_audio':
      return '[a recording]'
    case 'opaque':
      return '[something else]'
  }
}

/** Whatever a hosted tool has done, without what only a machine can read. */
function toldOpaque(item: OpaqueItem, maxChars: number): string {
  if (item.raw['type'] === 'compaction') return '[an earlier summary that cannot be read]'
  const { type, id: _id, status: _status, encrypted_content: _sealed, ...rest } = item.raw
  const text = JSON.stringify(rest, (_, value: unknown) =>
    typeof value === 'string' ? short(value, maxChars / 2) : value,
  )
  return entry(typeof type === 'string' ? type : 'something', short(text, maxChars))
}

function short(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text
  const headChars = Math.floor((maxChars * 2) / 3)
  const { head, tail, leftOut } = splitHeadAndTail(text, headChars, Math.floor(maxChars / 3))
  return `${head}\n[… ${leftOut} characters left out …]\n${tail}`.toWellFormed()
}
