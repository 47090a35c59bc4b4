/**
 * Checks whether the text of an answer in a client's list equals the recorded text. Changes that a
 * client program makes by itself do not count: it joins messages with two, one or no line breaks,
 * trims them, changes line ends, puts markers into code, or removes think blocks. Any other
 * difference is an edit by the user, even if only the indentation differs.
 */
import { textOf, type Message } from '../../core/item.ts'
import { removeMarkerLikeText } from '../../core/markers/format-and-extract-markers.ts'
import { findMessages } from './find-recorded-messages.ts'
import { skipWhitespace } from './find-text-piece.ts'
import { normalizeLineBreaks } from './normalize-text.ts'

/**
 * Returns `null` if the user edited the text. Otherwise, returns the indexes of the recorded
 * messages that the client has with other blank lines, other trailing whitespace, damaged markers,
 * or without think blocks. The caller must remove undamaged markers from `clientMessages`.
 */
export function matchUneditedText(
  recorded: readonly Message[],
  clientMessages: readonly Message[],
): ReadonlySet<number> | null {
  const clientText = clientMessages
    .map(({ content }) => normalizeLineBreaks(textOf(content)).trim())
    .join('\n\n')
  const match = matchAllMessages(clientText, recorded)
  if (match !== null) return match
  const textWithoutMarkers = removeDamagedMarkersOfText(clientText)
  if (textWithoutMarkers === clientText) return null
  const cleanedMessages = recorded.map(removeDamagedMarkers)
  return matchAllMessages(textWithoutMarkers, cleanedMessages) && new Set(recorded.keys())
}

function matchAllMessages(
  clientText: string,
  recorded: readonly Message[],
): ReadonlySet<number> | null {
  const matches = findMessages(clientText, 0, recorded, false)
  const end = matches.at(-1)?.end ?? 0
  const isEdited =
    matches.length < recorded.length ||
    skipWhitespace(clientText, end) < clientText.length ||
    matches.some(({ difference }) => difference === 'whitespace')
  if (isEdited) return null
  return new Set(matches.flatMap(({ difference }, index) => (difference === 'form' ? [index] : [])))
}

/** Returns the message without text that looks like a damaged marker. */
export function removeDamagedMarkers(message: Message): Message {
  const content = message.content.map((part) => {
    const text = part.type === 'output_text' ? removeDamagedMarkersOfText(part.text) : ''
    return part.type === 'output_text' && text !== part.text ? { ...part, text } : part
  })
  return content.every((part, index) => part === message.content[index])
    ? message
    : { ...message, content }
}

/** Removes text that looks like a damaged marker, and code fences that contained nothing else. */
function removeDamagedMarkersOfText(text: string): string {
  const textWithoutMarkers = removeMarkerLikeText(text)
  if (textWithoutMarkers === text) return text
  const lines: string[] = []
  /** Indexes in `lines` of the lines that are not blank. */
  const nonBlankLines: number[] = []
  for (const line of textWithoutMarkers.split('\n')) {
    const previousLine = nonBlankLines.at(-1)
    if (previousLine !== undefined && isFence(line) && isFence(lines[previousLine] ?? '')) {
      lines.length = previousLine
      nonBlankLines.pop()
      continue
    }
    if (line.trim() !== '') nonBlankLines.push(lines.length)
    lines.push(line)
  }
  return lines.join('\n')
}

function isFence(line: string): boolean {
  return /^(?:`{3,}|~{3,})$/.test(line.trim())
}
