/**
 * Identifies this gateway process among the replicas on the same database. Each open turn is stored with
 * the id of its replica, so that other replicas can end the turns of a replica that died.
 */
export interface ReplicaIdentity {
  /** Id of this process; null on Workers, where no process outlives a request. */
  readonly id: string | null
  /** Reports a turn that this replica could not close. The next renewal of the lease closes it. */
  readonly reportUnclosedTurn: (turn: UnclosedTurn) => void
  /** Returns the turns that were reported since the last call. */
  readonly takeUnclosedTurns: () => readonly UnclosedTurn[]
}

export interface UnclosedTurn {
  readonly turnId: string
  readonly tenant: string
  readonly user: string | null
}

export function createReplicaIdentity(id: string | null): ReplicaIdentity {
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
