/** The files in which the old databases are kept: for each engine its dump, and what clients know of it. */
import { readFileSync, writeFileSync } from 'node:fs'
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib'
import type { Answers } from './accounts.ts'
import type { EngineName } from './databases.ts'
import type { Notes } from './stories.ts'

/** What clients know, and what they were answered, by the name of the question. */
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
