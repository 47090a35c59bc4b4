import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Engine } from '../../../src/store/database/engine-interface.ts'
import { openNodeSqlite } from '../../../src/store/database/node-sqlite-engine.ts'
import { createMemoryLayerStore } from '../../../src/store/memory-layers/sql-memory-layer-store.ts'
import { migrate } from '../../../src/store/database/migrate.ts'
import { saveNextVersion } from '../../../src/memory/versioned-layers/save-next-version.ts'
import { newId } from '../../store/turns.ts'

let engine: Engine
beforeAll(async () => {
  engine = await openNodeSqlite(':memory:')
  await migrate(engine)
})
afterAll(() => engine.close())

/** Each replica has its own store on one database. */
const replica = () => ({
  layers: createMemoryLayerStore(engine),
  newTurnId: newId,
  nowMs: () => 1_795_000_000_000,
})
const writingTo = (thread: string, round = 1) => ({
  location: { owner: { tenant: 't', user: null }, layer: 'working_memory', thread },
  round,
  parent: null,
  isTemporary: false,
  jobStartedAtMs: 1,
  thread: null,
})

test('two replicas that save a memory at the same moment lose no change (C40)', async () => {
  const writing = writingTo(newId())
  await Promise.all(
    Array.from({ length: 8 }, (_, at) =>
      saveNextVersion(writing, (before) => ({ ...before?.body, [`field${at}`]: at }), replica()),
    ),
  )
  const newest = (await replica().layers.loadVersions(writing.location)).at(-1)
  expect(newest?.number).toBe(8)
  expect(Object.keys(newest?.body ?? {})).toHaveLength(8)
})

test('the round number of a saved memory version never decreases, even if another branch of the conversation has fewer rounds', async () => {
  const thread = newId()
  await saveNextVersion(writingTo(thread, 9), () => ({ a: 1 }), replica())
  await saveNextVersion(writingTo(thread, 3), () => ({ a: 2 }), replica())
  const versions = await replica().layers.loadVersions(writingTo(thread).location)
  expect(versions).toMatchObject([{ number: 2, round: 9, body: { a: 2 } }])
})

test('a version of a memory is not saved if its conversation was deleted', async () => {
  const writing = { ...writingTo(newId()), parent: newId() }
  await expect(saveNextVersion(writing, () => ({ a: 1 }), replica())).rejects.toThrow('deleted')
  expect(await replica().layers.loadVersions(writing.location)).toEqual([])
})

test('saveNextVersion saves no memory version if the change function returns null', async () => {
  const writing = writingTo(newId())
  expect(await saveNextVersion(writing, () => null, replica())).toBeNull()
  expect(await replica().layers.loadVersions(writing.location)).toEqual([])
})
