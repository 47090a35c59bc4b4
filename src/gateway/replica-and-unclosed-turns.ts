/**
 * Holds the id of this replica, and the turns that it could not close. Each open turn is stored with the id of
 * its replica, so that other replicas can end the turns of a replica that died.
 */
export interface ReplicaAndUnclosedTurns {
  /** The id of this process; null if it is no replica: on Workers, no process outlives a request. */
  readonly id: string | null
  /** Reports a turn that could not be closed. It is closed at the next renewal of the lease. Does nothing on Workers. */
  readonly reportUnclosedTurn: (turn: UnclosedTurn) => void
  /** Returns the turns that were reported since the last call. */
  readonly takeUnclosedTurns: () => readonly UnclosedTurn[]
}

export interface UnclosedTurn {
  readonly turnId: string
  readonly tenant: string
  readonly user: string | null
}

export function createReplicaAndUnclosedTurns(id: string | null): ReplicaAndUnclosedTurns {
  let unclosed: UnclosedTurn[] = []
  return {
    id,
    reportUnclosedTurn: (turn) => void (id !== null && unclosed.push(turn)),
    takeUnclosedTurns() {
      const turns = unclosed
      unclosed = []
      return turns
    },
  }
}
