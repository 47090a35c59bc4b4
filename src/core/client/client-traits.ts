import type { AnswerMessageIds } from './answer-message-ids.ts'

/** Properties of the client program that change how the gateway answers it. */
export interface ClientTraits {
  /** True if `server/clients/` detected Open WebUI, which accepts extra fields and rejects some standard ones. */
  readonly isOpenWebUi: boolean
  /** True if answers may contain a turn marker, which the client sends back as part of the answer's text. */
  readonly receivesMarkers: boolean
  /**
   * True if a marker is written only at the end of an answer, and only if nothing else names its turn: the client sends
   * calls back, which do.
   */
  readonly marksOnlyAnswerEnds: boolean
  /** True if the client sends back the references of turns that are written beside visible reasoning. */
  readonly returnsReasoningReferences: boolean
  /** True for a task request of Open WebUI (title, tags), which stores no turn and recalls none. */
  readonly isTask: boolean
  /** True if Open WebUI is to show a status line above every answer, also if nothing was left out. */
  readonly wantsFullStatus: boolean
  /** True if the client drops an answer with a line above 128 KiB. */
  readonly dropsLongLines: boolean
  /** True if the user marked the chat as temporary, and the request has no `store: true`. */
  readonly isTemporary: boolean
  /** The client's ids of the chat and of the message that is answered; null if it sends none. */
  readonly answerMessage: AnswerMessageIds | null
}

/** The traits of a client program that the gateway does not recognize. */
export const DEFAULT_CLIENT_TRAITS: ClientTraits = {
  isOpenWebUi: false,
  receivesMarkers: false,
  marksOnlyAnswerEnds: false,
  returnsReasoningReferences: false,
  isTask: false,
  wantsFullStatus: false,
  dropsLongLines: false,
  isTemporary: false,
  answerMessage: null,
}
