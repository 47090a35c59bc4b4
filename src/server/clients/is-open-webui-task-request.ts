/**
 * Whether a request looks like Open WebUI's housekeeping: it asks models for titles, tags, follow-up
 * questions, search queries and more, each with a prompt of its own. Administrators can reword those
 * prompts, so this stands in for the header that says it, and is sure of nothing: what it takes for a
 * chat is remembered in vain, what it takes for a task is not remembered.
 */
import { isObject, type Json, type JsonObject } from '../../core/json/json.ts'

export function isOpenWebUiTaskRequest(body: JsonObject): boolean {
  const { tools } = body
  if (Array.isArray(tools) && tools.length > 0) return false
  const texts = textsOf(body)
  if (texts === null) return false
  // Answers of several models, merged into one: this task alone is shown while it is made.
  if (texts.some((text) => text.startsWith(MERGE))) return true
  return body['stream'] !== true && (texts.some(opensTask) || isToolChoice(texts))
}

const MERGE = 'You have been provided with a set of responses from various models'

const OPENINGS: readonly string[] = [
  '### Task:\nYou are an autocompletion system.',
  '### Task:\nSummarize the conversation history that will be compacted',
  "Your task is to reflect the speaker's likely facial expression",
  "You are Open WebUI's private memory reviewer",
]

/** Where documents are asked about, the question of a chat itself begins like a task. */
const ABOUT_DOCUMENTS = '### Task:\nRespond to the user query'

function opensTask(text: string): boolean {
  if (OPENINGS.some((opening) => text.startsWith(opening))) return true
  return (
    text.startsWith('### Task:\n') &&
    !text.startsWith(ABOUT_DOCUMENTS) &&
    text.includes('<chat_history>')
  )
}

/** How a tool was chosen before models could do so by themselves. */
function isToolChoice([first, second]: readonly string[]): boolean {
  return (
    first?.startsWith('Available Tools: ') === true && second?.startsWith('History:\n') === true
  )
}

/** The words of a request of one or two messages; `null` for one with more, or with none. */
function textsOf({ messages, input, instructions }: JsonObject): readonly string[] | null {
  const asked = messages ?? input
  const list = typeof asked === 'string' ? [{ content: asked }] : asked
  if (!Array.isArray(list) || list.length === 0 || list.length > 2) return null
  const texts = (list as readonly Json[]).map(textOf)
  return typeof instructions === 'string' ? [instructions, ...texts] : texts
}

/** A task says what it wants in its first words, so the first text of a message will do. */
function textOf(message: Json): string {
  const content = isObject(message) ? message['content'] : null
  if (typeof content === 'string') return content
  const first: Json = Array.isArray(content) ? ((content as readonly Json[])[0] ?? null) : null
  const text = isObject(first) ? first['text'] : null
  return typeof text === 'string' ? text : ''
}
