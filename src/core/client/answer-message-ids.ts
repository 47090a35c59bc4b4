/**
 * The ids that Open WebUI gives to the chat and to the message of an answer. They are the same for all requests of one
 * answer, e.g. those of a tool loop, and name the branch of the chat exactly.
 */
export interface AnswerMessageIds {
  readonly chat: string
  readonly message: string
  /** The message of the answer before the question; empty for the first question of a chat, null if unknown. */
  readonly parent: string | null
}

/** One answer of a model, as a part of the client's message. */
export interface AnswerInMessage
  extends Pick<AnswerMessageIds, 'message' | 'parent'>, AnswerPosition {
  /** The id of the answer's turn. */
  readonly id: string
  /** False for an answer of plain text, whose turn is not stored. */
  readonly hasTurn: boolean
}

/** The position of an answer in the client's message. */
export interface AnswerPosition {
  /** Number of the message's answer segments before this one, e.g. 1 after its first tool outputs. */
  readonly segment: number
  /** True if the client sent the beginning of the segment, which the answer continues. */
  readonly continues: boolean
}

/** The message of a new answer, and the position of the answer in it. */
export interface NewAnswerMessage extends AnswerPosition {
  readonly ids: AnswerMessageIds
}
