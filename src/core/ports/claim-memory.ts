/** Counts JSON that a request is about to hold in memory. Throws a GatewayError if too little memory is left. */
export type ClaimMemory = (json: JsonSize) => void

export interface JsonSize {
  readonly bytes: number
  /** Number of JSON values, which take memory in addition to their text. */
  readonly values?: number
}
