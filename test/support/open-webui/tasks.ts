/** Task requests of Open WebUI (titles, tags …), with the wording of version 0.10. */
import type { JsonObject } from '../../../src/core/json/json.ts'

export type TaskName =
  | 'title_generation'
  | 'follow_up_generation'
  | 'tags_generation'
  | 'query_generation'
  | 'autocomplete_generation'
  | 'emoji_generation'
  | 'image_prompt_generation'
  | 'moa_response_generation'

export interface Task {
  readonly name: TaskName
  readonly prompt: string
  readonly params: JsonObject
  readonly stream: boolean
}

const OPENINGS: Readonly<Record<TaskName, string>> = {
  title_generation:
    '### Task:\nGenerate a concise, 3-5 word title with an emoji summarizing the chat history.',
  follow_up_generation:
    '### Task:\nSuggest 3-5 relevant follow-up questions or prompts that the user might naturally ask next in this conversation as a **user**.',
  tags_generation:
    '### Task:\nGenerate 1-3 broad tags categorizing the main themes of the chat history.',
  query_generation:
    '### Task:\nAnalyze the chat history to determine the necessity of generating search queries, in the given language.',
  autocomplete_generation: '### Task:\nYou are an autocompletion system.',
  emoji_generation:
    "Your task is to reflect the speaker's likely facial expression through a fitting emoji.",
  image_prompt_generation: '### Task:\nGenerate a detailed prompt for am image generation task.',
  moa_response_generation:
    'You have been provided with a set of responses from various models to the latest user query.',
}

export const TASKS = Object.keys(OPENINGS) as readonly TaskName[]

/** `history` is the chat as text. From 0.11 on, and in temporary chats, it contains the answers too. */
export function taskOf(name: TaskName, history: string): Task {
  const limits: Partial<Record<TaskName, JsonObject>> = {
    title_generation: { max_tokens: 1000 },
    emoji_generation: { max_tokens: 4 },
  }
  const prompt =
    name === 'moa_response_generation'
      ? `${OPENINGS[name]}\n\nResponses from models: """${history}"""`
      : `${OPENINGS[name]}\n### Chat History:\n<chat_history>\n${history}\n</chat_history>`
  const stream = name === 'moa_response_generation'
  return { name, prompt, params: limits[name] ?? {}, stream }
}
