import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Engine } from '../../../src/store/database/engine-interface.ts'
import {
  flagAllEncrypted,
  loadOldFormatState,
} from '../../../src/store/encryption/old-format-rule.ts'
import { createStores } from '../../../src/store/create-stores.ts'
import { ENGINES } from '../engines.ts'
import { newTurn } from '../turns.ts'

describe.each(ENGINES.slice(1))('the flag that everything is encrypted, on %s', (_, open) => {
  let engine: Engine
  beforeAll(async () => {
    engine = await open()
  })
  afterAll(() => engine.close())
  const load = (hasKey = true, setting: 'auto' | 'accept' | 'reject' = 'auto') =>
    loadOldFormatState(engine, setting, hasKey)
  const run = (sql: string) => engine.write([{ name: null, sql, parameters: [] }])

  test('an empty database is flagged when it is opened with a key, and not without a key', async () => {
    expect(await load(false)).toEqual({ isAllEncrypted: false, trustsOldFormats: true })
    expect(await load(false)).toMatchObject({ isAllEncrypted: false })
    expect(await load()).toEqual({ isAllEncrypted: true, trustsOldFormats: false })
    expect(await load(false)).toMatchObject({ isAllEncrypted: true })
  })

  test('a database that has rows is flagged only by `flagAllEncrypted`', async () => {
    await run('delete from database_flags')
    await createStores(engine).store.openTurn(newTurn())
    expect(await load()).toEqual({ isAllEncrypted: false, trustsOldFormats: true })
    await flagAllEncrypted(engine)
    await flagAllEncrypted(engine)
    expect(await load()).toEqual({ isAllEncrypted: true, trustsOldFormats: false })
  })

  test('the setting decides regardless of the flag', async () => {
    expect(await load(true, 'accept')).toMatchObject({ trustsOldFormats: true })
    await run('delete from database_flags')
    expect(await load(true, 'reject')).toMatchObject({ trustsOldFormats: false })
  })
})
