/**
 * Reads the ids that Open WebUI gives to a chat and its messages, from the headers of its connection. Playground, tasks
 * and programs that use Open WebUI's own API have no message; their headers are empty.
 */
import type { AnswerMessageIds } from '../../core/client/answer-message-ids.ts'
import { readOptionalHeader } from './read-optional-header.ts'

/** Returns the ids of the chat and of the message that is answered; null if one of them is missing or too long. */
export function readAnswerMessageIds(headers: Headers): AnswerMessageIds | null {
  const chat = readOptionalHeader(headers, 'x-backstory-chat')
  const message = readOptionalHeader(headers, 'x-backstory-message')
  if (chat === null || message === null) return null
  const parent = headers.get('x-backstory-user-parent')
  const ids = { chat, message, parent: parent?.startsWith('{{') === true ? null : parent }
  return Object.values(ids).some((id) => id !== null && id.length > MAX_ID_CHARS) ? null : ids
}

/** The ids of Open WebUI have 36 characters, and up to 60 for a temporary chat. */
const MAX_ID_CHARS = 256
