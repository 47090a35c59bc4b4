/**
 * Interface of the store of the ids that clients give to the chats and messages of answers. They name the branch of a
 * chat exactly, and so find its turns without comparing texts. Only the caller who stored an id finds it.
 */
import type { AnswerInMessage, NewAnswerMessage } from '../../core/client/answer-message-ids.ts'
import type { Caller } from '../../core/client/caller.ts'

export interface AnswerMessageStore {
  /** Stores the ids of an answer whose turn is not stored. (`openTurn` stores those of the others.) */
  readonly addPlainAnswer: (answer: PlainAnswer) => Promise<void>
  /** Returns the answers of a chat, at most the latest `MAX_ANSWERS_OF_CHAT`, the earliest first. */
  readonly listAnswers: (owner: Caller, chat: string) => Promise<readonly StoredAnswerMessage[]>
  /** Sets the time of last use of answers, on which expiry depends. */
  readonly touchAnswers: (tenant: string, ids: readonly string[], nowMs: number) => Promise<void>
}

export interface PlainAnswer extends NewAnswerMessage {
  /** The id of the answer. */
  readonly id: string
  readonly tenant: string
  readonly user: string | null
  readonly createdAtMs: number
  readonly isTemporary?: boolean
}

export interface StoredAnswerMessage extends AnswerInMessage {
  readonly usedAtMs: number
}

export const MAX_ANSWERS_OF_CHAT = 4_000
