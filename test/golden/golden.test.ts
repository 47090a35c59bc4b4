/**
 * Plays cases of the corpus and compares each part of each exchange with its recording: each run a sixth of the cases,
 * and `npm run test:all` all of them. With `GOLDEN=record` it writes the recordings instead.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { afterAll, describe, expect, test } from 'vitest'
import { GROUPS } from './cases/groups.ts'
import { printRecording } from './print-recording.ts'
import { isSampled } from '../support/sample.ts'
import { recordCase } from './record-case.ts'
import { toRecording, type Recording } from './to-recording.ts'

type Recordings = Readonly<Record<string, readonly Recording[]>>

const isRecording = process.env['GOLDEN'] === 'record'

describe.each(GROUPS)('recorded exchanges of the group "$name"', ({ name: group, cases }) => {
  const file = new URL(`recorded/${group}.json`, import.meta.url)
  const recorded = read(file)
  const played: Record<string, readonly Recording[]> = {}

  test.each(cases.filter((_, index) => isRecording || isSampled(index, 6)))(
    'the gateway answers and sends the same as in the recording "$name"',
    async (one) => {
      const seen = toRecording(await recordCase(one))
      expect(played, 'the name is taken').not.toHaveProperty([one.name])
      played[one.name] = seen
      if (isRecording) return
      const known = recorded[one.name] ?? []
      for (const [at, exchange] of seen.entries()) {
        const parts = new Set([...Object.keys(exchange), ...Object.keys(known[at] ?? {})])
        for (const part of parts) {
          const where = `${group} › ${one.name} › exchange ${at + 1} › ${part}`
          expect.soft(print(exchange[part]), where).toBe(print(known[at]?.[part]))
        }
      }
      expect(seen.length, 'number of exchanges').toBe(known.length)
    },
  )

  test.skipIf(isRecording)('no recording is left without a golden case', () => {
    expect(Object.keys(recorded)).toEqual(cases.map(({ name }) => name))
  })

  afterAll(() => {
    if (!isRecording) return
    const all = cases.flatMap(({ name }) => {
      const recording = played[name] ?? recorded[name]
      return recording === undefined ? [] : [[name, recording] as const]
    })
    writeFileSync(file, `${printRecording(Object.fromEntries(all))}\n`)
  })
})

function read(file: URL): Recordings {
  if (!existsSync(file)) return {}
  return JSON.parse(readFileSync(file, 'utf8')) as Recordings
}

function print(part: unknown): string {
  return part === undefined ? '(nothing)' : printRecording(part)
}
