/** Renders the preview of an item: its text or call, in one line of at most 80 characters. */
import type { Item, Part } from '../core/item.ts'

export function previewItem(item: Item): string {
  switch (item.type) {
    case 'message':
      return previewText(joinContent(item.content))
    case 'function_call':
      return previewText(`${item.name}(${item.arguments.slice(0, READ_CHARS)})`)
    case 'custom_tool_call':
      return previewText(`${item.name}: ${item.input.slice(0, READ_CHARS)}`)
    case 'function_call_output':
    case 'custom_tool_call_output':
      return previewText(typeof item.output === 'string' ? item.output : joinContent(item.output))
    case 'reasoning':
      return previewText(reasoningText(item))
    case 'opaque':
      return previewText(typeof item.raw['type'] === 'string' ? item.raw['type'] : 'unknown')
  }
}

const MAX_CHARS = 80
/** Maximum characters that are read of a text. After repeated spaces are joined, 80 of 160 usually remain. */
const READ_CHARS = 160

function joinContent(content: readonly Part[]): string {
  const [only] = content
  if (content.length === 1 && only !== undefined && 'text' in only) return only.text
  const words = content
    .slice(0, 4)
    .map((part) => ('text' in part ? part.text : PART_LABELS[part.type]))
  return words.map((word = '') => word.slice(0, READ_CHARS)).join(' ')
}

const PART_LABELS: Readonly<Record<string, string>> = {
  input_image: '[image]',
  input_file: '[file]',
  input_audio: '[audio]',
  opaque: '[part]',
  refusal: '[refusal]',
}

function reasoningText({ summary, content }: Extract<Item, { type: 'reasoning' }>): string {
  const words = content?.[0]?.text ?? summary[0]?.text ?? ''
  return words === '' ? '[sealed]' : words
}

/** Returns the beginning of a text as one line of at most 80 characters. A truncated line ends with `…`. */
export function previewText(text: string): string {
  const line = text.slice(0, READ_CHARS).replace(BLANKS, ' ').trim()
  if (line.length <= MAX_CHARS) return line
  const isHalf = /[\ud800-\udbff]/.test(line[MAX_CHARS - 2] ?? '')
  return `${line.slice(0, isHalf ? MAX_CHARS - 2 : MAX_CHARS - 1)}…`
}

/** Matches line breaks, tabs and repeated spaces, but not a single space. */
const BLANKS = /[^\S ]\s*| \s+/g
