/**
 * Of a memory that changes, what a model is told in front of the history, and what has changed since.
 *
 * In front stands the memory as it was when an epoch began, for as long as that lasts. What changed
 * later is told in front of the question that it was first known at, and stays there. So nothing that
 * was sent is ever sent otherwise, until the next epoch: every `SNAPSHOT_EPOCH_ROUNDS` rounds, or when the
 * changes have grown too long. Both are told from the log of versions alone: replicas agree, and
 * nobody remembers when an epoch began.
 *
 * A version is told from the round behind the one that it was written in: within its own round the
 * model has seen itself write it.
 */
export interface StateVersion<State> {
  /** The round that it was written in, counted from 1. */
  readonly round: number
  readonly state: State
}

export interface SnapshotAndChanges<State> {
  /** `null` if there was nothing yet. */
  readonly base: State | null
  readonly changes: readonly ChangedState<State>[]
}

export interface ChangedState<State> {
  /** The round in front of whose question it is told. */
  readonly round: number
  readonly before: State | null
  readonly after: State
}

export const SNAPSHOT_EPOCH_ROUNDS = 20

/** `versions` from the oldest; `weigh` says how many tokens it takes to tell a change. */
export function splitSnapshotAndChanges<State>(
  versions: readonly StateVersion<State>[],
  round: number,
  weigh: (change: ChangedState<State>) => number,
  maxTokens: number,
): SnapshotAndChanges<State> {
  const begin =
    Math.floor((Math.max(1, round) - 1) / SNAPSHOT_EPOCH_ROUNDS) * SNAPSHOT_EPOCH_ROUNDS + 1
  let base: State | null = null
  let newest: State | null = null
  let changes: ChangedState<State>[] = []
  let tokens = 0
  for (const version of lastOfRounds(versions)) {
    if (version.round >= round) break
    const { state } = version
    const change = { round: version.round + 1, before: newest, after: state }
    newest = state
    const isBefore = version.round < begin
    tokens += isBefore ? 0 : weigh(change)
    if (isBefore || tokens > maxTokens) {
      base = state
      changes = []
      tokens = 0
    } else changes.push(change)
  }
  return { base, changes }
}

/** Rounds never go back: a version that was written in another branch comes when the newest does. */
function lastOfRounds<State>(
  versions: readonly StateVersion<State>[],
): readonly StateVersion<State>[] {
  const last: StateVersion<State>[] = []
  let round = 0
  for (const version of versions) {
    const isSame = last.length > 0 && version.round <= round
    round = Math.max(round, version.round)
    if (isSame) last.pop()
    last.push({ round, state: version.state })
  }
  return last
}
