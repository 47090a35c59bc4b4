/** The interface of the parts of the torture suite. */
import type { TestDatabase } from '../../support/postgres-setup.ts'
import type { Faults } from './fault-list.ts'
import type { Random } from './random.ts'

export interface TorturePart {
  readonly name: string
  /** The description in the table of the README. */
  readonly description: string
  /** Number of rounds of `npm run torture`. */
  readonly rounds: number
  readonly run: (context: TortureContext) => Promise<PartResult>
}

export interface TortureContext {
  readonly rounds: number
  /** True in `npm test`, where a part may only take some seconds. */
  readonly isBrief: boolean
  readonly random: Random
  /** An empty folder for databases. */
  readonly folder: string
  /** Creates a migrated Postgres database. */
  readonly createDatabase: () => Promise<TestDatabase>
  /** Kills Postgres and starts it again; null if other tests use the same server. */
  readonly crashPostgres: (() => Promise<void>) | null
  readonly printProgress: (text: string) => void
}

export interface PartResult {
  /** The attempts, with their numbers, e.g. `20 kills, 4,211 acknowledged writes`. */
  readonly tried: string
  readonly faults: Faults
  /** Measured values, e.g. `p99 12 ms`. */
  readonly figures?: string
}
