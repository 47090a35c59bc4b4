import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  splitSnapshotAndChanges,
  SNAPSHOT_EPOCH_ROUNDS,
  type MemoryVersion,
} from '../../../src/memory/versioned-layers/split-snapshot-and-changes.ts'

const told = (versions: readonly MemoryVersion<string>[], round: number, most = 1000) =>
  splitSnapshotAndChanges(versions, round, () => 10, most)
const at = (round: number, state: string): MemoryVersion<string> => ({ round, memory: state })

describe('snapshot and changes of a memory with versions (C43)', () => {
  test('a memory version is first sent in the round after the one that wrote it', () => {
    const versions = [at(2, 'a')]
    expect(told(versions, 2)).toEqual({ snapshot: null, changes: [] })
    expect(told(versions, 3).changes).toEqual([{ round: 3, before: null, after: 'a' }])
    expect(told(versions, 9)).toEqual(told(versions, 3))
  })

  test('every 20 rounds, the latest memory version becomes the snapshot that is sent before the history', () => {
    const versions = [at(2, 'a'), at(20, 'b'), at(21, 'c')]
    expect(told(versions, SNAPSHOT_EPOCH_ROUNDS).snapshot).toBeNull()
    expect(told(versions, SNAPSHOT_EPOCH_ROUNDS + 1)).toEqual({ snapshot: 'b', changes: [] })
    expect(told(versions, SNAPSHOT_EPOCH_ROUNDS + 2)).toEqual({
      snapshot: 'b',
      changes: [{ round: 22, before: 'b', after: 'c' }],
    })
  })

  test('of several memory versions that count for the same round, only the last is sent', () => {
    expect(told([at(2, 'a'), at(2, 'b'), at(1, 'c')], 5).changes).toEqual([
      { round: 3, before: null, after: 'c' },
    ])
  })

  test('the latest memory version becomes the snapshot as soon as the changes exceed their token limit', () => {
    const versions = [at(1, 'a'), at(2, 'b'), at(3, 'c'), at(4, 'd')]
    expect(told(versions, 4, 20).changes).toHaveLength(0)
    expect(told(versions, 4, 20).snapshot).toBe('c')
    expect(told(versions, 5, 20)).toEqual({
      snapshot: 'c',
      changes: [{ round: 5, before: 'c', after: 'd' }],
    })
  })

  test('during 20 rounds, a new memory version changes nothing that was sent before, and only adds its change', () => {
    const log = fc
      .array(fc.nat(3), { maxLength: 40 })
      .map((gaps) =>
        gaps.reduce<MemoryVersion<string>[]>(
          (versions, gap, number) => [
            ...versions,
            at((versions.at(-1)?.round ?? 1) + gap, `v${number}`),
          ],
          [],
        ),
      )
    fc.assert(
      fc.property(log, fc.integer({ min: 1, max: 80 }), fc.nat(100), (versions, round, most) => {
        const known = versions.filter((version) => version.round <= round)
        const [before, after] = [told(known, round, most), told(versions, round + 1, most)]
        const isEpoch = round % SNAPSHOT_EPOCH_ROUNDS === 0
        const isPressed = known.some((version) => version.round === round)
        if (before.snapshot !== after.snapshot) {
          expect(isEpoch || (isPressed && (before.changes.length + 1) * 10 > most)).toBe(true)
        } else {
          expect(after.changes.slice(0, before.changes.length)).toEqual(before.changes)
          for (const change of after.changes.slice(before.changes.length)) {
            expect(change.round).toBe(round + 1)
          }
        }
      }),
    )
  })
})
