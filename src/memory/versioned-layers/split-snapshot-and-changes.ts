/**
 * Splits the versions of a memory into a snapshot, which is sent before the history, and later
 * changes, which are sent between the rounds of the history.
 *
 * The snapshot is the memory at the start of an epoch (rounds 1–20, 21–40, …). Each later change is
 * sent before the first question after it. Both stay the same during the epoch, so the provider's
 * cache stays valid. Only if the changes exceed their token limit, a new snapshot replaces them
 * before the epoch ends. Snapshot and changes are derived only from the stored versions, so all
 * replicas compute the same text.
 *
 * A version is first sent in the round after the one that wrote it. In the round that wrote it, the
 * model sees its own tool call.
 */
export interface MemoryVersion<Memory> {
  /** Number of the round that wrote the version, counted from 1. */
  readonly round: number
  readonly memory: Memory
}

export interface SnapshotAndChanges<Memory> {
  /**
   * The memory that is sent before the history; `null` if the memory had no version yet when the
   * epoch (20 rounds) began.
   */
  readonly snapshot: Memory | null
  readonly changes: readonly MemoryChange<Memory>[]
}

export interface MemoryChange<Memory> {
  /** Number of the round, counted from 1, before whose question the change is sent. */
  readonly round: number
  readonly before: Memory | null
  readonly after: Memory
}

export const SNAPSHOT_EPOCH_ROUNDS = 20

/**
 * Returns the snapshot and the changes that are sent in `currentRound`; versions of this round are
 * not sent yet. `versions` are oldest first. `countTokens` returns the tokens of a rendered change.
 * Changes with more than `maxTokens` together are replaced by a new snapshot.
 */
export function splitSnapshotAndChanges<Memory>(
  versions: readonly MemoryVersion<Memory>[],
  currentRound: number,
  countTokens: (change: MemoryChange<Memory>) => number,
  maxTokens: number,
): SnapshotAndChanges<Memory> {
  const epochStart =
    Math.floor((Math.max(1, currentRound) - 1) / SNAPSHOT_EPOCH_ROUNDS) * SNAPSHOT_EPOCH_ROUNDS + 1
  let snapshot: Memory | null = null
  let latestMemory: Memory | null = null
  let changes: MemoryChange<Memory>[] = []
  let tokens = 0
  for (const version of listLastOfRounds(versions)) {
    if (version.round >= currentRound) break
    const { memory } = version
    const change = { round: version.round + 1, before: latestMemory, after: memory }
    latestMemory = memory
    const isBeforeEpoch = version.round < epochStart
    tokens += isBeforeEpoch ? 0 : countTokens(change)
    if (isBeforeEpoch || tokens > maxTokens) {
      snapshot = memory
      changes = []
      tokens = 0
    } else changes.push(change)
  }
  return { snapshot, changes }
}

/**
 * Returns the last version of each round. A version that another branch of the conversation saved
 * may have a lower round number than the version before it. It then counts for the higher round,
 * because round numbers must never decrease.
 */
function listLastOfRounds<Memory>(
  versions: readonly MemoryVersion<Memory>[],
): readonly MemoryVersion<Memory>[] {
  const versionsByRound: MemoryVersion<Memory>[] = []
  let round = 0
  for (const version of versions) {
    const isSameRound = versionsByRound.length > 0 && version.round <= round
    round = Math.max(round, version.round)
    if (isSameRound) versionsByRound.pop()
    versionsByRound.push({ round, memory: version.memory })
  }
  return versionsByRound
}
