/**
 * Makes the files that a power cut may leave of a SQLite database: everything up to the last commit that waited
 * for the disk, and any part of what was written after it.
 */
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import type { Random } from './random.ts'

export interface PowerImage {
  /** How much of the WAL was perhaps not on the disk yet. */
  readonly unsyncedBytes: number
  readonly remainder: Remainder
}

/** What remains of the bytes that were not on the disk. */
type Remainder = 'all' | 'cut' | 'zeros' | 'garbage'

const WAL_HEADER_BYTES = 32
const FRAME_HEADER_BYTES = 24

/**
 * Copies the database of a process that is stopped (SIGSTOP). `syncedFile` is written by `preload-sqlite.ts`.
 */
export function copyPowerImage(
  database: string,
  syncedFile: string,
  target: string,
  random: Random,
): PowerImage {
  copyFileSync(database, target)
  const wal = readFileSync(`${database}-wal`)
  const end = findSyncedEnd(wal, readFileSync(`${database}-shm`), readFileSync(syncedFile))
  const unsyncedBytes = wal.length - end
  const remainder = unsyncedBytes === 0 ? 'all' : random.pick(REMAINDERS)
  const cut = end + random.below(unsyncedBytes + 1)
  writeFileSync(`${target}-wal`, REMAINDER_BYTES[remainder](wal, cut, random))
  return { unsyncedBytes, remainder }
}

const REMAINDERS = ['all', 'cut', 'zeros', 'garbage'] as const

type MakeRemainder = (wal: Buffer, cut: number, random: Random) => Buffer

const REMAINDER_BYTES: Readonly<Record<Remainder, MakeRemainder>> = {
  all: (wal) => wal,
  cut: (wal, cut) => wal.subarray(0, cut),
  zeros: (wal, cut) => Buffer.concat([wal.subarray(0, cut), Buffer.alloc(wal.length - cut)]),
  garbage: (wal, cut, random) =>
    Buffer.concat([wal.subarray(0, cut), random.bytes(wal.length - cut)]),
}

/** Positions in the file `-shm`, as SQLite's documentation of the WAL format describes it. */
const WAL_INDEX = { frames: 16, salt: 32, saltEnd: 40, movedFrames: 128 }

/** Returns the position in the WAL before which everything is on the disk. */
function findSyncedEnd(wal: Buffer, index: Buffer, synced: Buffer): number {
  if (wal.length < WAL_HEADER_BYTES) return wal.length
  const salt = (header: Buffer) => header.subarray(WAL_INDEX.salt, WAL_INDEX.saltEnd)
  // When the WAL begins again from its start, the database contains the earlier one.
  const isSameWal = salt(index).equals(salt(synced))
  const frames = isSameWal ? synced.readUInt32LE(WAL_INDEX.frames) : 0
  // SQLite waits for the disk before it moves frames into the database.
  const movedFrames = index.readUInt32LE(WAL_INDEX.movedFrames)
  const frameBytes = FRAME_HEADER_BYTES + wal.readUInt32BE(8)
  return Math.min(wal.length, WAL_HEADER_BYTES + Math.max(frames, movedFrames) * frameBytes)
}
