/** Reads and writes `stored/`: for each engine its dump, and the expected answers of the gateway. */
import { readFileSync, writeFileSync } from 'node:fs'
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib'
import type { Answers } from './read-back.ts'
import type { EngineName } from './databases.ts'
import type { Notes } from './write-phase.ts'

/** `answers` is by the name of the check. */
export interface Expected {
  readonly notes: Notes
  readonly answers: Readonly<Record<string, Answers>>
}

export function readDump(engine: EngineName): Buffer {
  return brotliDecompressSync(readFileSync(fileFor(engine, 'database')))
}

export function readExpected(engine: EngineName): Expected {
  return JSON.parse(
    brotliDecompressSync(readFileSync(fileFor(engine, 'expected.json'))).toString(),
  ) as Expected
}

export function writeStored(engine: EngineName, dump: Buffer, expected: Expected): void {
  writeFileSync(fileFor(engine, 'database'), compressed(dump))
  writeFileSync(fileFor(engine, 'expected.json'), compressed(Buffer.from(JSON.stringify(expected))))
}

function fileFor(engine: EngineName, what: string): URL {
  return new URL(`stored/${engine}.${what}.br`, import.meta.url)
}

function compressed(bytes: Buffer): Buffer {
  return brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_LGWIN]: 24 } })
}
