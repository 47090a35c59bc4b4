/** What is known of the program that asks, and what follows from it for an answer. */
export interface ClientTraits {
  /** Open WebUI takes more than OpenAI's words, and less: `client/` says how it is recognised. */
  readonly isOpenWebUi: boolean
  /** Whether its answers may carry a marker, by which it brings back what it does not keep. */
  readonly receivesMarkers: boolean
  /** Housekeeping of a client (titles, tags): it leaves no turn, and is reminded of nothing. */
  readonly isTask: boolean
  /** Whether it cannot read a line of more than 128 KiB, and with it gives up the whole answer. */
  readonly hasShortLines: boolean
  /** A chat that is not meant to last. */
  readonly isTemporary: boolean
}

/** One of whom nothing is known but that it speaks the API. */
export const DEFAULT_CLIENT_TRAITS: ClientTraits = {
  isOpenWebUi: false,
  receivesMarkers: false,
  isTask: false,
  hasShortLines: false,
  isTemporary: false,
}
