/**
 * This process as the others that share its database know it. What it opens is marked as its own,
 * so that they can tell when nobody is left to end it.
 */
export interface ReplicaIdentity {
  /** `null` where no process lasts. */
  readonly id: string | null
  /** A turn of its own that it could not end itself is ended as soon as that is possible. */
  readonly releaseTurn: (turn: UnclosedTurn) => void
  /** What was let go of since it was last asked. */
  readonly takeReleasedTurns: () => readonly UnclosedTurn[]
}

export interface UnclosedTurn {
  readonly turnId: string
  readonly tenant: string
  readonly user: string | null
}

export function createReplicaIdentity(id: string | null): ReplicaIdentity {
  let letGo: UnclosedTurn[] = []
  return {
    id,
    releaseTurn: (turn) => void (id !== null && letGo.push(turn)),
    takeReleasedTurns() {
      const turns = letGo
      letGo = []
      return turns
    },
  }
}
