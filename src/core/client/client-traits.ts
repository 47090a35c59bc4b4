/** Properties of the client program that change how the gateway answers it. */
export interface ClientTraits {
  /** True if `server/clients/` detected Open WebUI, which accepts extra fields and rejects some standard ones. */
  readonly isOpenWebUi: boolean
  /** True if answers may contain a turn marker, which the client sends back as part of the answer's text. */
  readonly receivesMarkers: boolean
  /** True for a task request of Open WebUI (title, tags), which stores no turn and recalls none. */
  readonly isTask: boolean
  /** True if the client drops an answer with a line above 128 KiB. */
  readonly dropsLongLines: boolean
  /** True if the user marked the chat as temporary, and the request has no `store: true`. */
  readonly isTemporary: boolean
}

/** The traits of a client program that the gateway does not recognize. */
export const DEFAULT_CLIENT_TRAITS: ClientTraits = {
  isOpenWebUi: false,
  receivesMarkers: false,
  isTask: false,
  dropsLongLines: false,
  isTemporary: false,
}
