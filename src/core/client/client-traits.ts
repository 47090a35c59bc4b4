/** Properties of the client program that change how the gateway answers it. */
export interface ClientTraits {
  /** Open WebUI accepts extra fields and rejects some standard ones; `server/clients/` detects it. */
  readonly isOpenWebUi: boolean
  /** True if answers may carry a turn marker, which the client sends back as part of its text. */
  readonly receivesMarkers: boolean
  /** Task request (titles, tags): it stores no turn and recalls none. */
  readonly isTask: boolean
  /** True if the client cannot read a line above 128 KiB: it then drops the complete answer. */
  readonly hasShortLines: boolean
  /** True if the user marked the chat as temporary. */
  readonly isTemporary: boolean
}

/** Traits of a client program that the gateway does not recognize. */
export const DEFAULT_CLIENT_TRAITS: ClientTraits = {
  isOpenWebUi: false,
  receivesMarkers: false,
  isTask: false,
  hasShortLines: false,
  isTemporary: false,
}
