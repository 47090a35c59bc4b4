/**
 * A minimal model of the stateful API, to compare the gateway with: responses and chats are lists of the
 * lines up to them, and a conversation is a list that grows and shrinks.
 */

/** One message; `isHidden` after it was removed from its conversation. */
export interface Line {
  readonly role: 'user' | 'assistant'
  readonly text: string
  isHidden: boolean
}

export interface Answer {
  readonly id: string
  /** All lines before the answer, including the latest question. */
  readonly before: readonly Line[]
  readonly said: Line
  readonly conversation: Conversation | null
  isDeleted: boolean
}

export interface Conversation {
  readonly id: string
  readonly lines: Line[]
  isDeleted: boolean
}

export interface Model {
  readonly responses: Answer[]
  readonly chats: Answer[]
  readonly conversations: Conversation[]
}

export function emptyModel(): Model {
  return { responses: [], chats: [], conversations: [] }
}

export function line(role: Line['role'], text: string): Line {
  return { role, text, isHidden: false }
}

export function visible(lines: readonly Line[]): readonly string[] {
  return lines.filter(({ isHidden }) => !isHidden).map(({ role, text }) => `${role}: ${text}`)
}

export function alive<Thing extends { readonly isDeleted: boolean }>(
  things: readonly Thing[],
): readonly Thing[] {
  return things.filter(({ isDeleted }) => !isDeleted)
}

/** Deletes a conversation and its responses. */
export function deleteConversation(model: Model, conversation: Conversation): void {
  conversation.isDeleted = true
  for (const response of model.responses) {
    if (response.conversation === conversation) response.isDeleted = true
  }
}
