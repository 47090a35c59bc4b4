/** Tests a memory over a long conversation, from its log of versions to the sent prompt. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Item } from '../../src/core/item.ts'
import { estimateItemTokens } from '../../src/core/items/item-tokens.ts'
import { PRESETS } from '../../src/core/context-policy.ts'
import { SNAPSHOT_EPOCH_ROUNDS } from '../../src/memory/versioned-layers/split-snapshot-and-changes.ts'
import { readItemLayer, insertLayerBlocks } from '../../src/memory/insert-layer-blocks.ts'
import { loadLayerBlocks } from '../../src/memory/load-layer-blocks.ts'
import { workingMemoryLayer } from '../../src/memory/versioned-layers/working-memory-layer.ts'
import type { StoredLayerVersion } from '../../src/store/memory-layers/memory-layer-store-interface.ts'
import type { LayerPorts } from '../../src/memory/memory-layer-interface.ts'
import { assistant, user } from '../store/turns.ts'

const RULES = { ...PRESETS.retain.layers, workingMemory: true }
const ROUNDS = 2 * SNAPSHOT_EPOCH_ROUNDS + 5

/** The questions of all rounds with the answers to earlier ones. */
const SAID: readonly Item[] = Array.from({ length: ROUNDS }, (_, round) => [
  user(`question ${round + 1}`),
  assistant(`answer ${round + 1}`),
]).flat()

async function sentIn(round: number, log: readonly StoredLayerVersion[]): Promise<readonly Item[]> {
  const items = SAID.slice(0, 2 * round - 1)
  const known = log.filter((version) => version.round <= round)
  const context = {
    owner: { tenant: 't', user: null },
    thread: 'thread',
    parent: null,
    isTemporary: false,
    jobStartedAtMs: 1,
    items,
    round,
    question: '',
    model: 'm',
    rules: RULES,
    ports: {
      layers: { loadVersions: async () => Promise.resolve(known) },
    } as unknown as LayerPorts,
  }
  const { blocks } = await loadLayerBlocks(context, [workingMemoryLayer], () => undefined)
  return insertLayerBlocks(blocks).run(items).items
}

const someLog = fc
  .array(fc.record({ gap: fc.nat(4), name: fc.constantFrom('a', 'b', 'c'), chars: fc.nat(600) }), {
    maxLength: 20,
  })
  .map((writes) => {
    let memory = {}
    let round = 1
    return writes.map(({ gap, name, chars }, at): StoredLayerVersion => {
      memory = { ...memory, [name]: `${at} ${'x'.repeat(chars)}` }
      round += gap
      return { number: at + 1, round, body: { memory }, createdAtMs: 1, usedAtMs: 1 }
    })
  })

test('a request begins with the items of the previous request unless a memory changed or 20 rounds have passed (C43)', async () => {
  await fc.assert(
    fc.asyncProperty(someLog, async (log) => {
      let before = await sentIn(1, log)
      for (let round = 2; round <= ROUNDS; round += 1) {
        const after = await sentIn(round, log)
        const isSame = JSON.stringify(after.slice(0, before.length)) === JSON.stringify(before)
        const isEpoch = (round - 1) % SNAPSHOT_EPOCH_ROUNDS === 0
        const isWritten = log.some((version) => version.round === round - 1)
        expect(isSame || isEpoch || isWritten).toBe(true)
        before = after
      }
    }),
    { numRuns: 30 },
  )
})

test('the memory before the history stays the same for 20 rounds if its changes are small', async () => {
  const small = [2, 3, 5, 8].map((round, at): StoredLayerVersion => {
    const body = { memory: { a: at } }
    return { number: at + 1, round, body, createdAtMs: 1, usedAtMs: 1 }
  })
  let before = await sentIn(1, small)
  for (let round = 2; round <= SNAPSHOT_EPOCH_ROUNDS; round += 1) {
    const after = await sentIn(round, small)
    expect(after.slice(0, before.length)).toEqual(before)
    before = after
  }
  expect(before.filter((item) => readItemLayer(item) !== null)).toHaveLength(4)
  const next = await sentIn(SNAPSHOT_EPOCH_ROUNDS + 1, small)
  expect(next.filter((item) => readItemLayer(item) !== null)).toHaveLength(1)
})

test('the blocks of all memory layers together never exceed their common token limit (C39)', async () => {
  await fc.assert(
    fc.asyncProperty(someLog, fc.integer({ min: 1, max: ROUNDS }), async (log, round) => {
      const told = (await sentIn(round, log)).filter((item) => readItemLayer(item) !== null)
      const tokens = told.reduce((sum, item) => sum + estimateItemTokens(item), 0)
      expect(tokens).toBeLessThanOrEqual(RULES.tokens)
    }),
    { numRuns: 60 },
  )
})
