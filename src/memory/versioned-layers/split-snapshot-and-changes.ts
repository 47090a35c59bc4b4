/**
 * Splits the versions of a memory into a snapshot, which is sent before the history, and later
 * changes.
 *
 * The snapshot is the state at the start of an epoch and stays the same until the next one. Each
 * change is sent before the question at which it was first known, and stays there. So no sent text
 * changes within an epoch, which keeps the provider's cache valid. A new epoch starts every 20
 * rounds, or when the changes exceed their token limit. Both parts derive from the log of versions
 * only, so all replicas compute the same.
 *
 * A version is sent from the round after the one that wrote it: within its own round, the model has
 * seen the tool call.
 */
export interface StateVersion<State> {
  /** The round that wrote the version, counted from 1. */
  readonly round: number
  readonly state: State
}

export interface SnapshotAndChanges<State> {
  /** `null` if the memory was empty. */
  readonly base: State | null
  readonly changes: readonly ChangedState<State>[]
}

export interface ChangedState<State> {
  /** The change is sent before the question of this round. */
  readonly round: number
  readonly before: State | null
  readonly after: State
}

export const SNAPSHOT_EPOCH_ROUNDS = 20

/** `versions` are oldest first; `weigh` returns the tokens of a rendered change. */
export function splitSnapshotAndChanges<State>(
  versions: readonly StateVersion<State>[],
  round: number,
  weigh: (change: ChangedState<State>) => number,
  maxTokens: number,
): SnapshotAndChanges<State> {
  const epochStart =
    Math.floor((Math.max(1, round) - 1) / SNAPSHOT_EPOCH_ROUNDS) * SNAPSHOT_EPOCH_ROUNDS + 1
  let base: State | null = null
  let latestState: State | null = null
  let changes: ChangedState<State>[] = []
  let tokens = 0
  for (const version of listLastOfRounds(versions)) {
    if (version.round >= round) break
    const { state } = version
    const change = { round: version.round + 1, before: latestState, after: state }
    latestState = state
    const isBeforeEpoch = version.round < epochStart
    tokens += isBeforeEpoch ? 0 : weigh(change)
    if (isBeforeEpoch || tokens > maxTokens) {
      base = state
      changes = []
      tokens = 0
    } else changes.push(change)
  }
  return { base, changes }
}

/**
 * Returns the last version of each round. A version from another branch with a lower round counts
 * for the latest round, because rounds never decrease.
 */
function listLastOfRounds<State>(
  versions: readonly StateVersion<State>[],
): readonly StateVersion<State>[] {
  const versionsByRound: StateVersion<State>[] = []
  let round = 0
  for (const version of versions) {
    const isSameRound = versionsByRound.length > 0 && version.round <= round
    round = Math.max(round, version.round)
    if (isSameRound) versionsByRound.pop()
    versionsByRound.push({ round, state: version.state })
  }
  return versionsByRound
}
