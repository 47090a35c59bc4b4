/**
 * The model of what a gateway has acknowledged. Clients write to it (`mixed-load.ts`); after a fault, it is
 * compared with what the gateway returns (`check-ledger.ts`).
 */

/** An object of the gateway that a client knows by its id. */
export interface LedgerEntry {
  readonly kind: 'response' | 'chat' | 'conversation'
  readonly id: string
  /**
   * `begun`: the client has the id of a stream, but not its end. `accepted`: a background response was promised.
   * `acknowledged`: the client has the complete answer. `deleting`: the deletion was sent, and not acknowledged.
   */
  state: 'begun' | 'accepted' | 'acknowledged' | 'deleting' | 'deleted'
  /** Texts that the object contains exactly once if they are certain, and at most once otherwise. */
  readonly texts: { readonly text: string; isCertain: boolean }[]
  /** The state in which the gateway once returned the answer, e.g. `completed`, which may not change. */
  finalStatus: string | null
}

export interface Ledger {
  readonly entries: LedgerEntry[]
  /** The number of acknowledged writes: answers, items, conversations and deletions. */
  acknowledged: number
  /** The number of requests that got status 503, or an answer that is marked as not stored. */
  rejected: number
  readonly createText: () => string
}

/** `prefix`: makes texts of several ledgers differ. */
export function createLedger(prefix: string): Ledger {
  let count = 0
  return {
    entries: [],
    acknowledged: 0,
    rejected: 0,
    createText: () => `${prefix}-${(count += 1)}.`,
  }
}
