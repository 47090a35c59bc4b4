/**
 * Renders a conversation as text for a model that summarizes it, with one entry per item. Long items are cut
 * to their beginning and end, so that no single item fills the prompt. The text of an item is indented, so that it
 * cannot imitate the heading of another entry, e.g. `[user]`.
 */
import { textOfPart, type Item, type OpaqueItem, type Part } from '../../core/item.ts'
import { cutMiddle } from '../tool-outputs/split-head-and-tail.ts'

/**
 * Returns one text for each item except reasoning. Tool outputs after the last message are cut to 20,000 characters
 * instead of 4,000, because the model has not used them yet.
 */
export function renderTranscript(items: readonly Item[]): readonly string[] {
  const lastMessage = items.findLastIndex((item) => item.type === 'message')
  return items.flatMap((item, index) => renderItem(item, index > lastMessage) ?? [])
}

const MAX_MESSAGE_CHARS = 20_000
const MAX_ARGUMENTS_CHARS = 2_000
const MAX_OUTPUT_CHARS = 4_000
const MAX_FRESH_OUTPUT_CHARS = 20_000

/** Returns the transcript entry of an item, or `null` for reasoning, which is often encrypted. */
function renderItem(item: Item, isFresh: boolean): string | null {
  const outputChars = isFresh ? MAX_FRESH_OUTPUT_CHARS : MAX_OUTPUT_CHARS
  switch (item.type) {
    case 'message':
      return renderEntry(item.role, shorten(renderContent(item.content), MAX_MESSAGE_CHARS))
    case 'reasoning':
      return null
    case 'function_call':
    case 'custom_tool_call': {
      const input = item.type === 'function_call' ? item.arguments : item.input
      return renderEntry(`assistant calls ${item.name}`, shorten(input, MAX_ARGUMENTS_CHARS))
    }
    case 'function_call_output':
    case 'custom_tool_call_output':
      return renderEntry('tool answers', shorten(renderContent(item.output), outputChars))
    case 'opaque':
      return renderOpaqueItem(item, outputChars)
  }
}

function renderEntry(heading: string, text: string): string {
  return `[${heading}]\n  ${text.replaceAll('\n', '\n  ')}`
}

function renderContent(content: string | readonly Part[]): string {
  if (typeof content === 'string') return content
  return content.map(renderPart).join('\n')
}

function renderPart(part: Part): string {
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

/**
 * Renders the fields of an item of a hosted tool, without its id and encrypted content. A compaction, which is
 * encrypted, is only mentioned.
 */
function renderOpaqueItem(item: OpaqueItem, maxChars: number): string {
  if (item.raw['type'] === 'compaction') return '[an earlier summary that cannot be read]'
  const { type, id: _id, status: _status, encrypted_content: _encrypted, ...rest } = item.raw
  const text = JSON.stringify(rest, (_, value: unknown) =>
    typeof value === 'string' ? shorten(value, maxChars / 2) : value,
  )
  return renderEntry(typeof type === 'string' ? type : 'something', shorten(text, maxChars))
}

/** Shortens a text to about `maxChars`: two thirds from its beginning and one third from its end. */
function shorten(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text
  return cutMiddle(text, Math.floor((maxChars * 2) / 3), Math.floor(maxChars / 3)).toWellFormed()
}
