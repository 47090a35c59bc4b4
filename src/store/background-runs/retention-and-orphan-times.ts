/**
 * Defines how long the rows of background runs are stored, and when a run that no replica owns is
 * orphaned.
 */
const HOUR_MS = 60 * 60 * 1000

/**
 * The log of a run is deleted this long after the start of the run, unless the run is unfinished.
 */
export const LOG_RETENTION_HOURS = 24
export const LOG_RETENTION_MS = LOG_RETENTION_HOURS * HOUR_MS

/**
 * The row of a replica is deleted this long after the end of its lease. It is not needed any more,
 * because a replica without a row counts as dead too.
 */
export const DEAD_REPLICA_RETENTION_MS = HOUR_MS

/**
 * An unfinished run that no replica owns counts as orphaned if it is older than this, because no
 * answer takes so long.
 */
export const OWNERLESS_RUN_TIMEOUT_MS = HOUR_MS
