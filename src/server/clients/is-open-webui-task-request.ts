/**
 * Recognizes Open WebUI's task requests (titles, tags, follow-up questions, search queries …) by
 * their prompts, if the header `X-Backstory-Task` is missing. Administrators can change the
 * prompts, so the result may be wrong: the gateway then stores a task needlessly, or does not store
 * a chat.
 */
import { isObject, type Json, type JsonObject } from '../../core/json/json.ts'

export function isOpenWebUiTaskRequest(body: JsonObject): boolean {
  const { tools } = body
  if (Array.isArray(tools) && tools.length > 0) return false
  const texts = readMessageTexts(body)
  if (texts === null) return false
  // Merging the answers of several models is the only task that may be streamed.
  if (texts.some((text) => text.startsWith(MERGE_PROMPT))) return true
  return body['stream'] !== true && (texts.some(startsLikeTask) || isToolChoicePrompt(texts))
}

const MERGE_PROMPT = 'You have been provided with a set of responses from various models'

const PROMPT_STARTS: readonly string[] = [
  '### Task:\nYou are an autocompletion system.',
  '### Task:\nSummarize the conversation history that will be compacted',
  "Your task is to reflect the speaker's likely facial expression",
  "You are Open WebUI's private memory reviewer",
]

/** The beginning of an ordinary question about documents, which must not be mistaken for a task. */
const DOCUMENT_QUESTION = '### Task:\nRespond to the user query'

function startsLikeTask(text: string): boolean {
  if (PROMPT_STARTS.some((start) => text.startsWith(start))) return true
  return (
    text.startsWith('### Task:\n') &&
    !text.startsWith(DOCUMENT_QUESTION) &&
    text.includes('<chat_history>')
  )
}

/**
 * True for the prompt with which Open WebUI lets a model without native tool calls choose a tool. In the first
 * round of a chat it has no history.
 */
function isToolChoicePrompt([first, second]: readonly string[]): boolean {
  return (
    first?.startsWith('Available Tools: ') === true && /^(?:History:\n|Query: )/.test(second ?? '')
  )
}

/**
 * Returns the text of each message, after the instructions if there are any; null unless the
 * request has one or two messages.
 */
function readMessageTexts(body: JsonObject): readonly string[] | null {
  const { messages, instructions } = body
  const input = messages ?? body['input']
  const list = typeof input === 'string' ? [{ content: input }] : input
  if (!Array.isArray(list) || list.length === 0 || list.length > 2) return null
  const texts = (list as readonly Json[]).map(readFirstText)
  return typeof instructions === 'string' ? [instructions, ...texts] : texts
}

/** Returns the text of the first part, because a task prompt is at the start of a message. */
function readFirstText(message: Json): string {
  const content = isObject(message) ? message['content'] : null
  if (typeof content === 'string') return content
  const first: Json = Array.isArray(content) ? ((content as readonly Json[])[0] ?? null) : null
  const text = isObject(first) ? first['text'] : null
  return typeof text === 'string' ? text : ''
}
