/** Removes the markers from a message; returns the same object if the message has none. */
import type { Message, Part } from '../../core/item.ts'
import { extractMarkers } from '../../core/markers/extract-turn-markers.ts'

/** Returns the message without markers. `edit` can change each text further. */
export function removeMessageMarkers(
  message: Message,
  edit: (text: string) => string = (text) => text,
): Message {
  const content = message.content.map((part) => removePartMarkers(part, edit))
  return content.every((part, index) => part === message.content[index])
    ? message
    : { ...message, content }
}

function removePartMarkers(part: Part, edit: (text: string) => string): Part {
  if (part.type !== 'output_text') return part
  const text = edit(extractMarkers(part.text).text)
  return text === part.text ? part : { ...part, text }
}
