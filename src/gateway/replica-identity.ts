/**
 * Identifies this gateway process to the other replicas on the same database. Each open turn stores its
 * replica's id, so that another replica can end the turns of a replica that stopped.
 */
export interface ReplicaIdentity {
  /** The id of this process; null on a runtime without a lasting process, such as Workers. */
  readonly id: string | null
  /** Adds a turn that this replica could not close, so that the next lease renewal closes it. */
  readonly releaseTurn: (turn: UnclosedTurn) => void
  /** Returns the turns that were released since the last call. */
  readonly takeReleasedTurns: () => readonly UnclosedTurn[]
}

export interface UnclosedTurn {
  readonly turnId: string
  readonly tenant: string
  readonly user: string | null
}

export function createReplicaIdentity(id: string | null): ReplicaIdentity {
  let released: UnclosedTurn[] = []
  return {
    id,
    releaseTurn: (turn) => void (id !== null && released.push(turn)),
    takeReleasedTurns() {
      const turns = released
      released = []
      return turns
    },
  }
}
