/** The parts of the torture suite, in the order of the table. */
import { abuse } from './abuse.ts'
import { bytes } from './bytes.ts'
import { clocks } from './clocks.ts'
import { database } from './database.ts'
import { heap } from './heap.ts'
import { isolation } from './isolation.ts'
import { kills } from './kills.ts'
import { power } from './power.ts'
import { ssrf } from './ssrf.ts'
import { upstream } from './upstream.ts'
import { workers } from './workers.ts'
import type { TorturePart } from './support/part-interface.ts'

export const PARTS: readonly TorturePart[] = [
  kills,
  power,
  database,
  upstream,
  bytes,
  ssrf,
  isolation,
  abuse,
  heap,
  clocks,
  workers,
]
