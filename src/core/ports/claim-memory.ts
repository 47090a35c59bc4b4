/** Reserves memory for JSON before a request loads or parses it. Throws a GatewayError if too little memory is free. */
export type ClaimMemory = (json: JsonSize) => void

export interface JsonSize {
  readonly bytes: number
  /** Number of JSON values, which take memory in addition to their text. */
  readonly values?: number
}
